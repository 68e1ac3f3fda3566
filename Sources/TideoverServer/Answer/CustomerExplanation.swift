import TideoverCore
import TideoverJSON

/// Why a customer may or may not use each entitlement of an app, read from a storage as it is.
struct CustomerExplanation: Sendable {
    let reading: CustomerReading
    /// One for each entitlement of the catalogue, by name.
    let explanations: [Explanation]
    let drift: CustomerDrift

    init(_ reading: CustomerReading, _ drift: CustomerDrift) {
        self.reading = reading
        self.drift = drift
        explanations = reading.record.explanations(at: reading.asOf).map { explanation in
            var explanation = explanation
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
        }
    }
}
