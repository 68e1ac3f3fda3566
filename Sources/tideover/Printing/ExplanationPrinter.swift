import TideoverCommandLine
import TideoverCore
import TideoverJSON

/// Prints an explanation for a terminal: the answer, the reason, the next change and a reply. The
/// evidence is optional.
struct ExplanationPrinter {
    private let output: Output
    private let showsEvidence: Bool

    init(_ output: Output, showsEvidence: Bool = false) {
        self.output = output
        self.showsEvidence = showsEvidence
    }

    /// Prints the answer of the route `explain`.
    func print(_ answer: JSONNode) {
        let known = answer["asKnownAt"]?.string.map { ", with what was known at \($0)" } ?? ""
        paragraph(
            "\(word(answer["customer"])) in \(word(answer["app"])), "
                + "\(word(answer["environment"])), at \(word(answer["asOf"]))\(known)",
            indent: ""
        )
        if let line = Self.policyLine(answer) { paragraph(line, indent: "") }
        if isUnknown(answer) {
            output.print()
            paragraph(
                "No purchase and no device report is stored for this id in "
                    + "\(word(answer["environment"])). Check the id before you reply: `tideover "
                    + "customers --search` finds ids by their beginning, and `tideover lookup` "
                    + "finds a purchase by its order number.",
                indent: ""
            )
        }
        let entitlements = answer["entitlements"]?.members.map { $0 } ?? []
        if entitlements.isEmpty { paragraph("No product unlocks anything.") }
        let bought = entitlements.filter { !isNeverBought($0.value) }
        let unbought = entitlements.filter { isNeverBought($0.value) }
        // For a customer without purchases, the first entitlement represents all of them.
        let shown = bought.isEmpty ? Array(unbought.prefix(1)) : bought
        for (name, explanation) in showsEvidence ? entitlements : shown { print(explanation, name) }
        let others = unbought.dropFirst(bought.isEmpty ? 1 : 0).map(\.key)
        if !showsEvidence, !others.isEmpty {
            output.print()
            paragraph("Never bought: \(others.joined(separator: ", "))", indent: "")
        }
        DriftPrinter.printOfCustomer(answer, title: title, paragraph: { paragraph($0) })
        printPrompt(answer["prompt"])
        printSandbox(answer["sandbox"])
        printOwners(answer["purchases"])
    }

    /// Returns the version of products and policy behind the answer, as `explain` and `timeline`
    /// name it.
    static func policyLine(_ answer: JSONNode) -> String? {
        guard let version = answer["policyVersion"],
            let fingerprint = version["fingerprint"]?.string
        else { return nil }
        let since =
            version["effectiveAt"]?.string.map { "in effect since \($0)" }
            ?? "the first that was recorded"
        return "Products and policy: version \(fingerprint), \(since)"
    }

    /// Prints the answer about the first entitlement, its reason and the next change, without
    /// evidence.
    func printShortly(_ answer: JSONNode) {
        guard let explained = answer["entitlements"]?.members.first(where: { _ in true }) else {
            return
        }
        printAnswer(explained.value["decision"], explained.key)
        for sentence in texts(explained.value["why"]) { paragraph(sentence) }
        paragraph(next(explained.value["next"]))
    }

    /// Prints whether the customer is prompted, if a payment fails or a prompt was shown before.
    private func printPrompt(_ prompt: JSONNode?) {
        let isDue = prompt?["kind"]?.string != nil || prompt?["heldBy"]?.string != nil
        let last = prompt?["shown"]?[0]?["shownAt"]?.string
        guard isDue || last != nil else { return }
        title("Prompt")
        paragraph(word(prompt?["sentence"]))
        if let until = prompt?["heldUntil"]?.string { paragraph("The next one is due at \(until)") }
        if let last { paragraph("Last shown at \(last)") }
    }

    /// Prints whether sandbox purchases grant access in production, if the customer has any.
    private func printSandbox(_ sandbox: JSONNode?) {
        guard let sentence = sandbox?["sentence"]?.string,
            sandbox?["ruling"]?.string != SandboxRuling.noPurchase.rawValue
        else { return }
        title("The sandbox")
        paragraph(sentence)
    }

    /// Prints the owners of purchases that moved between customers.
    private func printOwners(_ purchases: JSONNode?) {
        let moved = purchases?.elements.filter { ($0["owners"]?.count ?? 0) > 1 } ?? []
        guard !moved.isEmpty else { return }
        title("Who held it")
        for purchase in moved {
            let owners = purchase["owners"]?.elements.map { owner in
                let from = owner["from"]?.string.map { " from \($0)" } ?? ""
                return "\(word(owner["customer"]))\(from) (\(word(owner["why"])))"
            }
            let list = (owners ?? []).joined(separator: ", then ")
            paragraph("\(word(purchase["lineage"])): \(list)")
        }
    }

    private func print(_ explanation: JSONNode, _ name: String) {
        let decision = explanation["decision"]
        output.print()
        printAnswer(decision, name)
        title("Why")
        for sentence in texts(explanation["why"]) { paragraph(sentence) }
        let lineage = explanation["lineage"].flatMap(purchase).map { ", purchase \($0)" } ?? ""
        paragraph("Rule \(word(decision?["rule"]))\(lineage)")
        if showsEvidence {
            printEvidence(explanation)
            printOthers(explanation["others"]?.elements.map { $0 } ?? [])
        } else if decision?["access"]?.bool == false, isOfOperator(decision) {
            // That access given by hand has ended does not explain why there was no other.
            let others = explanation["others"]?.elements.map { $0 } ?? []
            printOthers(others.filter { !isOfOperator($0["lineage"]) && !isNever($0) })
        }
        printNext(explanation["next"])
        title("For a reply to the customer")
        paragraph(texts(explanation["reply"]).joined(separator: " "))
    }

