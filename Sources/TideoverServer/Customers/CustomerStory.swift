import TideoverCore
import TideoverJSON

/// A customer's timeline in an app until an instant, read from the storage.
struct CustomerStory: Sendable {
    let reading: CustomerReading
    /// One timeline for each entitlement of the catalogue, by name.
    let timelines: [Timeline]
    let deadlines: [Deadline]

    init(_ reading: CustomerReading) {
        let (record, asOf) = (reading.record, reading.asOf)
        let timeline = CustomerTimeline(record, until: asOf)
        let policy = record.policy.value(at: asOf)
        self.reading = reading
        timelines = record.catalogue.value(at: asOf).entitlements.map(timeline.timeline(of:))
        deadlines = timeline.deadlines(
            after: asOf,
            trialEnding: policy.reminders.trialEnding,
            graceEnding: policy.reminders.graceEnding
        )
    }

    /// Writes the timeline as one JSON object.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            reading.writeFields(to: &writer)
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
            writer.field("deadlines", each: deadlines) { $0.write(to: &$1) }
        }
    }
}
