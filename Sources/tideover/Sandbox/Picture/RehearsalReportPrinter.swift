import TideoverCommandLine
import TideoverCore
import TideoverDashboard
import TideoverSandbox

/// Draws a report for a terminal. Each person has two lines: the server's answers, and the
/// mistakes of an expiry check. A column is a few days.
struct RehearsalReportPrinter {
    private let rehearsalReport: RehearsalReport
    private let terminal: Terminal
    private let scale: TimeScale
    /// The number of columns before the picture.
    private let margin: Int
    /// Whether the margin has room for more than names.
    private let hasNotes: Bool

    /// Below this width, the margin contains only names.
    private static let narrowestWithNotes = 60
    private static let widestMargin = 22
    private static let narrowestPicture = 12
    /// Columns are never shorter than a day.
    private static let shortestColumn = Milliseconds.days(1)

    init(_ rehearsalReport: RehearsalReport, _ terminal: Terminal) {
        self.rehearsalReport = rehearsalReport
        self.terminal = terminal
        let hasNotes = terminal.width >= Self.narrowestWithNotes
        self.hasNotes = hasNotes
        let labels = rehearsalReport.tracks.flatMap { track in
            [Self.name(track, hasNotes), hasNotes ? Self.note(track) : ""]
        }
        let longest = labels.map { TextLayout.width(of: $0) }.max() ?? 0
        margin = min(longest, hasNotes ? Self.widestMargin : terminal.width / 4) + 1
        let days = (rehearsalReport.until - rehearsalReport.from).count / Self.shortestColumn.count
        let room = max(Self.narrowestPicture, terminal.width - 1 - margin)
        scale = TimeScale(
            from: rehearsalReport.from,
            until: rehearsalReport.until,
            places: min(room, max(Self.narrowestPicture, Int(days)))
        )
    }

    private static func name(_ track: CustomerTrack, _ isLong: Bool) -> String {
        let name = TextLayout.visible(track.name)
        return isLong ? "\(name), \(track.stores.rawValue)" : name
    }

    private static func note(_ track: CustomerTrack) -> String {
        track.note.map { " \(TextLayout.visible($0))" } ?? ""
    }

    /// The months, then two lines for each person.
    var picture: [String] {
        [axis]
            + rehearsalReport.tracks.flatMap { track in
                let name = TextLayout.truncated(Self.name(track, hasNotes), to: margin - 1)
                let note = hasNotes ? Self.note(track) : ""
                return [
                    line(name, .strong, columns { glyph(of: track.phases, $0, $1) }),
                    line(
                        TextLayout.truncated(note, to: margin - 1),
                        .quiet,
                        columns { mark(of: track.mistakes, $0, $1) }
                    ),
                ]
            }
    }

    // MARK: Columns

    private typealias Glyph = (text: String, style: Style?)

    private func columns(_ glyph: (Instant, Instant) -> Glyph) -> [Glyph] {
        (0..<scale.places).map { glyph(scale.start(of: $0), scale.start(of: $0 + 1)) }
    }

    private func glyph(of phases: [ValueInterval<Phase>], _ from: Instant, _ until: Instant)
        -> Glyph
    {
        let met = phases.filter { $0.meets(from: from, until: until) }
        return glyph(met.map(\.value).max { $0.rawValue < $1.rawValue } ?? .never)
    }

    private func glyph(_ phase: Phase) -> Glyph {
        switch phase {
        case .never: (" ", nil)
        case .ended: (terminal.usesUnicode ? "\u{B7}" : ".", .quiet)
        case .active: (terminal.usesUnicode ? "\u{2501}" : "=", .good)
        case .trial: ("t", .good)
        case .paused: ("p", nil)
        case .grace: ("g", .caution)
        case .hold: ("h", nil)
        case .refunded: ("r", nil)
        }
    }

