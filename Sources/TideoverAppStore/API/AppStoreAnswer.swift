public import TideoverCore

/// A response of the store, and when it arrived.
public struct AppStoreAnswer<Content: Sendable>: Sendable {
    public let content: Content
    public let exchange: StoreExchange

    func map<Other>(_ change: (Content) -> Other) -> AppStoreAnswer<Other> {
        AppStoreAnswer<Other>(content: change(content), exchange: exchange)
    }
}
