/// The size and nesting that a document may have before it is refused.
public struct JSONLimits: Hashable, Sendable {
    /// The greatest length accepted, in bytes.
    public let maxBytes: Int
    /// The greatest number of arrays and objects open at once.
    public let maxDepth: Int

    /// What no limit exceeds: token fields are 32 bits wide, and values are visited recursively.
    static let ceiling = (bytes: 1 << 30, depth: 128)

    /// Limits of `maxBytes` bytes and `maxDepth` levels; asked for more than 1 GiB or 128 levels,
    /// they stop there.
    public init(maxBytes: Int, maxDepth: Int) {
        self.maxBytes = min(maxBytes, Self.ceiling.bytes)
        self.maxDepth = min(maxDepth, Self.ceiling.depth)
    }

    /// For requests that reach us: 256 KiB, 32 levels.
    public static let inbound = JSONLimits(maxBytes: 256 << 10, maxDepth: 32)
    /// For answers of a store's API: 4 MiB, 32 levels.
    public static let storeAnswer = JSONLimits(maxBytes: 4 << 20, maxDepth: 32)
    /// For files of the operator: 1 GiB, 64 levels.
    public static let local = JSONLimits(maxBytes: 1 << 30, maxDepth: 64)
}
