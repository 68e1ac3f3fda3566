public import TideoverCore

/// A response of the store, and when it arrived.
public struct PlayAnswer<Content: Sendable>: Sendable {
    public let content: Content
    public let exchange: StoreExchange
    /// The response as received.
    public let body: [UInt8]
}
