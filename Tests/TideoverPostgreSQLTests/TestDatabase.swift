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
    var address: String { Self.address("options=-csearch_path%3D\(schema)") }

    static func address(_ parameter: String) -> String {
        let server = server ?? ""
        return server + (server.contains("?") ? "&" : "?") + parameter
    }

    func open() async throws -> any Storage { try PostgreSQLStorage(address: address) }

    /// Opens a connection to the schema.
    func connect() throws(StorageError) -> Connection {
        try Connection(PostgreSQLAddress(address), patience: 10_000)
    }

    /// Runs a statement in the schema, for what a storage never does itself.
    func run(_ sql: String) throws { try Self.run("SET search_path TO \(schema)", sql) }

    /// Runs statements one after another, each in a transaction of its own.
    private static func run(_ statements: String...) throws {
        let handle = PQconnectdb(server)
        defer { PQfinish(handle) }
        for statement in statements {
            let result = PQexec(handle, statement)
            defer { PQclear(result) }
            let isDone = [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result))
            guard isDone else {
                throw Refusal(message: String(cString: PQerrorMessage(handle)))
            }
        }
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
