/// Reads and writes the kit's only file, as an injected effect.
public struct KeptFile: Sendable {
    /// Reads the whole file; nil only if there is none. While it throws, nothing is written.
    public var read: @Sendable () async throws -> [UInt8]?
    /// Replaces the whole file. It returns only after the bytes are durable: a process that is
    /// killed at any time leaves either the old file or the new one.
    public var write: @Sendable (_ bytes: [UInt8]) async throws -> Void
    /// Whether the file stays until it is replaced. The system may remove a cache.
    package var isLasting = true

    public init(
        read: @escaping @Sendable () async throws -> [UInt8]?,
        write: @escaping @Sendable (_ bytes: [UInt8]) async throws -> Void
    ) {
        self.read = read
        self.write = write
    }

    /// Returns this file, which is read only after earlier writes to it.
    package func read(after writes: Task<Void, Never>) -> KeptFile {
        var file = self
        file.read = { [read] in
            await writes.value
            return try await read()
        }
        return file
    }
}
