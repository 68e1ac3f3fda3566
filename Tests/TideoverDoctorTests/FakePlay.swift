import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverLives
import TideoverLocks
import TideoverSignatures

/// A Google Play with configured responses, which records the requests to it.
final class FakePlay: Sendable {
    static let account = "robot@p.example"
    private static let key = RSAPrivateKey.generate()

    private let answers = Locked<[String: Response]>([:])
    private let access: Response
    private let isReached: Bool
    private let paths = Locked<[String]>([])

    /// A request that got no answer.
    private struct NoAnswer: Error {}

    /// Creates a store that issues tokens, or answers requests for them with `access`. One that is
    /// not reached answers nothing.
    init(access: Response? = nil, isReached: Bool = true) {
        self.isReached = isReached
        let token: JSONValue = ["access_token": "a", "expires_in": 3600, "token_type": "Bearer"]
        self.access = access ?? Response(body: token.encoded())
    }

    /// The last three components of the path of each request to the store.
    var questions: [String] { paths.withLock { $0 } }

    /// Sets the response to requests for the paths with this last component.
    func answer(_ name: String, _ response: Response) { answers.withLock { $0[name] = response } }

    /// A client of this store.
    var api: PlayAPI {
        let clock: @Sendable () -> Instant = { "2026-05-01T10:00:05Z" }
        let access = PlayAccess(
            account: ServiceAccount(clientEmail: Self.account, privateKeyId: "1"),
            signer: { Self.key.sign($0, .sha256) },
            clock: clock,
            handler: { [access, isReached] _ in
                guard isReached else { throw NoAnswer() }
                return access
            }
        )
        return PlayAPI(
            packageName: "com.example.cards",
            access: access,
            clock: clock,
            handler: { self.respond(to: $0) }
        )
    }

    private func respond(to request: Request) -> Response {
        let parts = request.path.split(separator: "/").suffix(3)
        paths.withLock { $0.append(parts.joined(separator: "/")) }
        let name = parts.last.map(String.init) ?? ""
        return answers.withLock { $0[name] } ?? Response(status: 404)
    }
}
