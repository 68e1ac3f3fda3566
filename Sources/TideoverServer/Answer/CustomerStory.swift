import TideoverCore
import TideoverJSON
import TideoverStorage

/// What a customer of an app lived through until an instant, read from a storage as it is.
struct CustomerStory: Sendable {
    let key: CustomerKey
    /// The instant it is told until.
    let asOf: Instant
    /// Facts learned later were left out; nil when all were taken.
    let asKnownAt: Instant?
    /// One for each entitlement of the catalogue, by name.
    let timelines: [Timeline]
    let deadlines: [Deadline]

    /// Tells the story until `at`, else `asKnownAt`, else `now`.
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
        let timeline = CustomerTimeline(record, until: asOf)
        let policy = record.policy.value(at: asOf)
        self.key = key
        self.asOf = asOf
        self.asKnownAt = asKnownAt
        timelines = record.catalogue.value(at: asOf).entitlements.map(timeline.timeline(of:))
        deadlines = timeline.deadlines(
            after: asOf,
            trialEnding: policy.reminders.trialEnding,
            graceEnding: policy.reminders.graceEnding
        )
    }

    /// Writes the story as one JSON object.
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
                    for timeline in timelines {
                        writer.field(
                            timeline.entitlement,
                            object: { timeline.writeFields(to: &$0) }
                        )
                    }
                }
            )
            writer.field(
                "deadlines",
                array: { writer in for one in deadlines { one.write(to: &writer) } }
            )
        }
    }
}
