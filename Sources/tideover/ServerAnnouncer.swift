import TideoverLocks
import TideoverPostgreSQL
import TideoverServer
import TideoverStorage

/// Announces this server to the others on its database, and knows how many run, and with which
/// configurations.
final class ServerAnnouncer: Sendable {
    /// Several announcements fit into `PostgreSQLStorage.serverLifetime`.
    private static let interval = Duration.seconds(5)
    /// The announcements show how old a replica is.
    private static let intervalWithReplica = Duration.seconds(1)

    private let storage: OpenStorage
    private let id: String
    private let log: Log
    private let replica: ReplicaReads?
    private let latest = Locked<ServersReading?>(nil)

    init(_ storage: OpenStorage, id: String, log: @escaping Log, replica: ReplicaReads?) {
        self.storage = storage
        self.id = id
        self.log = log
        self.replica = replica
    }

    /// The servers on the database; nil with SQLite, and before they were read.
    var reading: ServersReading? { latest.withLock { $0 } }

    /// Announces this server with its current configuration; nil with SQLite. After a failure it
    /// tries again without a longer pause, so that an announcement does not expire.
    func worker(_ configuration: @escaping @Sendable () async -> String) -> Worker? {
        guard case .postgres(let database, _) = storage else { return nil }
        let pause = replica == nil ? Self.interval : Self.intervalWithReplica
        return Worker(.announcements, every: pause) {
            await self.announce(await configuration(), in: database)
        }
    }

    private func announce(_ configuration: String, in database: PostgreSQLStorage) async {
        let server = ServerRecord(id: id, version: Tideover.version, configuration: configuration)
        do throws(StorageError) {
            let sentAt = Probes.runtimeClock()
            let mark = try await database.announce(server)
            replica?.announced(mark, sentAt: sentAt)
            note(ServersReading(try database.servers(), seenBy: server))
        } catch {
            tell(error)
        }
    }

    /// Takes this server off the list, once its worker has stopped.
    func withdraw() async {
        guard case .postgres(let database, _) = storage else { return }
        do throws(StorageError) {
            try await database.withdraw(id)
        } catch {
            tell(error)
        }
    }

    private func note(_ reading: ServersReading) {
        let former = latest.withLock { latest in
            defer { latest = reading }
            return latest
        }
        guard reading.differing != former?.differing ?? 0 else { return }
        log(
            reading.differing == 0
                ? LogLine(.info, "servers have one configuration")
                : LogLine(
                    .warning,
                    "servers have different configurations",
                    detail: "\(reading.differing) of \(reading.running) have another than this one"
                )
        )
    }

    private func tell(_ error: StorageError) {
        let detail = error.description
        log(LogLine(.error, "server not announced", code: "storage", detail: detail))
    }
}
