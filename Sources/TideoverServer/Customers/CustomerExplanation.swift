import TideoverCore
import TideoverJSON

/// The explanation of each entitlement of a customer, read from the storage.
struct CustomerExplanation: Sendable {
    let reading: CustomerReading
    /// One explanation for each entitlement of the catalogue, by name.
    let explanations: [Explanation]
    let drift: CustomerDrift

    /// Whether the sandbox answers for production; nil if that does not apply.
    let sandbox: SandboxRuling?

    init(
        _ reading: CustomerReading,
        _ drift: CustomerDrift,
        sandbox: SandboxRuling? = nil,
        lacksServiceAccount: Bool = false
    ) {
        self.reading = reading
        self.drift = drift
        self.sandbox = sandbox
        let lacking = lacksServiceAccount ? PlayTrust.missingAccount : nil
        explanations = reading.record.explanations(at: reading.asOf).map { explanation in
            var explanation = explanation
            if let lacking, reading.record.restsOnNotices(explanation) {
                explanation.why.append(lacking)
            }
            explanation.reply += drift.reply(on: explanation.decision.name)
            return explanation
        }
    }

    /// Writes the explanation as one JSON object.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            reading.writeFields(to: &writer)
            writer.field(
                "entitlements",
                object: { writer in
                    for explanation in explanations {
                        writer.key(explanation.decision.name)
                        explanation.write(to: &writer)
                    }
                }
            )
            drift.writeFields(to: &writer)
            writer.field("prompt", object: { writePrompt(to: &$0) })
            writeSandbox(to: &writer)
            writer.field("purchases", each: reading.record.lineageRecords) { $0.write(to: &$1) }
            let aliases = reading.record.identity.aliases
            writer.field("aliases", each: aliases) { $0.write(to: &$1) }
        }
    }
}

extension CustomerExplanation {
    /// The maximum number of shown prompts in an explanation.
    private static let mostPrompts = 20

    /// Writes whether a prompt is shown or suppressed, the reason, and the prompts shown before.
    private func writePrompt(to writer: inout JSONWriter) {
        let presentation = Presentation(after: reading.prompts)
        reading.record.history.prompting(at: reading.asOf, presentation).writeFields(to: &writer)
        writer.field("shown", each: reading.prompts.prefix(Self.mostPrompts)) { $0.write(to: &$1) }
    }

    private func writeSandbox(to writer: inout JSONWriter) {
        guard let sandbox else {
            writer.field("sandbox", String?.none)
            return
        }
        writer.field(
            "sandbox",
            object: { writer in
                writer.field("ruling", sandbox.rawValue)
                writer.field("answers", sandbox.sandboxAnswers)
                writer.field("sentence", sandbox.sentence)
            }
        )
    }
}

extension CustomerRecord {
    /// Returns whether a Google Play service account would improve the answer. This is so for a
    /// presumed answer, and for `never` if a device presented a purchase.
    fileprivate func restsOnNotices(_ explanation: Explanation) -> Bool {
        let standing = explanation.decision.standing
        guard standing.state != .never else {
            return lineageRecords.contains { $0.facts.contains(where: \.isPresentation) }
        }
        return standing.lineage?.store == .googlePlay && standing.confidence == .presumed
    }
}

extension CustomerRecord.LineageRecord {
    /// Writes all owners of the purchase, in the order they were learned.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("lineage", lineage.key)
            writer.field("owners", each: owners) { $0.write(to: &$1) }
        }
    }
}
