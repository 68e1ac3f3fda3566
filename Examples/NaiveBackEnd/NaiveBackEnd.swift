import TideoverHTTP
import TideoverJSON
import TideoverLocks

/// A back end as many are written, to be rehearsed against: it believes what it is sent without looking at
/// the signature, switches on the type of a notification, and compares the expiry date that it heard of
/// last with the clock. It is here to show what a rehearsal finds in such a one; do not copy it.
///
/// `POST /notifications` takes App Store Server Notifications; `GET /customers/{appAccountToken}` answers
/// `{"premium": true}` or `{"premium": false}`.
final class NaiveBackEnd: Sendable {
    private struct Subscriber {
        var isActive = false
        /// Milliseconds since 1970.
        var expiresDate: Int64 = 0
    }

    /// By `appAccountToken`.
    private let subscribers = Locked<[String: Subscriber]>([:])
    private let clock: @Sendable (Request) -> Int64

    /// A back end that knows nobody yet; `clock` tells the time of a request, in milliseconds since 1970.
    init(clock: @escaping @Sendable (Request) -> Int64) {
        self.clock = clock
    }

    var handler: Handler {
        { request in
            switch (request.method, request.path.split(separator: "/").map(String.init)) {
            case ("POST", ["notifications"]): self.take(request)
            case ("GET", let path) where path.count == 2 && path[0] == "customers":
                self.answer(path[1], request)
            default: Response(status: 404)
            }
        }
    }

    // MARK: The mistakes

    /// The type alone decides: a failed payment and a cancellation end it at once, whatever is paid for,
    /// and types that were not thought of change nothing.
    private func take(_ request: Request) -> Response {
        guard let notification = content(of: request.body, at: ["signedPayload"]),
            let transaction = content(of: notification, at: ["data", "signedTransactionInfo"]),
            let customer = transaction["appAccountToken"]?.string
        else { return Response(status: 200) }
        let isOff = notification["subtype"]?.string == "AUTO_RENEW_DISABLED"
        subscribers.withLock { subscribers in
            var subscriber = subscribers[customer] ?? Subscriber()
            switch notification["notificationType"]?.string {
            case "SUBSCRIBED", "DID_RENEW", "OFFER_REDEEMED":
                subscriber.isActive = true
                subscriber.expiresDate = transaction["expiresDate"]?.int64 ?? 0
            case "DID_CHANGE_RENEWAL_STATUS":
                subscriber.isActive = !isOff
            case "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED", "REFUND", "REVOKE":
                subscriber.isActive = false
            default: break
            }
            subscribers[customer] = subscriber
        }
        return Response(status: 200)
    }

    /// The expiry date against the clock.
    private func answer(_ customer: String, _ request: Request) -> Response {
        let subscriber = subscribers.withLock { $0[customer] } ?? Subscriber()
        let now = clock(request)
        let body: JSONValue = [
            "premium": .bool(subscriber.isActive && subscriber.expiresDate > now)
        ]
        return Response(headers: ["Content-Type": "application/json"], body: body.encoded())
    }

    /// The payload of a compact JWS at a place of a document. Nobody looks at its signature.
    private func content(of bytes: [UInt8], at path: [String]) -> JSONValue? {
        guard let document = try? JSONDocument(bytes) else { return nil }
        return content(of: JSONValue(document.root), at: path)
    }

    private func content(of document: JSONValue, at path: [String]) -> JSONValue? {
        let place = path.reduce(Optional(document)) { $0?[$1] }
        let parts = place?.string?.split(separator: ".") ?? []
        guard parts.count == 3, let bytes = Base64.decode(Array(parts[1].utf8), .urlSafe),
            let payload = try? JSONDocument(bytes)
        else { return nil }
        return JSONValue(payload.root)
    }
}
