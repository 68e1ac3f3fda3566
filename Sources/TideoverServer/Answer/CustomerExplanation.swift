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
            writer.field(
                "purchases",
                array: { writer in
                    for holding in reading.record.holdings { holding.write(to: &writer) }
                }
            )
            let aliases = reading.record.identity.aliases
            writer.field(
                "aliases",
                array: { writer in for one in aliases { one.write(to: &writer) } }
            )
        }
    }
}

extension CustomerRecord.Holding {
    /// Writes everyone who ever held the purchase, in the order it was learned.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("lineage", lineage.key)
            writer.field(
                "owners",
                array: { writer in for owner in owners { owner.write(to: &writer) } }
            )
        }
    }
}
