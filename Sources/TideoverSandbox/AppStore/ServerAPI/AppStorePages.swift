import TideoverHTTP
import TideoverJSON

// The Server API's paged responses: the transactions of a customer, and the refunded ones.

/// A position in a list that is sorted by an instant and then by transaction. Its text is the
/// `revision` that a client sends with its next request.
private struct PageMark: Hashable, Comparable {
    let at: Int64
    let transaction: Int64

    static func < (one: PageMark, other: PageMark) -> Bool {
        (one.at, one.transaction) < (other.at, other.transaction)
    }
}

/// The number of items in a page.
private let pageSize = 20

extension AppStoreService {
    private typealias Marked = (mark: PageMark, finding: AppStoreMachine.Finding)

    /// https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
    mutating func transactionHistory(
        _ call: AppStoreCall,
        asOf instant: Int64
    ) throws(Failure) -> JSONObject {
        let filter = try AppStoreHistoryFilter(call.request, dial)
        let account = try account(call.id, asOf: instant)
        let found = account.findings.filter(filter.matches).map { finding in
            (mark(finding, finding.modifiedAt), finding)
        }
        var answer = identity()
        let page = try page(
            of: found,
            call,
            descending: filter.isDescending,
            digest: filter.digest
        )
        for (key, value) in page { answer[key] = value }
        return answer
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/get-refund-history
    mutating func refundHistory(
        _ call: AppStoreCall,
        asOf instant: Int64
    ) throws(Failure) -> JSONObject {
        let account = try account(call.id, asOf: instant)
        let found = account.findings.compactMap { finding in
            finding.revocation.flatMap { revocation in
                revocation.isOfShare ? nil : (mark(finding, revocation.at), finding)
            }
        }
        return try page(of: found, call, descending: false, digest: "r")
    }

    private func mark(_ finding: AppStoreMachine.Finding, _ instant: Int64) -> PageMark {
        PageMark(at: instant, transaction: Int64(finding.ids.transactionId) ?? 0)
    }

    /// Returns a page of the items after the client's revision. Every page has a revision,
    /// including the last one: a later request with it returns newer items.
    private mutating func page(
        of found: [Marked],
        _ call: AppStoreCall,
        descending: Bool,
        digest: String
    ) throws(Failure) -> JSONObject {
        let start = try revision(call, digest)
        let sorted = found.sorted { descending ? $1.mark < $0.mark : $0.mark < $1.mark }
        let rest = sorted.filter { item in
            start.map { descending ? item.mark < $0 : $0 < item.mark } ?? true
        }
        var transactions: [JSONValue] = []
        for item in rest.prefix(pageSize) { transactions.append(try signed(item.finding)) }
        let last = rest.prefix(pageSize).last?.mark ?? start ?? PageMark(at: 0, transaction: 0)
        return [
            "revision": .string("\(last.at)_\(last.transaction)_\(digest)"),
            "hasMore": .bool(rest.count > pageSize),
            "signedTransactions": .array(transactions),
        ]
    }

    /// A revision is valid only for the filters that created it.
    private func revision(
        _ call: AppStoreCall,
        _ digest: String
    ) throws(Failure) -> PageMark? {
        guard let text = call.request.queryValue("revision"), !text.isEmpty else { return nil }
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, let instant = Int64(parts[0]), let transaction = Int64(parts[1]),
            parts[2] == digest
        else { throw .api(.revision) }
        return PageMark(at: instant, transaction: transaction)
    }
}

/// The filters and the order of a transaction history, from its query.
struct AppStoreHistoryFilter {
    private(set) var isDescending = false
    /// A short digest of the filters.
    let digest: String
    private var start: Int64?
    private var end: Int64?
    private var products: [String] = []
    private var types: [String] = []
    private var groups: [String] = []
    private var ownership: String?
    private var isRevoked: Bool?

    init(_ request: Request, _ dial: StoreTimeScale) throws(AppStoreService.Failure) {
        let items = request.query.filter { $0.name != "revision" }
        digest = AppStoreHistoryFilter.digest(of: items)
        for item in items { try read(item.name, item.value) }
        if let start, let end, start > end { throw .api(.startAfterEnd) }
        start = start.map(dial.first)
        end = end.map(dial.first)
    }

    private mutating func read(
        _ name: String,
        _ value: String
    ) throws(AppStoreService.Failure) {
        switch name {
        case "startDate": start = try instant(value, .startDate)
        case "endDate": end = try instant(value, .endDate)
        case "productId": products.append(try named(value, .productId))
        case "subscriptionGroupIdentifier": groups.append(try named(value, .subscriptionGroup))
        case "productType":
            types.append(try one(of: Self.types, value, .productType))
        case "sort":
            isDescending = try one(of: ["ASCENDING", "DESCENDING"], value, .sort) == "DESCENDING"
        case "inAppOwnershipType":
            ownership = try one(of: ["PURCHASED", "FAMILY_SHARED"], value, .ownershipType)
        case "revoked":
            // Apple's own client for Python capitalises its booleans.
            let words = ["true", "false", "True", "False"]
            isRevoked = try one(of: words, value, .revoked).lowercased() == "true"
        default: break
        }
    }

    /// Whether the purchase is from the start on and before the end.
    func matches(_ finding: AppStoreMachine.Finding) -> Bool {
        let bought = finding.start
        return (start.map { bought >= $0 } ?? true) && (end.map { bought < $0 } ?? true)
            && (products.isEmpty || products.contains(finding.productId))
            && (groups.isEmpty || finding.groupNumber.map(groups.contains) ?? false)
            && (types.isEmpty || types.contains(finding.productType))
            && (ownership.map { $0 == finding.ownershipType } ?? true)
            && (isRevoked.map { $0 == (finding.revocation != nil) } ?? true)
    }

    private static let types = [
        "AUTO_RENEWABLE", "NON_RENEWABLE", "CONSUMABLE", "NON_CONSUMABLE",
    ]

    private func instant(
        _ text: String,
        _ error: AppStoreAPIError
    ) throws(AppStoreService.Failure) -> Int64 {
        guard let instant = Int64(text), instant >= 0 else { throw .api(error) }
        return instant
    }

    private func named(
        _ text: String,
        _ error: AppStoreAPIError
    ) throws(AppStoreService.Failure) -> String {
        guard !text.isEmpty else { throw .api(error) }
        return text
    }

    private func one(
        of words: [String],
        _ text: String,
        _ error: AppStoreAPIError
    ) throws(AppStoreService.Failure) -> String {
        guard words.contains(text) else { throw .api(error) }
        return text
    }

    private static func digest(of items: [QueryItem]) -> String {
        storeHash(of: items.map { "\($0.name)=\($0.value)" }.joined(separator: "&"))
    }
}

/// Returns a short hash of a text, the same in every process (FNV-1a).
func storeHash(of text: String) -> String {
    let hash = text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { hash, byte in
        (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    return String(hash, radix: 36)
}
