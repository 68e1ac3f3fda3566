/// The options of a SQLite storage. The defaults suit a server.
package struct SQLiteOptions: Sendable {
    /// The number of threads that can read at once.
    package var readerCount = 4
    /// The milliseconds a read waits for a free reader or a lock.
    package var readerPatience: Int32 = 250
    /// The milliseconds the writer waits for a lock that only another program can hold.
    package var writerPatience: Int32 = 5_000
    /// The number of writes that may wait; more fail with `busy`.
    package var maximumQueueLength = 4_096
    /// The number of writes that may share one transaction.
    package var maximumGroupCount = 256
    /// A customer with more lineages to derive from is read and derived outside the writer, so that
    /// others do not wait.
    package var mostLineagesInside = 128
    /// The milliseconds the writer waits, under load, for more writes to share a transaction.
    package var gatherMilliseconds: Int64 = 1
    /// The maximum size of the database file in bytes, in pages of 4,096; nil for no limit.
    package var maximumByteCount: Int64?
    /// Random bits for the ids of events.
    package var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }

    package init() {}
}
