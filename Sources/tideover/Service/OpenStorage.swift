import TideoverCommandLine
import TideoverConfiguration
import TideoverLocks
import TideoverPostgreSQL
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// The storage of a running server, and what only one of the engines has.
enum OpenStorage {
    case sqlite(SQLiteStorage)
    case postgres(PostgreSQLStorage, TaskThreads)

    /// Enough for every connection that reads, and for requests that wait for one.
    private static let mostThreads = 64

    /// Opens the storage of a configuration, and creates its tables if needed.
    init(_ location: Configuration.StorageLocation) async throws(CommandFailure) {
        do {
            switch location {
            case .sqlite(let path):
                self = .sqlite(try await LockWait.open { try SQLiteStorage(path: path) })
            case .postgres(let address):
                self = .postgres(
                    try PostgreSQLStorage(address: address),
                    try TaskThreads(most: Self.mostThreads)
                )
            }
        } catch is NoThreadLeft {
            throw CommandFailure(.cannotCreate, "the system has no thread left")
        } catch {
            throw CommandFailure(.cannotCreate, "\(error)")
        }
    }

    var storage: any Storage {
        switch self {
        case .sqlite(let storage): storage
        case .postgres(let storage, _): storage
        }
    }

    /// Connects to a replica for a server with an id; nil without one, and for SQLite.
    func replica(
        _ replica: Configuration.Replica?,
        readBy id: String
    ) throws(CommandFailure) -> ReplicaReads? {
        guard case .postgres = self, let replica else { return nil }
        do {
            return try ReplicaReads(
                address: replica.address,
                server: id,
                staleness: replica.staleness,
                uptime: Probes.runtimeClock
            )
        } catch {
            throw CommandFailure(.configuration, "storageReplica: \(error)")
        }
    }

    /// Copies the database while the server runs; nil for a database with tools of its own.
    var copier: DatabaseCopier? {
        switch self {
        case .sqlite(let storage): storage.copier
        case .postgres: nil
        }
    }

    /// The threads for tasks that use the storage; nil if its reads are too short to need any.
    var threads: TaskThreads? {
        switch self {
        case .sqlite: nil
        case .postgres(_, let threads): threads
        }
    }

    /// The size of the write-ahead log in bytes; nil if it is not this server's.
    var logByteCount: Int64? {
        switch self {
        case .sqlite(let storage): storage.logByteCount
        case .postgres: nil
        }
    }

    /// The number of repeated transactions; nil for an engine that ends none in favour of another.
    var repetitionCount: Int? {
        switch self {
        case .sqlite: nil
        case .postgres(let storage, _): storage.repetitionCount
        }
    }

    /// The number of SQL statements that commits ran; nil for an engine that does not count them.
    var statementCount: Int? {
        switch self {
        case .sqlite(let storage): storage.statementCount
        case .postgres: nil
        }
    }

    // MARK: Checking

    /// Checks the database, and starts to move the rows of earlier versions in it.
    func check(_ log: @escaping Log) {
        switch self {
        case .sqlite(let storage): Self.checkAndMove(storage, log)
        case .postgres(let storage, _):
            log(
                LogLine(.info, "database connected", detail: storage.place + Self.note(on: storage))
            )
        }
    }

    /// In this order, because nothing may move in a damaged database.
    private static func checkAndMove(_ storage: SQLiteStorage, _ log: @escaping Log) {
        log(check(storage))
        storage.moveEarlierRows { error in
            log(
                LogLine(
                    .warning,
                    "rows of an earlier version not moved",
                    detail: "\(error.description) They are read where they are, and the next start "
                        + "moves them."
                )
            )
        }
    }

    /// Says that a newer version upgraded a database; empty if none did.
    private static func note(on storage: PostgreSQLStorage) -> String {
        storage.newerSchema.map {
            ", with schema \($0) of a newer version, which this one can work with"
        } ?? ""
    }

    /// A larger database is not checked, because reading it would delay the start by seconds.
    private static let mostBytesChecked: Int64 = 256 << 20

    /// Checks the database's structure and returns the line for the log.
    ///
    /// A damaged database is served read-only, because some answers are better than none. Further
    /// writes could damage more, and stores repeat requests that are answered 503.
    private static func check(_ storage: SQLiteStorage) -> LogLine {
        let bytes = storage.byteCount
        let size = "\(bytes >> 20) MiB"
        guard bytes <= mostBytesChecked else {
            return LogLine(
                .info,
                "database not checked",
                detail: "\(size), more than \(mostBytesChecked >> 20) MiB: it would take long"
            )
        }
        let begin = ContinuousClock.now
        do {
            let problems = try storage.quickProblems()
            let (seconds, attoseconds) = begin.duration(to: .now).components
            let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
            guard let first = problems.first else {
                return LogLine(
                    .info,
                    "database checked",
                    detail: "\(size) in \(milliseconds) ms"
                )
            }
            storage.prohibitWriting(first)
            return LogLine(
                .error,
                "database damaged",
                code: "corrupt",
                detail:
                    "\(first). Nothing is written to it, and notifications are answered 503. Stop "
                    + "the server and restore a backup, or export what can be read and import it "
                    + "into a new database."
            )
        } catch {
            return LogLine(.error, "database not checked", detail: error.description)
        }
    }
}
