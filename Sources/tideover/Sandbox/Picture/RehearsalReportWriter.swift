import TideoverCommandLine
import TideoverCore
import TideoverDashboard
import TideoverHTTP
import TideoverJSON
import TideoverSandbox

/// Prints a report for a terminal: the picture, the totals, and one person in detail.
struct RehearsalReportWriter {
    private let rehearsalReport: RehearsalReport
    private let output: Output

    /// Longer lines are hard to read.
    private static let widestText = 80

    init(_ rehearsalReport: RehearsalReport, _ output: Output) {
        self.rehearsalReport = rehearsalReport
        self.output = output
    }

    /// Prints the picture and the totals.
    func tell() {
        let printer = RehearsalReportPrinter(rehearsalReport, output.resultTerminal)
        output.print(output.styled(rehearsalReport.name, .strong))
        paragraph(
            "Simulated stores sign every message; the real server verifies, stores and answers. Each "
                + "customer has two lines: what Tideover said, and where a check of the expiry date "
                + "would have been wrong."
        )
        output.print()
        for line in printer.picture { output.print(line) }
        output.print()
        for line in printer.legend { output.print(line) }
        paragraph(printer.grain, .quiet)
        output.print()
        for (number, sentence) in rehearsalReport.sentences.enumerated() {
            paragraph(sentence, hanging: "  ", number == 0 ? .strong : nil)
        }
    }

    /// Prints why a person has or lacks access at the end, and the person's history.
    func tell(why: JSONNode, of track: CustomerTrack) {
        let name = TextLayout.visible(track.name)
        output.print(
            "\n\(output.styled("Why \(name), on \(Self.minute(rehearsalReport.until))?", .strong))"
        )
        ExplanationPrinter(output).printShortly(why)
        output.print("\n\(output.styled("What \(name) lived through", .strong))")
        output.print(table(of: track))
    }

    /// Below this width, the table has no column for the end, which the next line's start implies.
    private static let narrowestTable = 64

    private func table(of track: CustomerTrack) -> Table {
        let terminal = output.resultTerminal
        let isNarrow = terminal.isInteractive && terminal.width < Self.narrowestTable
        let ends: [Table.Column] = isNarrow ? [] : [.init("until")]
        var table = Table([.init("from")] + ends + [.init("Tideover"), .init("an expiry check")])
        for phase in track.phases {
            let (from, until) = (Self.minute(phase.from), Self.minute(phase.until))
            table.add(
                [Table.Cell(isNarrow ? String(from.prefix(10)) : from)]
                    + (isNarrow ? [] : [Table.Cell(until)])
                    + [
                        Table.Cell(phase.value.word, phase.value.hasAccess ? .good : nil),
                        error(of: track.mistakes, in: phase),
                    ]
            )
        }
        return table
    }

    private func error(of mistakes: [ValueInterval<Mistake>], in phase: ValueInterval<Phase>)
        -> Table.Cell
    {
        let start = phase.from + ExpiryCheck.messageTime
        let wrong = mistakes.first { $0.meets(from: start, until: phase.until) }
        switch wrong?.value {
        case .lockedOut: return Table.Cell("locks out", .bad)
        case .servedUnpaid: return Table.Cell("serves unpaid", .bad)
        case nil: return "says the same"
        }
    }

    private static func minute(_ instant: Instant) -> String {
        String(InstantText.writeForPeople(instant.millisecondsSince1970).prefix(16))
    }

    /// Prints example requests to the server with the finished story.
    func tellQuestions(_ address: ListenAddress, app: String) {
        output.print("\nTry it; its clock stopped at asOf \(rehearsalReport.until.rfc3339):")
        let root = "http://\(address)/v1/apps/\(app)/customers"
        if let track = rehearsalReport.protagonist {
            output.print(
                "\n  # \(TextLayout.visible(track.name)): the answer, why, and the whole life"
            )
            for route in ["", "/explain", "/timeline"] {
                output.print("  curl '\(root)/\(track.person)\(route)?environment=simulated'")
            }
            if let first = track.mistakes.first(where: { $0.value == .lockedOut }) {
                let query = "environment=simulated&at=\(first.from.rfc3339)"
                output.print("\n  # why, at the moment from which an expiry check denies it first")
                output.print("  curl '\(root)/\(track.person)/explain?\(query)'")
            }
        }
        output.print("\n  # the others")
        for track in rehearsalReport.tracks
        where track.person != rehearsalReport.protagonist?.person {
            output.print("  \(track.person)  \(TextLayout.visible(track.name))")
        }
        output.print("")
    }

    private func paragraph(_ text: String, hanging indent: String = "", _ style: Style? = nil) {
        let width = min(Self.widestText, output.resultTerminal.width) - indent.count
        for (number, line) in TextLayout.wrapped(text, to: width).enumerated() {
            let styled = output.resultTerminal.styled(line, style)
            output.print(number == 0 ? styled : indent + styled)
        }
    }
}
