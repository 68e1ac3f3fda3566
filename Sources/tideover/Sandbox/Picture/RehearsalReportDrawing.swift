import TideoverCore
import TideoverDashboard
import TideoverSandbox

/// Draws a report as an HTML page: one self-contained file, light or dark by the reader's
/// setting.
///
/// Bars have labels where there is room, so that colour is not the only sign.
struct RehearsalReportDrawing {
    private let rehearsalReport: RehearsalReport
    private let scale: TimeScale

    // In the drawing's own units; a small letter is about six wide.
    private static let width = 1040
    private static let margin = 190
    private static let rowHeight = 50
    private static let top = 30
    private static let letter = 6

    init(_ rehearsalReport: RehearsalReport) {
        self.rehearsalReport = rehearsalReport
        scale = TimeScale(
            from: rehearsalReport.from,
            until: rehearsalReport.until,
            places: Self.width - Self.margin - 10
        )
    }

    /// The beginning of every page.
    static let beginning = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>
        """

    /// The page, as HTML.
    var page: String {
        """
        \(Self.beginning)\(Self.escaped(rehearsalReport.name))</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <h1>\(Self.escaped(rehearsalReport.name))</h1>
        <p>Upper bars: what Tideover says, by what the stores have signed. Lower bars: where a check \
        of the expiry date would have been wrong.</p>
        <div class="drawing">\(drawing)</div>
        \(legend)
        <ul class="sums">
        \(rehearsalReport.sentences.map { "<li>\(Self.escaped($0))</li>" }.joined(separator: "\n"))
        </ul>
        </body>
        </html>

