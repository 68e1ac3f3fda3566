public import TideoverCore

/// What the store answered, and when.
public struct AppStoreAnswer<Content: Sendable>: Sendable {
    public let content: Content
    public let exchange: StoreExchange

    func map<Other>(_ change: (Content) -> Other) -> AppStoreAnswer<Other> {
        AppStoreAnswer<Other>(content: change(content), exchange: exchange)
    }
}
