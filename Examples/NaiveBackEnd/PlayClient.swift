import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// A client of the Play Developer API, similar to Google's own libraries. It uses the key file of a
/// service account, and a new token for each request.
struct PlayClient: Sendable {
    private let account: ServiceAccount
    private let key: RSAPrivateKey
    private let handler: Handler

    /// Creates a client. `connect` returns the handler for an origin such as
    /// `https://oauth2.googleapis.com`. A simulated store serves all of Google, so its handler also
    /// serves the API.
    init(keyFile: [UInt8], connect: (_ origin: String) throws -> Handler) throws {
        let pem: String
        (account, pem) = try ServiceAccount.read(keyFile: keyFile)
        key = try RSAPrivateKey(pem: pem)
        handler = try connect(account.tokenOrigin ?? "")
    }

    /// Calls `purchases.subscriptionsv2.get` or `purchases.productsv2.getproductpurchasev2`, at a
    /// time in milliseconds since 1970. Returns nil if Google does not know the purchase. Throws if
    /// Google is not available now.
    func purchase(
        _ token: String,
        of package: String,
        isOneTime: Bool,
        at now: Int64
    ) async throws -> JSONValue? {
        let key = key
        let access = PlayAccess(
            account: account,
            signer: { key.sign($0, .sha256) },
            clock: { Instant(millisecondsSince1970: now) },
            handler: handler
        )
        let root = "/androidpublisher/v3/applications/\(package)/purchases"
        let answer = try await handler(
            Request(
                path: "\(root)/\(isOneTime ? "productsv2" : "subscriptionsv2")/tokens/\(token)",
                headers: ["Authorization": "Bearer \(try await access.token().text)"]
            )
        )
        switch answer.status {
        case 200: return JSONValue(try JSONDocument(answer.body).root)
        case 404, 410: return nil
        default: throw Unanswered(status: answer.status)
        }
    }

    /// Google did not answer the request.
    struct Unanswered: Error {
        let status: Int
    }
}
