public import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Which voided orders are asked for. The store compares with when it took note of them, not with when
/// they were voided: ask for windows that overlap.
public struct VoidedPurchaseFilter: Hashable, Sendable {
    /// At most 30 days back, which is also the default.
    public var start: Instant?
    public var end: Instant?
    /// Whether those of subscriptions are listed beside those of one-time purchases.
    public var includesSubscriptions: Bool
    /// Whether it is listed when some of several were taken back.
    public var includesPartialRefunds: Bool
    /// How many a page may hold, 1000 at most.
    public var pageSize: Int64

    public init(
        start: Instant? = nil,
        end: Instant? = nil,
        includesSubscriptions: Bool = true,
        includesPartialRefunds: Bool = true,
        pageSize: Int64 = 1000
    ) {
        self.start = start
        self.end = end
        self.includesSubscriptions = includesSubscriptions
        self.includesPartialRefunds = includesPartialRefunds
        self.pageSize = pageSize
    }

    /// How far back the store looks.
    public static let reach = Milliseconds.days(30)

    func fault(at now: Instant) -> PlayQuestionFault? {
        let earliest = now - Self.reach
        if let start, start < earliest { return .startTooOld(earliest: earliest) }
        if let start, start >= end ?? now { return .startAfterEnd }
        guard (1...1000).contains(pageSize) else {
            return .outOfRange(field: "maxResults", 1...1000)
        }
        return nil
    }

    var query: [QueryItem] {
        var items = [
            QueryItem(name: "type", value: includesSubscriptions ? "1" : "0"),
            QueryItem(name: "maxResults", value: "\(pageSize)"),
        ]
        if includesPartialRefunds {
            items.append(QueryItem(name: "includeQuantityBasedPartialRefund", value: "true"))
        }
        for (name, instant) in [("startTime", start), ("endTime", end)] {
            guard let instant else { continue }
            items.append(QueryItem(name: name, value: "\(instant.millisecondsSince1970)"))
        }
        return items
    }
}

/// One page of voided orders.
public struct VoidedPurchasesPage: Hashable, Sendable {
    public let voidedPurchases: [VoidedPurchase]
    /// Names the page behind this one; nil where there is none.
    public let nextPageToken: String?

    init(_ fields: WireFields) throws(PlayRefusal) {
        voidedPurchases = try fields.list("voidedPurchases", VoidedPurchase.init)
        nextPageToken = try fields.fields("tokenPagination")?.text("nextPageToken")
    }
}

extension PlayAPI {
    /// One page of voided orders, the first one or the one behind another. The filter is that of the
    /// first page.
    public func voidedPurchases(
        _ filter: VoidedPurchaseFilter = VoidedPurchaseFilter(),
        after pageToken: String? = nil
    ) async throws -> PlayAnswer<VoidedPurchasesPage> {
        // The store ignores the times where a page is named.
        if pageToken == nil { try require(filter.fault(at: now)) }
        let place = pageToken.map { [QueryItem(name: "token", value: $0)] } ?? []
        let question = PlayQuestion(
            path: "purchases/voidedpurchases",
            query: filter.query + place
        )
        return try await ask(question, VoidedPurchasesPage.init)
    }

    /// Walks through all pages, `bound` at most, and hands each to `each`. False if more were there.
    ///
    /// - Throws: As for one page, and what `each` throws.
    public func walkVoidedPurchases(
        _ filter: VoidedPurchaseFilter = VoidedPurchaseFilter(),
        atMost bound: Int,
        each: (PlayAnswer<VoidedPurchasesPage>) async throws -> Void
    ) async throws -> Bool {
        var place: String?
        for _ in 0..<max(bound, 0) {
            try Task.checkCancellation()
            let answer = try await voidedPurchases(filter, after: place)
            try await each(answer)
            guard let next = answer.content.nextPageToken else { return true }
            guard next != place else { throw PlayAPIFailure(.endless, answer.exchange) }
            place = next
        }
        return false
    }
}
