import Testing
import TideoverPostgreSQL
import TideoverStorage

@Suite struct `A value in a statement` {
    private static let texts = [
        "", "a", "\u{0}", "\u{1}", "\u{1}0", "\u{0}\u{1}\u{2}", "a\u{0}", "a\u{1}", "a\u{2}", "a b",
        "a'b\"c\\d", "{\"a\",NULL}", "NULL", "ä\u{301}", "日本語", "\u{10FFFF}",
    ]

    @Test(.onPostgreSQL)
    func `is read as it was sent`() throws {
        let connection = try TestDatabase().connect()
        for text in Self.texts {
            let answer = try connection.ask("SELECT $1", .text(text))
            #expect(try answer.first { Array($0.text(0).utf8) } == Array(text.utf8))
        }
        for number in [Int64.min, -1, 0, 1, 255, 256, .max] {
            let answer = try connection.ask("SELECT $1", .integer(number))
            #expect(try answer.first { $0.integer(0) } == number)
        }
        let narrow = try connection.ask("SELECT -2::smallint, 70000::integer, NULL")
        #expect(
            try narrow.first { $0.integer(0) == -2 && $0.integer(1) == 70_000 && $0.isNull(2) }
                == true
        )
    }

    @Test(.onPostgreSQL)
    func `keeps its place in the order of bytes`() throws {
        let connection = try TestDatabase().connect()
        let answer = try connection.ask(
            #"SELECT t FROM unnest($1) AS t ORDER BY t COLLATE "C""#,
            .texts(Self.texts)
        )
        let sorted = Self.texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(try answer.all { Array($0.text(0).utf8) } == sorted.map { Array($0.utf8) })
    }

    @Test(.onPostgreSQL)
    func `is not in the message of a failure`() throws {
        let connection = try TestDatabase().connect()
        let answer = try connection.ask("SELECT $1::bigint", .text("secret"))
        let error = #expect(throws: StorageError.self) { try answer.count() }
        #expect(error?.reason == .refused)
        #expect(error?.description.contains("secret") == false)
    }

    @Test(.onPostgreSQL)
    func `after a failure can be read again`() throws {
        let connection = try TestDatabase().connect()
        let failed = try connection.ask("SELECT 1/$1", .integer(0))
        let skipped = try connection.ask("SELECT $1", .integer(1))
        #expect(throws: StorageError.self) { try failed.count() }
        #expect(throws: StorageError.self) { try skipped.count() }
        let next = try connection.ask("SELECT $1", .integer(2))
        #expect(try next.first { $0.integer(0) } == 2)
    }
}
