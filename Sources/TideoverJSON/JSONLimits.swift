/// The maximum size and nesting of a document.
public struct JSONLimits: Hashable, Sendable {
    /// The maximum length in bytes.
    public let maxBytes: Int
    /// The maximum number of arrays and objects open at once.
    public let maxDepth: Int

    /// The upper bounds of all limits: token fields are 32 bits wide, and values are visited
    /// recursively.
    static let ceiling = (bytes: 1 << 30, depth: 128)

    /// Creates limits of `maxBytes` bytes and `maxDepth` levels, reduced to at most 1 GiB and 128
    /// levels.
    public init(maxBytes: Int, maxDepth: Int) {
        self.maxBytes = min(maxBytes, Self.ceiling.bytes)
        self.maxDepth = min(maxDepth, Self.ceiling.depth)
    }

    /// For incoming requests: 256 KiB, 32 levels.
    public static let inbound = JSONLimits(maxBytes: 256 << 10, maxDepth: 32)
    /// For responses of a store's API: 4 MiB, 32 levels.
    public static let storeAnswer = JSONLimits(maxBytes: 4 << 20, maxDepth: 32)
    /// For the operator's files: 1 GiB, 64 levels.
    public static let local = JSONLimits(maxBytes: 1 << 30, maxDepth: 64)
}
