package import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Selects voided orders. The store filters by the time it recorded them, not by the time they were
/// voided: request overlapping windows.
package struct VoidedPurchaseFilter: Hashable, Sendable {
    /// At most 30 days ago, which is also the default.
    package var start: Instant?
    package var end: Instant?
    /// Whether to include voided subscriptions besides one-time purchases.
    package var includesSubscriptions: Bool
    /// Whether to include orders of several items with only some refunded.
    package var includesPartialRefunds: Bool
    /// The maximum number of orders in a page, at most 1000.
    package var pageSize: Int64

    package init(
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

    /// The age of the oldest voided orders that the store lists.
    package static let reach = Milliseconds.days(30)

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
package struct VoidedPurchasesPage: Hashable, Sendable {
    package let voidedPurchases: [VoidedPurchase]
    /// The number of orders that cannot be read, such as one without a token. They do not hide the
    /// others.
    package let unreadable: Int
    /// The cursor of the next page; nil for the last page.
    package let nextPageToken: String?

    init(_ fields: WireFields) throws(PlayRefusal) {
        let orders = try fields.list("voidedPurchases", Self.order)
        voidedPurchases = orders.compactMap(\.self)
        unreadable = orders.count - voidedPurchases.count
        nextPageToken = try fields.fields("tokenPagination")?.text("nextPageToken")
    }

    private static func order(_ fields: WireFields) -> VoidedPurchase? {
        try? VoidedPurchase(fields)
    }
}

extension PlayAPI {
    /// Requests one page of voided orders: the first page, or the page after a cursor. Every page
    /// needs the filter of the first page.
    package func voidedPurchases(
        _ filter: VoidedPurchaseFilter = VoidedPurchaseFilter(),
        after pageToken: String? = nil
    ) async throws -> PlayAnswer<VoidedPurchasesPage> {
        // The store ignores the times if a cursor is present.
        if pageToken == nil { try require(filter.fault(at: now)) }
        let place = pageToken.map { [QueryItem(name: "token", value: $0)] } ?? []
        let question = PlayQuestion(
            path: "purchases/voidedpurchases",
            query: filter.query + place
        )
        return try await ask(question, VoidedPurchasesPage.init)
    }

    /// Fetches at most `bound` pages and passes each to `each`. Returns false if more pages remain.
    ///
    /// - Throws: The same errors as for one page, and the errors of `each`.
    package func walkVoidedPurchases(
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
