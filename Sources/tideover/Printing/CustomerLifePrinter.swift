import TideoverCommandLine
import TideoverJSON

/// Prints a customer's timeline as tables for a terminal.
struct CustomerLifePrinter {
    private let output: Output

    init(_ output: Output) {
        self.output = output
    }

    /// Prints the answer of the route `timeline`.
    func print(_ story: JSONNode) {
        let known = story["asKnownAt"]?.string.map { ", with what was known at \($0)" } ?? ""
        let heading =
            "\(word(story["customer"])) in \(word(story["app"])), "
            + "\(word(story["environment"])), until \(word(story["asOf"]))\(known)"
        output.print(TextLayout.visible(heading))
        if let line = ExplanationPrinter.policyLine(story) {
            output.print(TextLayout.visible(line))
        }
        let entitlements = story["entitlements"]?.members.map { $0 } ?? []
        if entitlements.isEmpty { output.print("No product unlocks anything.") }
        for (name, timeline) in entitlements {
            output.print("\n\(output.styled(TextLayout.visible(name), .strong))")
            spans(timeline["spans"], none: "Nothing is known.")
            happenings(timeline["transitions"])
            section("Expected, unless the store says something new", timeline["expected"])
        }
        deadlines(story["deadlines"])
    }

    private func section(_ title: String, _ list: JSONNode?) {
        // The first span is the current one.
        guard let list, list.count > 1 else { return }
        output.print("\n\(output.styled(title, .strong))")
        spans(list, none: "")
    }

    private func spans(_ list: JSONNode?, none: String) {
        let spans = list?.elements.map { $0 } ?? []
        guard !spans.isEmpty else {
            output.print("  \(none)")
            return
        }
        var table = Table([.init("from"), .init("until"), .init("access"), .init("standing")])
        for span in spans {
            let product = span["productId"]?.string.map { ", \($0)" } ?? ""
            table.add(
                .init(minute(span["from"])),
                .init(minute(span["until"])),
                .init(span["access"]?.bool == true ? "yes" : "no"),
                .init(
                    TextLayout.visible(
                        "\(word(span["state"])) (\(word(span["reason"]))), "
                            + "\(word(span["confidence"]))\(product)"
                    )
                )
            )
        }
        output.print(table.rendered(for: output.resultTerminal))
    }

    private func happenings(_ list: JSONNode?) {
        guard let list, list.count > 0 else { return }
        output.print("\n\(output.styled("What happened", .strong))")
        var table = Table([.init("at"), .init("learned"), .init("what")])
        for one in list.elements {
            let product = one["productId"]?.string.map { " \($0)" } ?? ""
            table.add(
                .init(minute(one["at"])),
                .init(minute(one["learnedAt"])),
                .init(TextLayout.visible("\(word(one["kind"]))\(product)"))
            )
        }
        output.print(table.rendered(for: output.resultTerminal))
    }

    private func deadlines(_ list: JSONNode?) {
        guard let list, list.count > 0 else { return }
        output.print("\n\(output.styled("What falls due", .strong))")
        var table = Table([.init("at"), .init("what")])
        for one in list.elements {
            table.add(.init(minute(one["at"])), .init(TextLayout.visible(word(one["kind"]))))
        }
        output.print(table.rendered(for: output.resultTerminal))
    }

    private func word(_ node: JSONNode?) -> String { node?.string ?? "?" }

    private func minute(_ instant: JSONNode?) -> String {
        guard let text = instant?.string else { return "open" }
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }
}
