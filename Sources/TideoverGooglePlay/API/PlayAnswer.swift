public import TideoverCore

/// What the store answered, and when.
public struct PlayAnswer<Content: Sendable>: Sendable {
    public let content: Content
    public let exchange: StoreExchange
    /// The answer as it came.
    public let body: [UInt8]
}
