import Testing
import TideoverPostgreSQL
import TideoverStorage

@Suite struct `A repeated statement` {
    private static let statement: StaticString = "SELECT length($1)"

    private let connection: Connection

    init() throws {
        connection = try TestDatabase().connect()
    }

    private func length(of value: SQLValue) throws -> Answer {
        try connection.ask(Self.statement, value)
    }

    private func preparedCount() throws -> Int64? {
        try connection.ask(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement = $1",
            .text("\(Self.statement)")
        ).first { $0.integer(0) }
    }

    @Test(.onPostgreSQL)
    func `is prepared once, at its second use`() throws {
        for (text, expected) in [("a", 0), ("bc", 1), ("", 1)] {
            #expect(try length(of: .text(text)).first { $0.integer(0) } == Int64(text.count))
            #expect(try preparedCount() == Int64(expected))
        }
        #expect(try length(of: .null).first { $0.isNull(0) } == true)
    }

    @Test(.onPostgreSQL)
    func `with values of other types is sent as it is`() throws {
        for text in ["a", "bc"] { _ = try length(of: .text(text)).count() }
        #expect(try length(of: .bytes([0, 1, 2])).first { $0.integer(0) } == 3)
        #expect(try length(of: .text("four")).first { $0.integer(0) } == 4)
    }

    /// As behind a pooler that passes the process number of the database on.
    @Test(.onPostgreSQL)
    func `that the server does not know is sent as it is from then on`() throws {
        for text in ["a", "bc"] { _ = try length(of: .text(text)).count() }
        _ = try connection.ask("DEALLOCATE ALL").count()
        let unknown = try length(of: .text("def"))
        let error = #expect(throws: StorageError.self) { try unknown.count() }
        #expect(error?.reason == .busy)
        #expect(connection.hadConflict)
        for text in ["def", "g", "hi"] {
            #expect(try length(of: .text(text)).first { $0.integer(0) } == Int64(text.count))
        }
        #expect(try preparedCount() == 0)
    }

    @Test(.onPostgreSQL)
    func `whose preparation was skipped after a failure is prepared later`() throws {
        _ = try length(of: .text("a")).count()
        try connection.ask("SELECT $1::bigint", .text("no number"))
        let skipped = try length(of: .text("bc"))
        #expect(throws: StorageError.self) { try skipped.count() }
        #expect(try preparedCount() == 0)
        for text in ["bc", "def"] {
            #expect(try length(of: .text(text)).first { $0.integer(0) } == Int64(text.count))
        }
        #expect(try preparedCount() == 1)
    }
}
