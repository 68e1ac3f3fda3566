import Testing
import TideoverCore
import TideoverStorage

/// Damaged rows are reported, and never read as other values.
@Suite struct StoredRowReaderTests {
    private enum Value {
        case null
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
    }

    private struct MadeRow: StoredRow {
        let values: [Value]

        func isNull(_ column: Int32) -> Bool {
            if case .null = values[Int(column)] { true } else { false }
        }

        func integer(_ column: Int32) -> Int64 {
            if case .integer(let number) = values[Int(column)] { number } else { 0 }
        }

        func text(_ column: Int32) -> String {
            if case .text(let text) = values[Int(column)] { text } else { "" }
        }

        func bytes(_ column: Int32) -> [UInt8] {
            switch values[Int(column)] {
            case .bytes(let bytes): bytes
            case .text(let text): Array(text.utf8)
            case .null, .integer: []
            }
        }
    }

    private let rows = StoredRowReader("/srv/tideover.db")
    private static let id = "01890000-0000-7000-8000-000000000001"

    private func expectDamage(
        _ detail: String,
        _ values: [Value],
        location: SourceLocation = #_sourceLocation,
        read: (MadeRow) throws(StorageError) -> some Any
    ) {
        let expected = StorageError(.corrupt, place: "/srv/tideover.db", detail: detail)
        let error = #expect(throws: StorageError.self, sourceLocation: location) {
            _ = try read(MadeRow(values: values))
        }
        #expect(error == expected, sourceLocation: location)
    }

    @Test func `a customer without an id is damage`() {
        let none = "a customer has no id"
        expectDamage(none, [.text(""), .text("a"), .null], read: rows.listedCustomer)
        expectDamage(none, [.text("a"), .text(""), .null], read: rows.listedCustomer)
        let alias: [Value] = [.text("a"), .text(""), .integer(1), .text("why"), .text("by")]
        expectDamage(none, alias, read: rows.alias)
        expectDamage(none, Array(repeating: .null, count: 12)) { row throws(StorageError) in
            try rows.answer(row, in: AppScope("cards", .production))
        }
    }

    @Test func `an event without an id, an environment or a customer is damage`() {
        let whole: [Value] = [
            .text(Self.id), .text("production"), .text("anna"), .integer(1), .text("kind"),
            .integer(7), .bytes([]),
        ]
        for column in 0..<3 {
            for wrong in [Value.null, .text(""), .text(column == 2 ? "" : "x")] {
                var values = whole
                values[column] = wrong
                expectDamage("an event cannot be read", values) { row throws(StorageError) in
                    try rows.event(row, of: "cards")
                }
            }
        }
        let unread = "the id of an event cannot be read"
        expectDamage(unread, [.text("x"), .integer(1), .integer(1)], read: rows.delivery)
        let line: [Value] = [.text("x"), .text("production"), .text("{}")]
        expectDamage("a line of the audit cannot be read", line, read: rows.auditRecord)
    }

    /// An empty list of apps permits every app.
    @Test func `a key with an unreadable list of apps permits nothing`() throws {
        func values(_ apps: Value, digest: Int = 32, kind: String = "admin") -> [Value] {
            [
                .text("id"), .bytes(Array(repeating: 1, count: digest)), .text(kind), apps,
                .text("name"), .integer(1), .null,
            ]
        }
        for apps in ["", "[", "{}", "null", #""cards""#, #"["cards",1]"#, "[[]]", "[null]"] {
            expectDamage("a key cannot be read", values(.text(apps)), read: rows.key)
        }
        expectDamage("a key cannot be read", values(.null), read: rows.key)
        expectDamage("a key cannot be read", values(.text("[]"), digest: 31), read: rows.key)
        expectDamage("a key cannot be read", values(.text("[]"), kind: "x"), read: rows.key)
        let key = try rows.key(MadeRow(values: values(.text(#"["cards"]"#))))
        #expect(key.apps == ["cards"])
        #expect(key.revokedAt == nil)
    }

    @Test func `other unknown words are damage`() {
        let prompt: [Value] = [.text("p"), .text("x"), .integer(1), .null]
        expectDamage("a prompt has no known kind", prompt, read: rows.prompt)
        let tally: [Value] = [.text("x"), .text("k"), .text("n"), .integer(1)]
        expectDamage("a count has an unknown environment", tally, read: rows.tally)
        let figures: [Value] = [.text("x"), .text("s"), .integer(1), .null]
        expectDamage("stale figures have no kind", figures, read: rows.staleFigures)
        expectDamage("a stored form is no JSON", [.text("{")], read: rows.drift)
    }

    /// The columns of a pass are null together, and an attempt without a status has null.
    @Test func `null is no zero and no empty text`() throws {
        let row = MadeRow(
            values: [
                .integer(3), .text("{}"), .null, .text("p"), .integer(7), .null, .null, .null,
                .null, .null, .text("anna"), .null,
            ]
        )
        let answer = try rows.answer(row, in: AppScope("cards", .production))
        #expect(answer.validUntil == nil)
        #expect(answer.pass == nil)
        #expect(answer.reconciledAt == nil)
        #expect(answer.presented == PresentedStores())
        let attempt = try rows.attempt(
            MadeRow(
                values: [
                    .integer(1), .text(Self.id), .integer(7), .integer(1), .text("lost"), .null,
                    .null,
                ]
            )
        )
        #expect(attempt.status == nil)
        #expect(attempt.detail == nil)
        let attribute = MadeRow(values: [.text("name"), .null, .integer(7)]).attribute
        #expect(attribute.value == nil)
        let (tally, count) = try rows.tally(
            MadeRow(values: [.text(""), .text("k"), .text("n"), .integer(2)])
        )
        #expect(tally.environment == nil)
        #expect(count == 2)
    }
}
