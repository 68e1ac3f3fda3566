package import TideoverCore

/// A response of the store, and when it arrived.
package struct AppStoreAnswer<Content: Sendable>: Sendable {
    package let content: Content
    package let exchange: StoreExchange

    func map<Other>(_ change: (Content) -> Other) -> AppStoreAnswer<Other> {
        AppStoreAnswer<Other>(content: change(content), exchange: exchange)
    }
}
