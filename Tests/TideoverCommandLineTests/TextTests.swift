import Testing

@testable import TideoverCommandLine

@Suite struct TextLayoutTests {
    @Test func `a counted noun is in the plural unless there is one`() {
        #expect(TextLayout.counted(0, "day") == "0 days")
        #expect(TextLayout.counted(1, "day") == "1 day")
        #expect(TextLayout.counted(Int64(2), "day") == "2 days")
        let plural = "pieces of evidence"
        #expect(TextLayout.counted(1, "piece of evidence", plural: plural) == "1 piece of evidence")
        #expect(TextLayout.counted(3, "piece of evidence", plural: plural) == "3 \(plural)")
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한", 2), ("👍🏽", 2),
        ("👨‍👩‍👧", 2), ("\u{2764}\u{FE0F}", 2), ("\u{200B}", 0), ("\n", 0), ("Ω→", 2), ("ｆ", 2),
    ])
    func `width is counted in columns`(text: String, width: Int) {
        #expect(TextLayout.width(of: text) == width)
    }

    @Test(arguments: [
        ("plain", "plain"), ("a\nb\tc\r", "a\\nb\\tc\\r"), ("\u{1B}[2J", "\\u{1B}[2J"),
        ("\u{202E}txt.exe", "\\u{202E}txt.exe"), ("日本 é", "日本 é"), ("\u{9B}x", "\\u{9B}x"),
    ])
    func `control characters are escaped`(text: String, shown: String) {
        #expect(TextLayout.visible(text) == shown)
    }

    @Test func `lines break between words`() {
        let text = "to be or not to be"
        #expect(TextLayout.wrapped(text, to: 8) == ["to be or", "not to", "be"])
        #expect(TextLayout.wrapped("a\n\nb", to: 8) == ["a", "", "b"])
        #expect(TextLayout.wrapped("", to: 8) == [""])
    }

    @Test func `a word wider than the line is broken`() {
        #expect(TextLayout.wrapped("a abcdefghij", to: 4) == ["a", "abcd", "efgh", "ij"])
        #expect(TextLayout.wrapped("日本語", to: 4) == ["日本", "語"])
        #expect(TextLayout.wrapped("日本", to: 1) == ["日", "本"])
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc..."), ("abc", 2, ".."), ("日本語", 5, "日..."),
        ("abc", 0, ""),
    ])
    func `a truncated text ends in dots`(text: String, width: Int, cut: String) {
        #expect(TextLayout.truncated(text, to: width) == cut)
    }
}

@Suite struct TableTests {
    private func sample(_ overflow: Table.Overflow = .wrap) -> Table {
        var table = Table(
            [Table.Column("id"), Table.Column("days", .trailing), Table.Column("why")],
            overflow: overflow
        )
        table.add("u_42", "7", "the store says that it will try again")
        table.add("日本", "140", "expired")
        return table
    }

    @Test func `columns are as wide as their widest cell`() {
        #expect(
            sample().rendered(for: .plain) == """
                id    days  why
                ----  ----  -------------------------------------
                u_42     7  the store says that it will try again
                日本   140  expired
                """
        )
    }

    @Test func `the last column wraps under itself`() {
        #expect(
            sample().rendered(width: 32) == """
                id    days  why
                ----  ----  --------------------
                u_42     7  the store says that
                            it will try again
                日本   140  expired
                """
        )
    }

    @Test func `the last column can be truncated instead`() {
        #expect(
            sample(.truncate).rendered(width: 28) == """
                id    days  why
                ----  ----  ----------------
                u_42     7  the store say...
                日本   140  expired
                """
        )
    }

    @Test func `an overrunning column is never wrapped`() {
        let narrow = Terminal(isInteractive: true, usesColour: false, width: 28)
        #expect(sample(.overrun).rendered(for: narrow) == sample().rendered(for: .plain))
    }

    @Test func `a file is never truncated and a terminal is`() {
        let narrow = Terminal(isInteractive: true, usesColour: false, width: 28)
        #expect(sample(.truncate).rendered(for: narrow).contains("the store say..."))
        let file = Terminal(isInteractive: false, usesColour: false, width: 28)
        #expect(sample(.truncate).rendered(for: file).contains("it will try again"))
    }

    @Test func `styles add colour and keep the columns`() {
        var table = Table([Table.Column("state"), Table.Column("n", .trailing)])
        table.add(Table.Cell("active", .good), "1")
        let coloured = Terminal(isInteractive: true, usesColour: true, width: 80)
        #expect(
            table.rendered(for: coloured) == """
                \u{1B}[1mstate\u{1B}[0m   \u{1B}[1mn\u{1B}[0m
                \u{1B}[2m------  -\u{1B}[0m
                \u{1B}[32mactive\u{1B}[0m  1
                """
        )
        #expect(table.rendered(for: .plain) == "state   n\n------  -\nactive  1")
    }

    @Test func `a line break in a cell does not break its row`() {
        var table = Table([Table.Column("id")])
        table.add("a\nb")
        #expect(table.rendered(for: .plain) == "id\n----\na\\nb")
    }

    @Test func `an empty table shows its column titles`() {
        let table = Table([Table.Column("id"), Table.Column("why")])
        #expect(table.isEmpty)
        #expect(table.rendered(for: .plain) == "id  why\n--  ---")
    }
}
