import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSignatures

/// A back end as a careful developer writes it from the stores' guides, as a target of rehearsals.
///
/// It verifies signatures, stores the newest state of each purchase, queries Google Play about each
/// token, and compares a date with the clock. The rehearsals show the cases that this does not
/// cover.
///
/// `POST /notifications` receives App Store Server Notifications, `POST /google` receives pushes of
/// Pub/Sub. `GET /customers/{appAccountToken}` returns a bool for each entitlement, such as
/// `{"premium": true}`.
final class NaiveBackEnd: Sendable {
    /// The rule that decides whether a purchase gives access.
    enum Check: String, CaseIterable, Sendable {
        /// The expiry date is in the future.
        case expiry
        /// The expiry date or the end of the grace period is in the future, and Google Play reports
        /// a state with access.
        case grace
    }

    /// The entitlements that each product unlocks. If nil, every product unlocks `premium`.
    typealias Catalogue = [String: [String]]

    private let check: Check
    private let catalogue: Catalogue?
    private let verifier: ChainVerifier?
    private let play: PlayClient?
    private let clock: @Sendable (Request) -> Int64
    /// By customer, then by `originalTransactionId` or purchase token.
    private let purchases = Locked<[String: [String: Purchase]]>([:])

    /// Creates a back end without customers. `clock` returns the time of a request, in milliseconds
    /// since 1970. Without `root`, a certificate in DER, signatures are not verified. Without
    /// `play`, messages of Google Play are ignored.
    init(
        _ check: Check,
        catalogue: Catalogue? = nil,
        root: [UInt8]? = nil,
        play: PlayClient? = nil,
        clock: @escaping @Sendable (Request) -> Int64
    ) throws(TrustAnchorError) {
        self.check = check
        self.catalogue = catalogue
        self.play = play
        self.clock = clock
        verifier = try root.map { (root) throws(TrustAnchorError) in
            ChainVerifier(
                policy: ChainPolicy(
                    leafMarker: "1.2.840.113635.100.6.11.1",
                    intermediateMarker: "1.2.840.113635.100.6.2.1"
                ),
                anchors: [try TrustAnchor(name: "store", der: root)]
            )
        }
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

    /// Stores the state of a purchase, unless a newer one is stored.
    private func store(_ purchase: Purchase, _ id: String, of customer: String) {
        purchases.withLock { purchases in
            let known = purchases[customer, default: [:]][id]
            guard (known?.asOf ?? 0) <= purchase.asOf else { return }
            purchases[customer, default: [:]][id] = purchase
            if let replaced = purchase.replaces { purchases[customer]?[replaced] = nil }
        }
    }

    private func answer(_ customer: String, _ request: Request) -> Response {
        let now = clock(request)
        let owned = purchases.withLock { $0[customer] ?? [:] }.values.flatMap { purchase in
            purchase.ends.keys.filter { purchase.gives($0, by: check, at: now) }
        }
        let unlocked = Set(
            owned.flatMap { catalogue?[$0] ?? (catalogue == nil ? ["premium"] : []) }
        )
        var body = JSONObject()
        for name in Set((catalogue ?? ["": ["premium"]]).values.joined()).sorted() {
            body[name] = .bool(unlocked.contains(name))
        }
        return Response(
            headers: ["Content-Type": "application/json"],
            body: JSONValue.object(body).encoded()
        )
    }

    // MARK: App Store

    private func take(_ request: Request) -> Response {
        guard let body = try? JSONDocument(request.body).root,
            let notification = payload(body["signedPayload"]?.string)
        else { return Response(status: 400) }
        guard let data = notification["data"],
            let signed = data["signedTransactionInfo"]?.string
        else { return Response(status: 200) }
        guard let transaction = payload(signed),
            transaction["environment"] == data["environment"]
        else { return Response(status: 400) }
        guard let customer = transaction["appAccountToken"]?.string,
            let id = transaction["originalTransactionId"]?.string,
            let product = transaction["productId"]?.string
        else { return Response(status: 200) }
        let renewal = payload(data["signedRenewalInfo"]?.string)
        let purchase = Purchase(
            ends: [product: transaction["expiresDate"]?.int64 ?? .max],
            graceUntil: renewal?["gracePeriodExpiresDate"]?.int64,
            isOver: transaction["revocationDate"] != nil,
            asOf: notification["signedDate"]?.int64 ?? 0
        )
        store(purchase, id, of: customer)
        return Response(status: 200)
    }

    /// Returns the payload of a compact JWS; nil if the signature is invalid.
    private func payload(_ compact: String?) -> JSONValue? {
        guard let compact, let jws = try? JWS(compact.utf8),
            let document = try? JSONDocument(jws.payload)
        else { return nil }
        let payload = JSONValue(document.root)
        guard let verifier else { return payload }
        let signedAt = payload["signedDate"]?.int64 ?? 0
        return (try? verifier.verify(jws, at: signedAt)).map { _ in payload }
    }

    // MARK: Google Play

    /// Handles a push, which names a purchase token. The Play Developer API returns the purchase's
    /// state. If the API is not available now, the push is sent again.
    private func takePush(_ request: Request) async -> Response {
        guard let push = try? JSONDocument(request.body).root,
            let data = push["message"]?["data"]?.string.map({ Array($0.utf8) }),
            let bytes = Base64.decode(data, .standard),
            let message = try? JSONDocument(bytes).root
        else { return Response(status: 400) }
        let subscription = message["subscriptionNotification"]
        let oneTime = message["oneTimeProductNotification"]
        let voided = message["voidedPurchaseNotification"]
        guard let play, let package = message["packageName"]?.string,
            let token = (subscription ?? oneTime ?? voided)?["purchaseToken"]?.string
        else { return Response(status: 200) }
        let isOneTime = oneTime != nil || voided?["productType"]?.int64 == 2
        do {
            let now = clock(request)
            let answer = try await play.purchase(token, of: package, isOneTime: isOneTime, at: now)
            guard let answer else { return Response(status: 200) }
            take(isOneTime ? .oneTime(answer, now) : .subscription(answer, now), answer, token)
            return Response(status: 200)
        } catch {
            return Response(status: 503)
        }
    }

    private func take(_ purchase: Purchase, _ answer: JSONValue, _ token: String) {
        let account =
            answer["externalAccountIdentifiers"]?["obfuscatedExternalAccountId"]
            ?? answer["obfuscatedExternalAccountId"]
        if let customer = account?.string { store(purchase, token, of: customer) }
    }
}