        """
    }

    private var drawing: String {
        let height = Self.top + Self.rowHeight * rehearsalReport.tracks.count + 4
        let rows = rehearsalReport.tracks.enumerated().map {
            row($1, at: Self.top + Self.rowHeight * $0)
        }
        return """
            <svg viewBox="0 0 \(Self.width) \(height)" role="img" \
            aria-label="\(Self.escaped(rehearsalReport.sentences.joined(separator: " ")))">
            \(months(down: height))
            \(rows.joined(separator: "\n"))
            </svg>
            """
    }

    private func months(down height: Int) -> String {
        scale.months.map { name, start in
            let x = position(start)
            return """
                <line class="month" x1="\(x)" x2="\(x)" y1="20" y2="\(height)"/>\
                <text class="month" x="\(x + 3)" y="16">\(name)</text>
                """
        }.joined(separator: "\n")
    }

    private func row(_ track: CustomerTrack, at top: Int) -> String {
        let phases = track.phases.filter { $0.value != .never }
        let note = track.note.map { Self.escaped($0) } ?? ""
        let bars =
            phases.map { bar($0, Self.name($0.value), $0.value.word, at: top, high: 18) }
            + track.mistakes.map { mistake in
                let (name, words) = (Self.name(mistake.value), Self.words(mistake))
                return bar(mistake, name, words, at: top + 21, high: 14)
                    + beside(mistake, words, at: top + 32)
            }
        return """
            <text class="name" x="0" y="\(top + 13)">\(Self.escaped(track.name))\
            <tspan class="note">, \(track.stores.rawValue)</tspan></text>
            <text class="note" x="0" y="\(top + 32)">\(note)</text>
            \(bars.joined(separator: "\n"))
            """
    }

    private func bar<Value>(
        _ interval: ValueInterval<Value>,
        _ name: String,
        _ words: String,
        at y: Int,
        high height: Int
    ) -> String {
        let x = position(interval.from)
        let width = max(2, position(interval.until) - x)
        let label =
            Self.fits(words, in: width)
            ? "<text class=\"on \(name)\" x=\"\(x + 4)\" y=\"\(y + height - 4)\">\(words)</text>"
            : ""
        let title = "\(words), \(Self.minute(interval.from)) to \(Self.minute(interval.until)) UTC"
        let shape = "x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\""
        return "<g><title>\(title)</title><rect class=\"\(name)\" \(shape)/>\(label)</g>"
    }

    /// Returns the label of a mistake that is too short to contain it. It follows the mistake, or
    /// precedes it at the end.
    private func beside(_ mistake: ValueInterval<Mistake>, _ words: String, at y: Int) -> String {
        let (start, end) = (position(mistake.from), position(mistake.until))
        if Self.fits(words, in: end - start) { return "" }
        if Self.fits(words, in: Self.width - end) {
            return "<text class=\"beside\" x=\"\(end + 4)\" y=\"\(y)\">\(words)</text>"
        }
        let place = "text-anchor=\"end\" x=\"\(start - 4)\" y=\"\(y)\""
        return "<text class=\"beside\" \(place)>\(words)</text>"
    }

    private static func fits(_ words: String, in width: Int) -> Bool {
        words.count * letter + 8 <= width
    }

    private func position(_ instant: Instant) -> Int {
        Self.margin
            + scale.place(of: min(max(instant, rehearsalReport.from), rehearsalReport.until))
    }

    private static func minute(_ instant: Instant) -> String {
        String(InstantText.writeForPeople(instant.millisecondsSince1970).prefix(16))
    }

    // MARK: Labels

    private static func words(_ mistake: ValueInterval<Mistake>) -> String {
        let days = RehearsalReport.days(mistake.length)
        return mistake.value == .lockedOut ? "locked out \(days)" : "served unpaid \(days)"
    }

    private static func name(_ mistake: Mistake) -> String {
        mistake == .lockedOut ? "lockedOut" : "servedUnpaid"
    }

    private static func name(_ phase: Phase) -> String { "\(phase)" }

    private var legend: String {
        let shown = Set(rehearsalReport.tracks.flatMap { $0.phases.map(\.value) })
        let erring = Set(rehearsalReport.tracks.flatMap { $0.mistakes.map(\.value) })
        var items = Phase.drawn.filter(shown.contains).map { (Self.name($0), $0.explanation) }
        if erring.contains(.lockedOut) {
            items.append(("lockedOut", "an expiry check locks out who is entitled"))
        }
        if erring.contains(.servedUnpaid) {
            items.append(("servedUnpaid", "an expiry check serves who is not"))
        }
        let swatches = items.map { name, words in
            "<li><svg class=\"swatch\" viewBox=\"0 0 26 14\"><rect class=\"\(name)\" width=\"26\" "
                + "height=\"14\"/></svg>\(Self.escaped(words))</li>"
        }
        return "<ul class=\"legend\">\n\(swatches.joined(separator: "\n"))\n</ul>"
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
    }

    /// The hues are distinct for colour-blind readers. Labels on bars have a contrast of at least
    /// 4.5:1.
    private static let style = """
        :root { color-scheme: light dark; --paper: #ffffff; --ink: #1c1f23; --quiet: #5c6570; --line: #dde1e6;
          --active: #0a7d53; --trial: #9bdcc0; --grace: #f2b134; --hold: #6a5fc1; --paused: #b8b4e6;
          --refunded: #5c6570; --ended: #e6e9ed; --wrong: #c4161c; --gift: #1f6fd0; }
        @media (prefers-color-scheme: dark) { :root { --paper: #15181c; --ink: #eceff2; --quiet: #a3acb6;
          --line: #2f353c; --active: #0f7d55; --trial: #8fd4b6; --grace: #f2b134; --hold: #7d72d6;
          --refunded: #6b7580; --ended: #2a3037; --wrong: #d9262c; } }
        body { margin: 2rem auto; max-width: 1100px; padding: 0 1rem; background: var(--paper); color: var(--ink);
          font: 16px/1.5 system-ui, sans-serif; }
        h1 { font-size: 1.4rem; margin: 0; }
        .drawing { overflow-x: auto; }
        svg[role=img] { width: 100%; min-width: 760px; height: auto; font: 11px system-ui, sans-serif; }
        text { fill: var(--ink); }
        text.name { font-size: 14px; font-weight: 600; }
        .note { font-size: 12px; font-weight: 400; fill: var(--quiet); }
        text.month { fill: var(--quiet); }
        line.month { stroke: var(--line); }
        rect.active { fill: var(--active); } rect.trial { fill: var(--trial); } rect.grace { fill: var(--grace); }
        rect.hold { fill: var(--hold); } rect.paused { fill: var(--paused); } rect.ended { fill: var(--ended); }
        rect.refunded { fill: var(--refunded); } rect.lockedOut { fill: var(--wrong); }
        rect.servedUnpaid { fill: var(--gift); }
        text.on { fill: #ffffff; font-weight: 600; }
        text.on.trial, text.on.grace, text.on.paused { fill: #1c1f23; }
        text.beside { font-weight: 600; }
        text.on.ended { fill: var(--quiet); }
        ul.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; padding: 0; list-style: none; font-size: .9rem; }
        .swatch { width: 26px; height: 14px; margin-right: .5rem; vertical-align: -2px; }
        ul.sums { padding-left: 1.2rem; }
        """
}
