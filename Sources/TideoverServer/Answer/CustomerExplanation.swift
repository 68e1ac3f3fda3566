import TideoverCore
import TideoverJSON

/// Why a customer may or may not use each entitlement of an app, read from a storage as it is.
struct CustomerExplanation: Sendable {
    let reading: CustomerReading
    /// One for each entitlement of the catalogue, by name.
    let explanations: [Explanation]

    init(_ reading: CustomerReading) {
        self.reading = reading
        explanations = reading.record.explanations(at: reading.asOf)
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
        }
    }
}
