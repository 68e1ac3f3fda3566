import Testing
import TideoverCommandLine

@testable import tideover

/// Compares the picture with one drawn by hand: sixty days in thirty columns.
@Suite struct RehearsalReportPrinterTests {
    private func terminal(
        _ width: Int,
        colour: Bool = false,
        unicode: Bool = false
    ) -> Terminal {
        Terminal(isInteractive: true, usesColour: colour, width: width, usesUnicode: unicode)
    }

    private func printer(_ terminal: Terminal) -> RehearsalReportPrinter {
        RehearsalReportPrinter(SampleRehearsalReport.whole, terminal)
    }

    @Test func `a row shows the states, and the row below the errors of an expiry check`() {
        // Names take five columns and one stays free at the edge: two days per column.
        #expect(
            printer(terminal(36)).picture == [
                "     Jan            Feb",
                "anna      tt==========ggggghhhrr...",
                "                      XXXXX   $$",
                "ben  ===============g====pppppppppp",
                "                    X",
            ]
        )
    }

    @Test func `the picture states the length of a column`() {
        let words = "A column is 2 days, and shows the gravest of what happened in them."
        #expect(printer(terminal(36)).grain == words)
        #expect(printer(terminal(300)).grain.hasPrefix("A column is 1 day,"))
    }

    @Test func `lines are drawn with line characters if Unicode is available`() {
        let picture = printer(terminal(36, unicode: true)).picture
        #expect(
            picture[1]
                == "anna      tt\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}\u{2501}ggggghhhrr\u{B7}\u{B7}\u{B7}"
        )
    }

    @Test func `colours cover runs, and only a lockout has a red background`() {
        let picture = printer(terminal(36, colour: true)).picture
        #expect(
            picture[2]
                == "                      \u{1B}[1;37;41mXXXXX\u{1B}[0m   \u{1B}[33m$$\u{1B}[0m"
        )
        #expect(picture[1].hasPrefix("\u{1B}[1manna\u{1B}[0m      \u{1B}[32mtt==========\u{1B}[0m"))
        #expect(!picture[1].contains("41m"))
    }

    @Test func `a single bad day stays visible however wide a column is`() {
        // At least twelve columns, of five days each.
        let picture = printer(terminal(16)).picture
        #expect(picture[3] == "ben  ======g=pppp")
        #expect(picture[4] == "           X")
    }

    @Test func `a wide terminal shows store and note, and at most one column a day`() {
        let picture = printer(terminal(200)).picture
        #expect(
            picture[1].hasPrefix("anna, App Store  " + String(repeating: " ", count: 10) + "tttt=")
        )
        #expect(picture[2].hasPrefix(" meets it all"))
        #expect(picture.allSatisfy { $0.count <= 17 + 60 })
        #expect(
            picture[3] == "ben, Google Play " + days("=", 30) + "g" + days("=", 9) + days("p", 20)
        )
    }

    private func days(_ glyph: String, _ count: Int) -> String {
        String(repeating: glyph, count: count)
    }

    @Test(arguments: [20, 24, 36, 40, 59, 60, 61, 79, 80, 81, 120, 300])
    func `no line is wider than the terminal`(width: Int) {
        let printer = printer(terminal(width))
        for line in printer.picture + printer.legend {
            #expect(TextLayout.width(of: line) <= width, "\(line)")
        }
    }

    @Test func `the legend lists the used symbols only`() {
        let legend = printer(terminal(200)).legend.joined(separator: "   ")
        #expect(
            legend.components("   ") == [
                "= active", "t trial", "g grace: payment failed, access kept",
                "h hold: payment failed, no access, may be saved", "p paused", "r refunded",
                ". ended", "X here an expiry check locks out who is entitled",
                "$ here it serves who is not",
            ]
        )
        let quiet = RehearsalReport(
            name: "Quiet",
            from: SampleRehearsalReport.day(0),
            until: SampleRehearsalReport.day(60),
            tracks: [],
            messages: 0,
            answers: 0,
            wrongAnswers: 0,
            took: .zero
        )
        #expect(RehearsalReportPrinter(quiet, terminal(80)).legend.isEmpty)
    }

    @Test func `the HTML page needs no other file and escapes names`() {
        let page = RehearsalReportDrawing(SampleRehearsalReport.whole).page
        #expect(page.contains("<h1>Two &lt;lives&gt; &amp; &quot;more&quot;</h1>"))
        #expect(page.contains("prefers-color-scheme: dark"))
        for outside in ["http", "src=", "href=", "@import", "url("] {
            #expect(!page.contains(outside))
        }
        let bars = ["trial", "active", "grace", "hold", "refunded", "ended", "paused"]
        for bar in bars + ["lockedOut", "servedUnpaid"] {
            #expect(page.contains("<rect class=\"\(bar)\" x="), "\(bar)")
        }
        #expect(page.contains("locked out 10 days, 2026-02-04 00:00 to 2026-02-14 00:00 UTC"))
        #expect(!page.contains("nothing bought"))
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [String] {
        split(separator: separator).map(String.init)
    }
}
