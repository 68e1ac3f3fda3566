import TideoverSQLite

/// What servers have stored, read while none of them runs.
protocol StoredWork {
    /// Whether a notification is stored.
    func holds(_ uuid: String) throws -> Bool

    /// Returns the facts and the version of a customer's answer. Events are read for all customers
    /// at once.
    func traces(of customer: String) throws -> Traces

    /// Returns the number of each customer's answer changes.
    func events() throws -> [String: Int]

    /// Returns the number of stored notifications.
    func evidenceCount() throws -> Int

    /// Returns how often a product outside the configuration was counted.
    func unlistedCount() throws -> Int

    /// Returns the engine's errors about its files; empty if they are intact.
    func problems() throws -> [String]
}

/// The stored data of one customer's notifications.
struct Traces: Hashable {
    var facts = 0
    var version = 0
    var events = 0
}

/// Reads a database file with its own statements while no server has it open.
struct Audit: StoredWork {
    private let connection: Connection
    private let hasEvidence: Statement
    private let customerFacts: Statement
    private let customerVersion: Statement

    /// Opens the file read-only, so that the server's write-ahead log remains.
    init(_ database: String) throws {
        connection = try Connection(path: database, access: .readOnly, busyTimeout: 1_000)
        hasEvidence = try Statement(
            """
            SELECT count(*) FROM evidence
            WHERE app = 'trials' AND environment = 'simulated' AND dedupe_key = ?
            """,
            on: connection
        )
        customerFacts = try Statement(
            """
            SELECT count(*) FROM owner JOIN fact USING (app, environment, lineage)
            WHERE app = 'trials' AND environment = 'simulated' AND customer = ?
            """,
            on: connection
        )
        customerVersion = try Statement(
            """
            SELECT version FROM customer
            WHERE app = 'trials' AND environment = 'simulated' AND customer = ?
            """,
            on: connection
        )
    }

    /// Returns the rows of a statement without parameters.
    func rows<Result>(_ sql: StaticString, _ read: (Row) -> Result) throws -> [Result] {
        try Statement(sql, on: connection).all(read: read)
    }

    func holds(_ uuid: String) throws -> Bool {
        try hasEvidence.first(.text("notification:\(uuid)")) { $0.integer(0) } == 1
    }

    func traces(of customer: String) throws -> Traces {
        var traces = Traces()
        traces.facts = Int(try customerFacts.first(.text(customer)) { $0.integer(0) } ?? 0)
        traces.version = Int(try customerVersion.first(.text(customer)) { $0.integer(0) } ?? 0)
        return traces
    }

    func events() throws -> [String: Int] {
        let counts = try Statement(
            """
            SELECT customer, count(*) FROM outbox
            WHERE app = 'trials' AND kind = 'entitlement_changed' GROUP BY customer
            """,
            on: connection
        )
        let rows = try counts.all { ($0.text(0), Int($0.integer(1))) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    /// Whether each customer's events have the order of their commits.
    func eventsAreInOrder() throws -> Bool {
        let events = try Statement(
            "SELECT customer, version FROM outbox WHERE app = 'trials' ORDER BY id",
            on: connection
        )
        var latest: [String: Int64] = [:]
        return try events.all { ($0.text(0), $0.integer(1)) }.allSatisfy { customer, version in
            defer { latest[customer] = version }
            return version >= latest[customer] ?? 0
        }
    }

    func evidenceCount() throws -> Int {
        Int(try connection.integer("SELECT count(*) FROM evidence") ?? 0)
    }

    func unlistedCount() throws -> Int {
        let sum = try connection.integer(
            "SELECT sum(count) FROM tally WHERE kind = 'unknown-product'"
        )
        return Int(sum ?? 0)
    }

    func problems() throws -> [String] {
        try Statement("PRAGMA integrity_check", on: connection).all { $0.text(0) }
            .filter { $0 != "ok" }
    }
}
