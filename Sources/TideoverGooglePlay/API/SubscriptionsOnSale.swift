import TideoverHTTP

/// One page of what an app sells by subscription.
public struct SubscriptionsOnSalePage: Hashable, Sendable {
    public let subscriptions: [SubscriptionOnSale]
    /// Names the page behind this one; nil where there is none.
    public let nextPageToken: String?

    init(_ fields: WireFields) throws(PlayRefusal) {
        subscriptions = try fields.list("subscriptions", SubscriptionOnSale.init)
        nextPageToken = try fields.text("nextPageToken")
    }
}

extension PlayAPI {
    /// Each base plan is listed with its price in every region: more would make too long an answer.
    private static let pageOfSubscriptions = 20
    /// Nobody sells more than some dozens.
    private static let mostPagesOfSubscriptions = 50

    /// One page of what the app sells by subscription, the first one or the one behind another.
    public func subscriptionsOnSale(
        after pageToken: String? = nil
    ) async throws -> PlayAnswer<SubscriptionsOnSalePage> {
        let size = QueryItem(name: "pageSize", value: "\(Self.pageOfSubscriptions)")
        let place = pageToken.map { [QueryItem(name: "pageToken", value: $0)] } ?? []
        let question = PlayQuestion(path: "subscriptions", query: [size] + place)
        return try await ask(question, SubscriptionsOnSalePage.init)
    }

    /// All that the app sells by subscription, on whatever number of pages.
    ///
    /// - Throws: As for one page.
    public func allSubscriptionsOnSale() async throws -> [SubscriptionOnSale] {
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
