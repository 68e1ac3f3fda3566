import CTideoverPostgreSQL
import Glibc
import Testing
import TideoverPostgreSQL
import TideoverStorage
import TideoverStorageConformance

/// A schema of its own in the database that `TIDEOVER_TEST_POSTGRES` names.
///
/// `scripts/postgres.sh` starts such a database. Without one, the tests that need it are skipped.
final class TestDatabase: StorageSite {
    /// The address in the environment; nil without one.
    static let server: String? = getenv("TIDEOVER_TEST_POSTGRES").map { String(cString: $0) }

    let schema: String

    init() throws {
        schema = "t_\(UInt64.random(in: .min ... .max))"
        try Self.run("CREATE SCHEMA \(schema)")
    }

    deinit { try? Self.run("DROP SCHEMA \(schema) CASCADE") }

    /// The address of the schema, in which every table of the storage is found first.
    var address: String { address(setting: []) }

    /// The same with settings that a role can have too, such as `lock_timeout=5`.
    func address(setting values: [String]) -> String {
        let settings = ["search_path=\(schema)"] + values
        let options = settings.map {
            "-c" + $0.replacing(" ", with: "%5C%20").replacing("=", with: "%3D")
        }.joined(separator: "%20")
        return Self.address("options=\(options)&application_name=\(schema)")
    }

    static func address(_ parameter: String) -> String {
        let server = server ?? ""
        return server + (server.contains("?") ? "&" : "?") + parameter
    }

    /// Opens the storage. On a busy machine the first connection can take longer than a read of a
    /// server waits for one.
    func open() async throws -> any Storage {
        var options = PostgreSQLOptions()
        options.readerPatience = 10_000
        return try PostgreSQLStorage(address: address, options: options)
    }

    /// Opens a connection to the schema.
    func connect() throws(StorageError) -> Connection {
        try Connection(PostgreSQLAddress(address), patience: 10_000)
    }

    /// Runs a statement in the schema, for what a storage never does itself.
    func run(_ sql: String) throws { try Self.run("SET search_path TO \(schema)", sql) }

    /// Ends the connections of storages, as a restart of the server would.
    func endOtherConnections() throws {
        try Self.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = '\(schema)'
            """
        )
    }

    /// Runs a statement in a transaction that stays open until the lock is released.
    func hold(_ sql: String) throws -> OtherSession {
        let lock = OtherSession(PQconnectdb(Self.server))
        for statement in ["SET search_path TO \(schema)", "BEGIN", sql] { try lock.run(statement) }
        return lock
    }

    /// A transaction of another program.
    final class OtherSession {
        private let handle: OpaquePointer?

        fileprivate init(_ handle: OpaquePointer?) { self.handle = handle }

        deinit { PQfinish(handle) }

        fileprivate func run(_ statement: String) throws {
            let result = PQexec(handle, statement)
            defer { PQclear(result) }
            let isDone = [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result))
            guard isDone else { throw Refusal(message: String(cString: PQerrorMessage(handle))) }
        }

        func release() { PQclear(PQexec(handle, "ROLLBACK")) }
    }

    /// Runs statements one after another, each in a transaction of its own.
    private static func run(_ statements: String...) throws {
        let connection = OtherSession(PQconnectdb(server))
        for statement in statements { try connection.run(statement) }
    }

    struct Refusal: Error {
        let message: String
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, visibly, where no PostgreSQL was started for it.
    static var onPostgreSQL: Self {
        .enabled(
            if: TestDatabase.server != nil,
            "TIDEOVER_TEST_POSTGRES names no database; scripts/postgres.sh starts one"
        )
    }
}
