import TideoverCore
import TideoverJSON
import TideoverStorage

/// Why a customer may or may not use each entitlement of an app, read from a storage as it is.
struct CustomerExplanation: Sendable {
    let key: CustomerKey
    /// The instant asked about.
    let asOf: Instant
    /// Facts learned later were left out; nil when all were taken.
    let asKnownAt: Instant?
    /// One for each entitlement of the catalogue, by name.
    let explanations: [Explanation]

    /// Explains the answer at an instant: `at`, else `asKnownAt`, else `now`.
    ///
    /// - Throws: `StorageError` when the storage cannot be read.
    init(
        of key: CustomerKey,
        in app: App,
        storage: some Storage,
        at instant: Instant? = nil,
        asKnownAt: Instant? = nil,
        now: Instant
    ) throws(StorageError) {
        let deriver = Deriver(app: app)
        let lineages =
            try storage.lineages(of: key, now: now)
            ?? CustomerLineages(key: key, answer: nil, holdings: [], now: now)
        let all = deriver.record(of: lineages)
        let record = asKnownAt.map(all.asKnown(at:)) ?? all
        let asOf = instant ?? deriver.instant(of: record, now: asKnownAt ?? now)
        self.key = key
        self.asOf = asOf
        self.asKnownAt = asKnownAt
        explanations = record.explanations(at: asOf)
    }

    /// Writes the explanation as one JSON object.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("app", key.app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            writer.field("asOf", asOf.rfc3339)
            writer.field("asKnownAt", asKnownAt?.rfc3339)
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
