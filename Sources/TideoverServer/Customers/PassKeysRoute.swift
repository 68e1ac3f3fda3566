import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// Answers `GET /v1/apps/{app}/pass-keys`: the public keys that verify passes.
struct PassKeysRoute: Sendable {
    let app: App

    func respond() -> Response {
        let keys = app.passes?.keys ?? Ed25519KeySet([:])
        return .json(
            bytes: keys.jwkSet.encoded(),
            headers: ["Cache-Control": "public, max-age=300"]
        )
    }
}
