/// What may be chosen about a SQLite storage. The defaults are right for a server.
public struct SQLiteOptions: Sendable {
    /// How many threads can read at once.
    public var readerCount = 4
    /// How many milliseconds a read waits for a free reader or a lock.
    public var readerPatience: Int32 = 250
    /// How many milliseconds the writer waits for a lock that only another program can hold.
    public var writerPatience: Int32 = 5_000
    /// How many writes may wait; more are refused as `busy`.
    public var maximumQueueLength = 4_096
    /// How many writes may share one transaction.
    public var maximumGroupCount = 256
    /// A customer with more lineages to derive from is read and derived outside of the writer, so that
    /// others do not wait for it.
    public var mostLineagesInside = 128
    /// How many milliseconds the writer waits, under load, for more to share a transaction.
    public var gatherMilliseconds: Int64 = 1
    /// How many bytes the database file may take, in pages of 4,096; nil for as many as the disk has.
    public var maximumByteCount: Int64?
    /// Random bits for the ids of events.
    public var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }

    public init() {}
}
