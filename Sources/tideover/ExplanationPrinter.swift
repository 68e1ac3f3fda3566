import TideoverCommandLine
import TideoverCore
import TideoverServer
import TideoverStorage

/// An explanation in words, for a person at a terminal: the answer, why, the evidence, what is next.
struct ExplanationPrinter {
    private let output: Output

    init(_ output: Output) {
        self.output = output
    }

    func print(_ explanation: CustomerExplanation) {
        let known = explanation.asKnownAt.map { ", by what was known at \($0.rfc3339)" } ?? ""
        paragraph(
            "\(explanation.key.customer.text) in \(explanation.key.app), "
                + "\(explanation.key.environment.rawValue), at \(explanation.asOf.rfc3339)\(known)",
            indent: ""
        )
        if explanation.explanations.isEmpty { paragraph("No product unlocks anything.") }
        for entitlement in explanation.explanations { print(entitlement) }
    }

    private func print(_ explanation: Explanation) {
        output.print()
        printAnswer(explanation.decision)
        title("Why")
        for sentence in explanation.why { paragraph(sentence) }
        paragraph(
            "Rule \(explanation.decision.standing.rule.rawValue)"
                + (explanation.lineage.map { ", purchase \($0.key)" } ?? "")
        )
        printEvidence(explanation)
        printOthers(explanation.others)
        printNext(explanation)
        title("For a reply to the customer")
        paragraph(explanation.reply.joined(separator: " "))
    }

    private func printAnswer(_ decision: Snapshot.Entitlement) {
        let standing = decision.standing
        let until = decision.accessUntil.map { " until \($0.rfc3339)" } ?? ""
        let answer =
            standing.access ? styled("access\(until)", .good) : styled("no access", .bad)
        output.print("\(styled(TextLayout.visible(decision.name), .strong)): \(answer)")
        let product = standing.productId.map { ", for \($0)" } ?? ""
        paragraph("\(words(standing))\(product)")
    }

    private func words(_ standing: Standing) -> String {
        "\(standing.state.rawValue) (\(standing.reason.rawValue)), \(standing.confidence.rawValue)"
    }

    // MARK: Evidence

    private func printEvidence(_ explanation: Explanation) {
        title("Evidence")
        if explanation.used.isEmpty { paragraph("None: nothing that is known speaks of it.") }
        table(
            explanation.used.map { used in
                let roles = used.roles.map(\.rawValue).joined(separator: ", ")
                return (used.fact, "\(roles): \(content(used.fact))")
            }
        )
        guard !explanation.setAside.isEmpty else { return }
        title("Set aside")
        table(
            explanation.setAside.map { aside in
                let word = aside.fact.assertion.word
                return (aside.fact, "\(word): \(aside.reason.sentence) \(content(aside.fact))")
            }
        )
    }

    /// What a fact says, whence it came, and enough of its evidence's id to find it.
    private func content(_ fact: Fact) -> String {
        "\(fact.assertion.summary) (\(fact.source.rawValue) \(fact.evidence.hex.prefix(12)))"
    }

    private func table(_ rows: [(fact: Fact, what: String)]) {
        guard !rows.isEmpty else { return }
        var table = Table([.init("signed (UTC)"), .init("learned (UTC)"), .init("what")])
        for row in rows {
            table.add(
                .init(minute(row.fact.assertedAt)),
                .init(minute(row.fact.learnedAt)),
                .init(row.what)
            )
        }
        output.print(table.rendered(for: page))
    }

    private func minute(_ instant: Instant) -> String {
        let text = instant.rfc3339
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }

    // MARK: Around it

    private func printOthers(_ voices: [Explanation.Voice]) {
        guard !voices.isEmpty else { return }
        title("Other purchases")
        for voice in voices {
            guard let standing = voice.standing else {
                paragraph("\(voice.lineage.key): was not the customer's at that time")
                continue
            }
            paragraph("\(voice.lineage.key): \(words(standing)). \(standing.rule.sentence)")
        }
    }

    private func printNext(_ explanation: Explanation) {
        title("What happens next")
        guard let next = explanation.next, let at = explanation.decision.nextChange else {
            paragraph("Nothing changes unless the store says something new.")
            return
        }
        let access = next.standing.access ? "access" : "no access"
        paragraph(
            "Unless the store says something new, at \(at.rfc3339): \(access), "
                + "\(words(next.standing)). \(next.standing.rule.sentence)"
        )
    }

    // MARK: Layout

    /// Wider lines are hard to read, and are cut when pasted into a ticket.
    private static let widest = 80

    private var page: Terminal {
        Terminal(
            isInteractive: true,
            usesColour: output.resultTerminal.usesColour,
            width: min(Self.widest, output.resultTerminal.width)
        )
    }

    private func title(_ text: String) {
        output.print("\n\(styled(text, .strong))")
    }

    private func paragraph(_ text: String, indent: String = "  ") {
        let width = page.width - indent.count
        for line in TextLayout.wrapped(TextLayout.visible(text), to: width) {
            output.print(indent + line)
        }
    }

    private func styled(_ text: String, _ style: Style) -> String {
        output.resultTerminal.styled(text, style)
    }
}
