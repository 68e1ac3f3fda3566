package import TideoverCore
import TideoverLocks
package import TideoverStorage

/// Reads customers from a replica of the database while it is known to be recent enough.
///
/// A server announces itself in the database again and again. A replica with an announcement also has
/// everything that was committed before it was sent. So its data is at most as old as the latest of
/// them that it has, by the clock of the server alone: neither the clocks of the databases nor what
/// they say of the delay between them counts.
package final class ReplicaReads: Sendable {
    /// An announcement of this server.
    private struct Announcement {
        let mark: Int64
        /// When it was sent, in nanoseconds of `uptime`.
        let sentAt: Int64
    }

    private struct State {
        var announcements: [Announcement] = []
        /// When the latest announcement was sent that the replica is known to have.
        var latestSeen: Int64?
    }

    /// A replica that does not answer must not delay the answer of the database.
    private static let patience: Int64 = 500

    private let sessions: ReadSessionPool
    private let server: String
    private let limit: Int64
    private let uptime: @Sendable () -> Int64
    private let state = Locked(State())

    /// Connects in the background, and again after a loss.
    ///
    /// - Parameters:
    ///   - address: The replica, in the form of the database's address.
    ///   - server: The id with which this server announces itself.
    ///   - staleness: How old the data may be.
    ///   - uptime: A monotonic clock in nanoseconds.
    /// - Throws: `notPermitted` for an unusable address, `busy` if the system has no thread left.
    package init(
        address: String,
        server: String,
        staleness: Milliseconds,
        uptime: @escaping @Sendable () -> Int64
    ) throws(StorageError) {
        var options = PostgreSQLOptions()
        options.readerPatience = 0
        options.readTimeout = Self.patience
        let address = try PostgreSQLAddress(address, prefersReplica: true)
        sessions = try ReadSessionPool(address, options: options)
        limit = staleness.count * 1_000_000
        self.server = server
        self.uptime = uptime
    }

    /// Reads with `row(of:)`.
    package var reading: ReplicaReading { { customer in self.row(of: customer) } }

    deinit { sessions.close(patience: 0) }

    /// Notes an announcement of this server, and whether the replica has it.
    package func announced(_ mark: Int64, sentAt: Int64) {
        let oldest = uptime() - limit
        state.withLock { state in
            state.announcements.removeAll { $0.sentAt < oldest }
            state.announcements.append(Announcement(mark: mark, sentAt: sentAt))
        }
        _ = read { _ in }
    }

    /// Returns what the replica has of a customer; nil if its data may be too old, or if it does not
    /// answer.
    package func row(of customer: CustomerKey) -> ReplicaRow? {
        let latest = state.withLock(\.latestSeen)
        // One that was not recent a moment ago is not asked for each customer.
        guard let latest, uptime() - latest <= limit else { return nil }
        return read { session throws(StorageError) in try session.row(of: customer) }
            .map { ReplicaRow(row: $0.result, staleness: $0.staleness) }
    }

    /// Reads the latest announcement in the same transaction: it bounds the age of the result.
    private func read<Result>(
        _ body: (ReadSession) throws(StorageError) -> Result
    ) -> (result: Result, staleness: Milliseconds)? {
        do {
            let (mark, result) = try sessions.read { session throws(StorageError) in
                (try session.announcement(of: server), try body(session))
            }
            guard let age = age(of: mark) else { return nil }
            // Rounded up: it is a bound.
            return (result, Milliseconds((age + 999_999) / 1_000_000))
        } catch {
            // The database answers instead. The counts of reads show that the replica does not.
            return nil
        }
    }

    /// Returns how long ago the announcement with a mark was sent; nil if too long ago.
    private func age(of mark: Int64?) -> Int64? {
        let now = uptime()
        let sentAt = state.withLock { state -> Int64? in
            guard let found = state.announcements.last(where: { $0.mark == mark }) else {
                return nil
            }
            state.latestSeen = max(found.sentAt, state.latestSeen ?? found.sentAt)
            return found.sentAt
        }
        return sentAt.map { now - $0 }.flatMap { $0 <= limit ? $0 : nil }
    }
}
