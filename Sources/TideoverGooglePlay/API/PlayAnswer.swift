package import TideoverCore

/// A response of the store, and when it arrived.
package struct PlayAnswer<Content: Sendable>: Sendable {
    package let content: Content
    package let exchange: StoreExchange
    /// The response as received.
    package let body: [UInt8]
}
