import TideoverCore
import TideoverJSON
import TideoverStorage

/// The pure function that runs inside `commit`: from a customer's lineages as stored to the row
/// that is answered and the events that go out.
struct Deriver: Sendable {
    let app: App

    func derive(_ lineages: CustomerLineages) -> Derivation {
        let record = record(of: lineages)
        let snapshot = record.history.snapshot(at: instant(of: record, now: lineages.now))
        var writer = JSONWriter()
        writer.object { snapshot.writeAnswer(to: &$0) }
        return Derivation(
            answer: writer.bytes,
            validUntil: snapshot.validUntil,
            fingerprint: app.fingerprint,
            events: ChangeEvents(app: app.id, key: lineages.key).events(
                from: lineages.answer?.answer,
                to: snapshot
            )
        )
    }

    /// Everything that answers for the customer, under this app's catalogue and policy.
    func record(of lineages: CustomerLineages) -> CustomerRecord {
        CustomerRecord(
            customer: lineages.key.customer,
            environment: lineages.key.environment,
            holdings: lineages.holdings.map {
                CustomerRecord.Holding(lineage: $0.lineage, facts: $0.facts, owners: $0.owners)
            },
            catalogue: app.catalogue,
            policy: app.policy
        )
    }

    /// Our clock, or the store's newest word where that is ahead: a slow clock must not hide what
    /// has just been verified. Words far ahead were refused at the route.
    func instant(of record: CustomerRecord, now: Instant) -> Instant {
        let newest = record.holdings.lazy.flatMap { $0.facts.lazy.map(\.assertedAt) }.max()
        guard let newest, newest <= now + Ingest.clockTolerance else { return now }
        return max(now, newest)
    }
}

/// Events for what changed between a customer's last answer and the new one.
struct ChangeEvents {
    let app: String
    let key: CustomerKey

    func events(from previous: [UInt8]?, to snapshot: Snapshot) -> [Event] {
        let before = previous.flatMap { try? JSONDocument($0, limits: .local) }
        return snapshot.entitlements.compactMap { entitlement in
            let old = before?.root["entitlements"]?[entitlement.name]
            guard isDifferent(old, entitlement.standing) else { return nil }
            return event(entitlement, from: old, at: snapshot.asOf)
        }
    }

    /// A customer never heard of counts as `never`.
    private func isDifferent(_ old: JSONNode?, _ standing: Standing) -> Bool {
        guard let old else { return standing.state != .never }
        return old["state"]?.string != standing.state.rawValue
            || old["reason"]?.string != standing.reason.rawValue
            || old["confidence"]?.string != standing.confidence.rawValue
            || old["productId"]?.string != standing.productId
    }

    private func event(
        _ entitlement: Snapshot.Entitlement,
        from old: JSONNode?,
        at instant: Instant
    ) -> Event {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("app", app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            writer.field("entitlement", entitlement.name)
            writer.field("at", instant.rfc3339)
            writer.key("from")
            if let old { writer.raw(old.source) } else { writer.null() }
            writer.key("to")
            entitlement.write(to: &writer)
        }
        return Event(kind: "entitlement_changed", at: instant, body: writer.bytes)
    }
}
