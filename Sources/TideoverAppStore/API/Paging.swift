/// A part of a list that the store hands out page by page.
public protocol AppStorePage: Sendable {
    /// Names the place behind this page.
    var place: String? { get }
    var hasMore: Bool { get }
}

extension TransactionHistoryPage: AppStorePage {
    public var place: String? { revision }
}

extension RefundHistoryPage: AppStorePage {
    public var place: String? { revision }
}

extension NotificationHistoryPage: AppStorePage {
    public var place: String? { paginationToken }
}

/// Where a walk through pages ended.
public struct AppStorePagesEnd: Hashable, Sendable {
    /// Behind the last page; where to go on.
    public let place: String?
    /// Whether nothing more was there; if not, the walk had reached its bound, or was stopped.
    public let isComplete: Bool
    /// How many pages were walked.
    public let pages: Int

    public init(place: String?, isComplete: Bool, pages: Int) {
        self.place = place
        self.isComplete = isComplete
        self.pages = pages
    }
}

/// Walks through the pages of a list, one after the other, from `place` on and `bound` pages at
/// most. `fetch` asks for the page behind a place, the first one for nil; `each` takes a page, and
/// ends the walk with false. What has been handed to `each` need not be asked for again: whoever
/// keeps the place of the last page can go on there after a failure.
///
/// Throws what the two throw; `CancellationError`; ``AppStoreAPIFailure`` for a page that says that
/// there is more and names no new place.
public func walkPages<Page: AppStorePage>(
    from place: String? = nil,
    atMost bound: Int,
    _ fetch: (_ place: String?) async throws -> AppStoreAnswer<Page>,
    each: (AppStoreAnswer<Page>) async throws -> Bool
) async throws -> AppStorePagesEnd {
    var place = place
    for walked in 0..<max(bound, 0) {
        try Task.checkCancellation()
        let answer = try await fetch(place)
        let page = answer.content
        let goesOn = try await each(answer)
        guard page.hasMore else {
            return AppStorePagesEnd(place: page.place, isComplete: true, pages: walked + 1)
        }
        guard let next = page.place, next != place else {
            throw AppStoreAPIFailure(.endless, answer.exchange)
        }
        place = next
        guard goesOn else {
            return AppStorePagesEnd(place: place, isComplete: false, pages: walked + 1)
        }
    }
    return AppStorePagesEnd(place: place, isComplete: false, pages: max(bound, 0))
}