    /// Whether nothing is stored that concerns the customer, as for a mistyped id. What was not yet
    /// known at an earlier time is no sign of that.
    private func isUnknown(_ answer: JSONNode) -> Bool {
        guard answer["asKnownAt"]?.string == nil, answer["reconciledAt"]?.string == nil,
            answer["purchases"]?.count == 0, answer["aliases"]?.count == 0,
            answer["drift"]?.count == 0
        else { return false }
        return answer["entitlements"]?.members.allSatisfy { member in
            let decision = member.value["decision"]
            return decision?["reason"]?.string == Reason.unknown.rawValue
                && decision?["confidence"]?.string == "unknown"
        } ?? false
    }

    /// Whether no purchase concerns the entitlement.
    private func isNeverBought(_ explanation: JSONNode) -> Bool {
        let decision = explanation["decision"]
        guard decision?["state"]?.string == "never" else { return false }
        // Another purchase of the customer decided, and does not unlock this entitlement.
        if decision?["reason"]?.string == Reason.notEntitled.rawValue { return true }
        return (explanation["lineage"]?.isNull ?? true) && explanation["others"]?.count ?? 0 == 0
    }

    private func printAnswer(_ decision: JSONNode?, _ name: String) {
        let until =
            decision?["accessUntil"]?.string.map { " until \(TextLayout.visible($0))" } ?? ""
        let answer =
            decision?["access"]?.bool == true
            ? output.styled("access\(until)", .good) : output.styled("no access", .bad)
        output.print("\(output.styled(TextLayout.visible(name), .strong)): \(answer)")
        let product = decision?["productId"]?.string.map { ", for \($0)" } ?? ""
        paragraph("\(words(decision))\(product)")
    }

    private func words(_ standing: JSONNode?) -> String {
        "\(word(standing?["state"])) (\(word(standing?["reason"]))), "
            + word(standing?["confidence"])
    }

    private func word(_ node: JSONNode?) -> String { node?.string ?? "?" }

    private func texts(_ list: JSONNode?) -> [String] { list?.elements.compactMap(\.string) ?? [] }

    private func purchase(_ lineage: JSONNode) -> String? { (try? Lineage(json: lineage))?.key }

    // MARK: Evidence

    private func printEvidence(_ explanation: JSONNode) {
        title("Evidence")
        let used = explanation["used"]?.elements.map { $0 } ?? []
        if used.isEmpty { paragraph("None: no stored message is about it.") }
        table(
            used.map { used in
                (used["fact"], "\(texts(used["as"]).joined(separator: ", ")): \(content(used))")
            }
        )
        let setAside = explanation["setAside"]?.elements.map { $0 } ?? []
        guard !setAside.isEmpty else { return }
        title("Set aside")
        table(
            setAside.map { aside in
                let sentence = word(aside["sentence"])
                return (aside["fact"], "\(kind(aside["fact"])): \(sentence) \(content(aside))")
            }
        )
    }

    /// Returns a fact's content, its source and the first 12 characters of its evidence's id.
    private func content(_ voice: JSONNode) -> String {
        let fact = voice["fact"]
        let evidence = word(fact?["evidence"]).prefix(12)
        return "\(word(voice["says"])) (\(word(fact?["source"])) \(evidence))"
    }

    /// Returns a fact's kind. The assertion is stored under the kind's name, beside the lineage.
    private func kind(_ fact: JSONNode?) -> String {
        fact?.members.first { $0.value.kind == .object && $0.key != "lineage" }?.key ?? "?"
    }

    private func table(_ rows: [(fact: JSONNode?, what: String)]) {
        guard !rows.isEmpty else { return }
        var table = Table([.init("signed (UTC)"), .init("learned (UTC)"), .init("what")])
        for row in rows {
            table.add(
                .init(minute(row.fact?["assertedAt"])),
                .init(minute(row.fact?["learnedAt"])),
                .init(row.what)
            )
        }
        output.print(table.rendered(for: page))
    }

    private func minute(_ instant: JSONNode?) -> String {
        let text = word(instant)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }

    // MARK: Around it

    private func isOfOperator(_ place: JSONNode?) -> Bool {
        place?["store"]?.string == Store.tideover.rawValue
    }

    private func isNever(_ voice: JSONNode) -> Bool { voice["state"]?.string == "never" }

    private func printOthers(_ voices: [JSONNode]) {
        guard !voices.isEmpty else { return }
        title("Other purchases")
        for voice in voices {
            let name = voice["lineage"].flatMap(purchase) ?? "?"
            guard voice["owned"]?.bool == true else {
                paragraph("\(name): was not the customer's at that time")
                continue
            }
            paragraph("\(name): \(words(voice)). \(word(voice["why"]))")
        }
    }

    private func printNext(_ next: JSONNode?) {
        title("What happens next")
        paragraph(self.next(next))
    }

    private func next(_ next: JSONNode?) -> String {
        guard let next, !next.isNull else {
            return "Nothing changes without a new message from the store."
        }
        let decision = next["decision"]
        let access = decision?["access"]?.bool == true ? "access" : "no access"
        return "Unless the store says something new, at \(word(next["at"])): \(access), "
            + "\(words(decision)). \(word(next["why"]))"
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
        output.print("\n\(output.styled(text, .strong))")
    }

    private func paragraph(_ text: String, indent: String = "  ") {
        let width = page.width - indent.count
        for line in TextLayout.wrapped(TextLayout.visible(text), to: width) {
            output.print(indent + line)
        }
    }
}
