import TideoverCore
import TideoverHTTP

/// One page of the subscriptions that an app sells.
package struct SubscriptionsOnSalePage: Hashable, Sendable {
    package let subscriptions: [SubscriptionOnSale]
    /// The cursor of the next page; nil for the last page.
    package let nextPageToken: String?

    init(_ fields: WireFields) throws(PlayRefusal) {
        subscriptions = try fields.list("subscriptions", SubscriptionOnSale.init)
        nextPageToken = try fields.text("nextPageToken")
    }
}

extension PlayAPI {
    /// Each base plan lists its price in every region, so a larger page would be too long.
    private static let pageOfSubscriptions = 20
    /// Far above real catalogues, which have a few dozen subscriptions.
    private static let mostPagesOfSubscriptions = 50

    /// Requests one page of the subscriptions that the app sells: the first page, or the page after
    /// a cursor.
    package func subscriptionsOnSale(
        after pageToken: String? = nil
    ) async throws -> PlayAnswer<SubscriptionsOnSalePage> {
        let size = QueryItem(name: "pageSize", value: "\(Self.pageOfSubscriptions)")
        let place = pageToken.map { [QueryItem(name: "pageToken", value: $0)] } ?? []
        let question = PlayQuestion(path: "subscriptions", query: [size] + place)
        return try await ask(question, SubscriptionsOnSalePage.init)
    }

    /// Requests all pages of the subscriptions that the app sells.
    ///
    /// - Throws: The same errors as for one page.
    package func allSubscriptionsOnSale() async throws -> [SubscriptionOnSale] {
        var all: [SubscriptionOnSale] = []
        var place: String?
        for _ in 0..<Self.mostPagesOfSubscriptions {
            try Task.checkCancellation()
            let answer = try await subscriptionsOnSale(after: place)
            all += answer.content.subscriptions
            guard let next = answer.content.nextPageToken else { break }
            guard next != place else { throw PlayAPIFailure(.endless, answer.exchange) }
            place = next
        }
        return all
    }
}
