import TideoverAppStore
import TideoverCommandLine
import TideoverCore
import TideoverRevenueCat
import TideoverServer

/// Prints an inspection for a terminal. Control characters in the input are escaped, so that the
/// input cannot mislead the reader.
struct InspectionPrinter {
    private let output: Output

    init(_ output: Output) {
        self.output = output
    }

    func print(_ inspection: Inspection) {
        output.print("input      \(inspection.input.words)")
        switch inspection.verdict {
        case .refused(let code, let sentence):
            output.print("verdict    \(output.styled("refused", .bad)) (\(code))")
            output.print("reason     \(TextLayout.visible(sentence))")
        case .unsigned(let reading, let facts, let standings):
            output.print("verdict    \(output.styled("unsigned", .strong))")
            output.print("reason     \(Inspection.unsignedSentence)")
            let customer = reading.customer?.text ?? "?"
            output.print("customer   \(TextLayout.visible(customer))")
            output.print("requested  \(reading.subscriber.requestDate.rfc3339)")
            for note in reading.notes {
                output.print("note       \(TextLayout.visible(note.sentence))")
            }
            print(facts)
            print(standings, at: inspection.instant)
        case .accepted(let reading, let facts, let standings):
            output.print("verdict    \(output.styled("accepted", .good))")
            let kind = [reading.kind.rawValue, reading.notificationType, reading.subtype]
                .compactMap(\.self).joined(separator: " ")
            output.print("kind       \(TextLayout.visible(kind))")
            output.print("signed     \(reading.signedAt.rfc3339)")
            let claim =
                reading.claimedEnvironment.map {
                    " (it says \(TextLayout.visible($0)))"
                } ?? ""
            output.print("for        \(reading.environment.rawValue)\(claim)")
            for note in reading.notes {
                output.print("note       \(TextLayout.visible(note.sentence))")
            }
            print(facts)
            print(standings, at: inspection.instant)
        }
    }

    private func print(_ facts: [Fact]) {
        guard !facts.isEmpty else {
            output.print("\nIt would change nothing.")
            return
        }
        output.print("\nIt states")
        var table = Table([.init("asserted"), .init("fact"), .init("content")])
        for fact in facts {
            table.add(
                .init(fact.assertedAt.rfc3339),
                .init(fact.assertion.word),
                .init(fact.assertion.summary)
            )
        }
        output.print(table)
    }

    private func print(_ standings: [Inspection.LineageStanding], at instant: Instant) {
        guard !standings.isEmpty else { return }
        output.print("\nBy itself, at \(instant.rfc3339), that means")
        for found in standings {
            let standing = found.standing
            let access =
                standing.access
                ? output.styled("access", .good) : output.styled("no access", .bad)
            let until = standing.accessUntil.map { " until \($0.rfc3339)" } ?? ""
            let name = TextLayout.visible(standing.productId ?? found.lineage.key)
            output.print("  \(name): \(access)\(standing.access ? until : "")")
            output.print(
                "  \(standing.state.rawValue) (\(standing.reason.rawValue), "
                    + "\(standing.confidence.rawValue)), rule \(standing.rule.rawValue)"
            )
            output.print("  \(standing.rule.sentence)")
        }
    }
}
