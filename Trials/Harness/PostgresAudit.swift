import TideoverCommandLine
import TideoverPostgreSQL
import TideoverStorage

/// Reads a PostgreSQL database with its own statements, after the last server has closed it or
/// beside servers without work.
struct PostgresAudit: StoredWork {
    /// A server process of the database still works for a server that was killed.
    struct StillInUse: ReportableFailure {
        let message = "a killed server's transactions did not end"
        let exitCode = ExitCode.failure
    }

    private let connection: Connection
    /// In milliseconds: the indexes of a million notifications are compared for many seconds.
    private static let patience: Int64 = 600_000

    init(_ address: String, besideServers: Bool = false) throws {
        let parameter = (address.contains("?") ? "&" : "?") + "application_name=audit"
        connection = try Connection(PostgreSQLAddress(address + parameter), patience: Self.patience)
        if !besideServers { try waitForOthers() }
    }

    /// The database works off what a killed server sent, and may commit it.
    private func waitForOthers() throws {
        for _ in 0..<1_000 {
            let others = try connection.ask(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tideover'"
            )
            if try others.first({ $0.integer(0) }) == 0 { return }
            pause(10)
        }
        throw StillInUse()
    }

    func holds(_ uuid: String) throws -> Bool {
        try count(
            """
            SELECT count(*) FROM evidence
            WHERE app = 'trials' AND environment = 'simulated' AND dedupe_key = $1
            """,
            .text("notification:\(uuid)")
        ) == 1
    }

    func traces(of customer: String) throws -> Traces {
        var traces = Traces()
        traces.facts = try count(
            """
            SELECT count(*) FROM owner JOIN fact USING (app, environment, lineage)
            WHERE app = 'trials' AND environment = 'simulated' AND customer = $1
            """,
            .text(customer)
        )
        traces.version = try count(
            """
            SELECT version FROM customer
            WHERE app = 'trials' AND environment = 'simulated' AND customer = $1
            """,
            .text(customer)
        )
        return traces
    }

    func events() throws -> [String: Int] {
        let counts = try connection.ask(
            """
            SELECT customer, count(*) FROM outbox
            WHERE app = 'trials' AND kind = 'entitlement_changed' GROUP BY customer
            """
        )
        let rows = try counts.all { ($0.text(0), Int($0.integer(1))) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    func evidenceCount() throws -> Int { try count("SELECT count(*) FROM evidence") }

    func unlistedCount() throws -> Int {
        try count(
            """
            SELECT coalesce(sum(count), 0)::bigint FROM tally WHERE kind = 'unknown-product'
            """
        )
    }

    /// Compares every index with its table.
    func problems() throws -> [String] {
        _ = try connection.ask("CREATE EXTENSION IF NOT EXISTS amcheck").count()
        let checks = try connection.ask(
            """
            SELECT count(bt_index_check(indexrelid, true)) FROM pg_index
            JOIN pg_class ON pg_class.oid = indrelid
            WHERE relnamespace = current_schema()::regnamespace
            """
        )
        do {
            let count = try checks.first { $0.integer(0) } ?? 0
            return count > 0 ? [] : ["no index was checked"]
        } catch {
            return [error.description]
        }
    }

    private func count(_ sql: StaticString, _ values: SQLValue...) throws -> Int {
        Int(try connection.ask(sql, with: values).first { $0.integer(0) } ?? 0)
    }
}
