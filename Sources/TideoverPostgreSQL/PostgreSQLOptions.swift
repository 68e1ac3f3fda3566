/// The options of a storage on PostgreSQL. The defaults suit a server.
package struct PostgreSQLOptions: Sendable {
    /// The number of connections for reads.
    package var readerCount = 4
    /// The milliseconds a read waits for a free connection.
    package var readerPatience: Int64 = 250
    /// The milliseconds after which the database ends a statement of a read.
    package var readTimeout: Int64 = 2_000
    /// The milliseconds after which the database ends a statement of a write.
    package var writeTimeout: Int64 = 10_000
    /// The milliseconds after which the database ends a transaction of a server that sends nothing.
    package var idleTimeout: Int64 = 5_000
    /// The number of writes that may wait; more fail with `busy`.
    package var maximumQueueLength = 4_096
    /// The number of writes that may share one transaction.
    package var maximumGroupCount = 256
    /// The milliseconds after which a transaction begins no further round of commits: other servers
    /// wait for its locks.
    package var groupTime: Int64 = 1_000
    /// How often a transaction is attempted that the database ends in favour of others.
    package var maximumAttempts = 5
    /// Random bits for the ids of events.
    package var random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }

    package init() {}
}
