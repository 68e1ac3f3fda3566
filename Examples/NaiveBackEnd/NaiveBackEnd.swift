import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks

/// A back end as many are written, to be rehearsed against: it believes what it is sent without looking at
/// the signature, switches on the type of a notification, and compares the expiry date that it heard of
/// last with the clock. It is here to show what a rehearsal finds in such a one; do not copy it.
///
/// `POST /notifications` takes App Store Server Notifications, `POST /google` what Pub/Sub pushes of Google
/// Play; `GET /customers/{appAccountToken}` answers `{"premium": true}` or `{"premium": false}`.
final class NaiveBackEnd: Sendable {
    private struct Subscriber {
        var isActive = false
        /// Milliseconds since 1970.
        var expiresDate: Int64 = 0
    }

    /// By `appAccountToken`, in Google Play by `obfuscatedAccountId`.
    private let subscribers = Locked<[String: Subscriber]>([:])
    private let clock: @Sendable (Request) -> Int64
    private let play: PlayClient?

    /// A back end that knows nobody yet; `clock` tells the time of a request, in milliseconds since 1970.
    /// Without `play` it cannot ask whose purchases Google tells of.
    init(play: PlayClient? = nil, clock: @escaping @Sendable (Request) -> Int64) {
        self.play = play
        self.clock = clock
    }

    var handler: Handler {
        { request in
            switch (request.method, request.path.split(separator: "/").map(String.init)) {
            case ("POST", ["notifications"]): self.take(request)
            case ("POST", ["google"]): await self.takePush(request)
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

    /// Whoever pushes is believed. The type alone decides again: a cancellation ends it at once, and what was
    /// not thought of is good news. The store is asked once how long it lasts; of which purchase it tells, an
    /// old one or the new, does not matter, and where it cannot be asked nobody hears of it again.
    private func takePush(_ request: Request) async -> Response {
        let done = Response(status: 200)
        guard let push = try? JSONDocument(request.body).root,
            let data = push["message"]?["data"]?.string.map({ Array($0.utf8) }),
            let bytes = Base64.decode(data, .standard),
            let notification = try? JSONDocument(bytes).root,
            let token = notification["subscriptionNotification"]?["purchaseToken"]?.string,
            let package = notification["packageName"]?.string,
            let purchase = try? await play?.subscription(token, of: package, at: clock(request)),
            let account = purchase["externalAccountIdentifiers"]?["obfuscatedExternalAccountId"],
            let customer = account.string
        else { return done }
        let expiry = purchase["lineItems"]?[0]?["expiryTime"]?.string
        var subscriber = Subscriber()
        subscriber.expiresDate =
            expiry.flatMap { Instant(rfc3339: $0) }?.millisecondsSince1970 ?? 0
        switch notification["subscriptionNotification"]?["notificationType"]?.int64 {
        // SUBSCRIPTION_CANCELED, _ON_HOLD, _EXPIRED
        case 3, 5, 13: subscriber.isActive = false
        default: subscriber.isActive = true
        }
        subscribers.withLock { $0[customer] = subscriber }
        return done
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
