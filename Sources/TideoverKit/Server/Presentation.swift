package import TideoverCore
package import TideoverHTTP
import TideoverJSON

/// One page of evidence for the server: the content of one request.
package struct EvidencePage: Hashable, Sendable {
    /// In the order of `transactions`.
    package var transactions: [SignedPurchase] = []
    package var renewalInfos: [String] = []
    /// The customer who bought them; nil for the app's current customer.
    package var customer: CustomerID?
    /// The device's own decision; only on the last page.
    package var conclusion: DeviceConclusionDocument?
    /// Whether the store was read and shows no purchases.
    package var saysNothing = false

    package init() {}

    static let mostItems = 32
    static let mostBytes = 200_000

    private var count: Int { transactions.count + renewalInfos.count }
    private var bytes: Int {
        (transactions.map(\.jws) + renewalInfos).reduce(0) { $0 + $1.utf8.count }
    }

    private func takes(_ purchase: SignedPurchase, _ renewalInfo: String?) -> Bool {
        let added = purchase.jws.utf8.count + (renewalInfo?.utf8.count ?? 0)
        let isMore = count + (renewalInfo == nil ? 1 : 2) > Self.mostItems
        return count == 0 || (!isMore && bytes + added <= Self.mostBytes)
    }

    /// Returns the pages for purchases and statuses, each document once. A renewal info stays
    /// beside its transaction, which identifies its owner.
    package static func pages(
        of purchases: [SignedPurchase],
        and statuses: [SignedStatus]
    ) -> [EvidencePage] {
        var seen: Set<String> = []
        var pages = [EvidencePage()]
        func add(_ purchase: SignedPurchase, _ renewalInfo: String?) {
            let isNew = seen.insert(purchase.jws).inserted
            guard isNew || renewalInfo != nil else { return }
            if !pages[pages.count - 1].takes(purchase, renewalInfo) { pages.append(EvidencePage()) }
            pages[pages.count - 1].transactions.append(purchase)
            if let renewalInfo { pages[pages.count - 1].renewalInfos.append(renewalInfo) }
        }
        for status in statuses { add(status.transaction, status.renewalInfo) }
        for purchase in purchases { add(purchase, nil) }
        pages[pages.count - 1].saysNothing = seen.isEmpty
        return pages
    }

    /// The body of a reconcile request.
    package var body: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field(
                "transactions",
                array: { for purchase in transactions { $0.value(purchase.jws) } }
            )
            writer.field("renewalInfos", array: { for info in renewalInfos { $0.value(info) } })
            if saysNothing { writer.field("nothing", true) }
            if let conclusion {
                writer.key("device")
                writer.raw(conclusion.json)
            }
        }
        return writer.bytes
    }

    /// Returns the request that presents the page.
    package func request(
        to server: ServerIdentity,
        customer: String,
        environment: String
    ) -> Request {
        let customer = PercentEncoding.encode(customer)
        return Request(
            method: "POST",
            path: "\(server.path)/customers/\(customer)/reconcile",
            query: [
                QueryItem(name: "environment", value: environment),
                QueryItem(name: "store", value: Store.appStore.rawValue),
            ],
            headers: server.headers,
            body: body
        )
    }
}

extension ServerIdentity {
    /// The path of the app's routes.
    fileprivate var path: String { "/v1/apps/\(PercentEncoding.encode(app))" }

    /// The headers of a request with a body.
    fileprivate var headers: Headers {
        [
            "Authorization": "Bearer \(apiKey)", "Content-Type": "application/json",
            "Accept": "application/json",
        ]
    }

    /// Returns the request that reports a shown prompt. It is sent at once, so the server dates it
    /// by its own clock: before its first answer the device's can be ahead or behind.
    package func report(
        _ exposure: PromptExposure,
        customer: String,
        environment: String
    ) -> Request {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("id", exposure.id)
            writer.field("kind", exposure.kind.rawValue)
            if let response = exposure.response { writer.field("response", response.rawValue) }
        }
        return Request(
            method: "POST",
            path: "\(path)/customers/\(PercentEncoding.encode(customer))/prompts",
            query: [QueryItem(name: "environment", value: environment)],
            headers: headers,
            body: writer.bytes
        )
    }

    /// The request for the keys that verify passes.
    package var keysRequest: Request {
        Request(path: "\(path)/pass-keys", headers: ["Accept": "application/json"])
    }
}

/// The device's decision, in the form of a reconcile request.
package struct DeviceConclusionDocument: Hashable, Sendable {
    package var json: [UInt8]

    /// `unverified` are the entitlements of purchases that the device could not verify.
    package init(
        _ decision: DeviceDecision,
        unfinished: [SignedPurchase],
        unverified: Set<String>,
        askedAt: Instant,
        deviceTime: Instant
    ) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("deviceTime", deviceTime.rfc3339)
            writer.field("askedAt", askedAt.rfc3339)
            writer.field("environment", decision.snapshot.environment.rawValue)
            writer.field(
                "entitlements",
                object: { writer in
                    for entitlement in decision.snapshot.entitlements {
                        writer.key(entitlement.name)
                        let isVerified = !unverified.contains(entitlement.name)
                        entitlement.writeConclusion(to: &writer, unfinished, isVerified)
                    }
                }
            )
        }
        json = writer.bytes
    }
}

extension Snapshot.Entitlement {
    fileprivate func writeConclusion(
        to writer: inout JSONWriter,
        _ all: [SignedPurchase],
        _ isVerified: Bool
    ) {
        let unfinished = all.filter { $0.productId == standing.productId }
        writer.object { writer in
            writer.field("access", standing.access)
            // A null end means unlimited; an unknown end is omitted.
            if standing.access || accessUntil != nil {
                writer.field("until", accessUntil?.rfc3339)
            }
            if let productId = standing.productId { writer.field("productId", productId) }
            if let id = standing.lineage?.id { writer.field("originalTransactionId", id) }
            writer.field("verified", standing.access || isVerified)
            guard !unfinished.isEmpty else { return }
            // The server refuses more. Renewals of a year can be unfinished at once.
            let named = unfinished.prefix(EvidencePage.mostItems)
            writer.field(
                "unfinished",
                array: { for purchase in named { $0.value("\(purchase.transactionId)") } }
            )
        }
    }
}