    private func mark(of mistakes: [ValueInterval<Mistake>], _ from: Instant, _ until: Instant)
        -> Glyph
    {
        let met = mistakes.filter { $0.meets(from: from, until: until) }.map(\.value)
        return met.contains(.lockedOut) ? mark(.lockedOut) : met.first.map(mark) ?? (" ", nil)
    }

    private func mark(_ mistake: Mistake) -> Glyph {
        switch mistake {
        case .lockedOut: ("X", .alarm)
        case .servedUnpaid: ("$", .caution)
        }
    }

    /// Joins glyphs, with one piece for each run of equal style.
    private func drawn(_ glyphs: [Glyph]) -> String {
        var glyphs = glyphs[...]
        while glyphs.last?.text == " " { glyphs.removeLast() }
        var line = ""
        while let first = glyphs.first {
            let run = glyphs.prefix { $0.style == first.style }
            line += terminal.styled(run.map(\.text).joined(), first.style)
            glyphs = glyphs.dropFirst(run.count)
        }
        return line
    }

    private func line(_ label: String, _ style: Style, _ glyphs: [Glyph]) -> String {
        let (text, picture) = (terminal.styled(label, style), drawn(glyphs))
        guard !picture.isEmpty else { return text }
        let blanks = max(0, margin - TextLayout.width(of: label))
        return text + String(repeating: " ", count: blanks) + picture
    }

    // MARK: The months

    /// Each month's name at its beginning, abbreviated to the available width.
    private var axis: String {
        let months = scale.months
        let letters = scale.places / max(1, months.count) > 3 ? 3 : 1
        var places = Array(repeating: Character(" "), count: scale.places)
        var free = 0
        for (name, start) in months {
            let place = scale.place(of: start)
            guard place >= free, place + letters <= places.count else { continue }
            places.replaceSubrange(place..<place + letters, with: name.prefix(letters))
            free = place + letters + letters / 2
        }
        let year =
            "\(InstantText.writeForPeople(rehearsalReport.from.millisecondsSince1970).prefix(4))"
        return line(hasNotes ? year : "", .quiet, places.map { (String($0), nil) })
    }

    // MARK: The legend

    /// The legend of the glyphs in the picture, in lines that fit the width.
    var legend: [String] {
        let shown = Set(rehearsalReport.tracks.flatMap { $0.phases.map(\.value) })
        let erring = Set(rehearsalReport.tracks.flatMap { $0.mistakes.map(\.value) })
        var items = Phase.drawn.filter(shown.contains).map { (glyph($0), $0.explanation) }
        if erring.contains(.lockedOut) {
            items.append((mark(.lockedOut), "here an expiry check locks out who is entitled"))
        }
        if erring.contains(.servedUnpaid) {
            items.append((mark(.servedUnpaid), "here it serves who is not"))
        }
        return lines(of: items)
    }

    /// The sentence about the length of a column.
    var grain: String {
        let days = RehearsalReport.days(scale.start(of: 1) - scale.from)
        return "A column is \(days), and shows the gravest of what happened in them."
    }

    private func lines(of items: [(glyph: Glyph, words: String)]) -> [String] {
        let gap = 3
        var lines: [(text: String, width: Int)] = []
        for (glyph, words) in items {
            let text = "\(terminal.styled(glyph.text, glyph.style)) \(words)"
            let width = TextLayout.width(of: "\(glyph.text) \(words)")
            if let last = lines.last, last.width + gap + width < terminal.width {
                lines[lines.count - 1].text += String(repeating: " ", count: gap) + text
                lines[lines.count - 1].width += gap + width
            } else if width < terminal.width {
                lines.append((text, width))
            } else {
                let parts = TextLayout.wrapped(words, to: terminal.width - 2)
                lines += parts.enumerated().map { number, part in
                    let glyph = number == 0 ? terminal.styled(glyph.text, glyph.style) : " "
                    return ("\(glyph) \(part)", terminal.width)
                }
            }
        }
        return lines.map(\.text)
    }
}
