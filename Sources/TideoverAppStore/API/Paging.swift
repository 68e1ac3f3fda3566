/// One page of a list of the store.
package protocol AppStorePage: Sendable {
    /// The cursor of the next page.
    var place: String? { get }
    var hasMore: Bool { get }
}

extension TransactionHistoryPage: AppStorePage {
    package var place: String? { revision }
}

extension RefundHistoryPage: AppStorePage {
    package var place: String? { revision }
}

extension NotificationHistoryPage: AppStorePage {
    package var place: String? { paginationToken }
}

/// The end of a paged fetch.
package struct AppStorePagesEnd: Hashable, Sendable {
    /// The cursor after the last page; continue from here.
    package let place: String?
    /// Whether the list is complete. If not, `bound` was reached or `each` stopped.
    package let isComplete: Bool
    /// The number of pages fetched.
    package let pages: Int

    package init(place: String?, isComplete: Bool, pages: Int) {
        self.place = place
        self.isComplete = isComplete
        self.pages = pages
    }
}

/// Fetches the pages of a list in order from `place`, at most `bound` pages. `fetch` requests the
/// page after a cursor, or the first page for nil. `each` receives a page, and returns false to
/// stop. A caller that stores the cursor of the last page can resume there after a failure.
///
/// Throws the errors of both closures, `CancellationError`, or ``AppStoreAPIFailure`` for a page
/// that promises more without a new cursor.
package func walkPages<Page: AppStorePage>(
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
