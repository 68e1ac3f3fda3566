import TideoverCore
import TideoverJSON
import TideoverRevenueCat
import TideoverStorage

/// What RevenueCat answered of one customer, beside ours by all that is known now.
struct CustomerShadow: Sendable {
    let key: CustomerKey
    /// How many answers of RevenueCat's are kept.
    let answers: Int
    /// Of the newest one, which is compared.
    let answeredAt: Instant
    let evidence: EvidenceID
    let differences: [Difference]
    private let lockouts: [String: Time]

    /// Where the two differ, and the facts that ours rests on.
    struct Difference: Sendable {
        let difference: ShadowDifference
        let evidence: [EvidenceID]
    }

    /// How long RevenueCat's answers would have denied what the store vouched for, of how long it did.
    struct Time: Hashable, Sendable {
        var denied = Milliseconds.zero
        var entitled = Milliseconds.zero
    }

    /// Compares at the instant of the newest answer: of what came later RevenueCat could not know.
    ///
    /// Nil without answers that can be read.
    init?(_ kept: [KeptAnswer], _ lineages: CustomerLineages, of app: App) {
        let inOrder = kept.sorted { $0.subscriber.requestDate < $1.subscriber.requestDate }
        guard let newest = inOrder.last else { return nil }
        let record = Deriver(app: app).record(of: lineages)
        let history = record.history
        key = lineages.key
        answers = inOrder.count
        answeredAt = newest.subscriber.requestDate
        evidence = newest.evidence
        let snapshot = history.snapshot(at: answeredAt)
        let found = snapshot.differences(from: newest.subscriber)
        let why = found.isEmpty ? [] : record.explanations(at: answeredAt)
        differences = found.map { difference in
            let used = why.first { $0.decision.name == difference.entitlement }?.used ?? []
            return Difference(
                difference: difference,
                evidence: Set(used.map(\.fact.evidence)).sorted()
            )
        }
        var lockouts: [String: Time] = [:]
        for name in snapshot.entitlements.map(\.name) {
            lockouts[name] = Self.time(of: name, inOrder.map(\.subscriber), history, lineages.now)
        }
        self.lockouts = lockouts
    }

    /// Of each answer for as long as it spoke: until the next one, and no longer than it said itself. What
    /// it named no end of it spoke of until something changed that RevenueCat would have heard of.
    private static func time(
        of entitlement: String,
        _ answers: [RevenueCatSubscriber],
        _ history: CustomerHistory,
        _ now: Instant
    ) -> Time {
        var sum = Time()
        for (place, answer) in answers.enumerated() {
            let start = answer.requestDate
            var end = place + 1 < answers.count ? answers[place + 1].requestDate : now
            let theirs = answer.conclusion(on: entitlement, at: start)
            let change =
                theirs?.isActive == true
                ? theirs?.accessUntil
                : history.snapshot(at: start)[entitlement]?.nextChange
            if let change { end = min(end, change) }
            guard start < end else { continue }
            let lockout = ShadowLockout(
                of: entitlement,
                answers: [answer],
                ours: history,
                from: start,
                until: end
            )
            sum.denied = sum.denied + lockout.total
            sum.entitled = sum.entitled + lockout.entitled
        }
        return sum
    }

    /// Over all entitlements.
    var time: Time {
        lockouts.values.reduce(into: Time()) { sum, time in
            sum.denied = sum.denied + time.denied
            sum.entitled = sum.entitled + time.entitled
        }
    }

    /// Whether there is anything to tell.
    var differs: Bool { !differences.isEmpty || time.denied > .zero }
}

/// An answer of RevenueCat's as it is kept.
struct KeptAnswer: Sendable {
    let customer: CustomerID
    let subscriber: RevenueCatSubscriber
    let evidence: EvidenceID

    /// Nil for one that this version does not read any more, and for a piece of somebody else's.
    init?(_ piece: Evidence, _ reader: RevenueCatReader) {
        guard let customer = RelayedAnswer.customer(in: piece.dedupeKey),
            let reading = try? reader.answer(line: piece.bytes)
        else { return nil }
        self.customer = customer
        subscriber = reading.subscriber
        evidence = piece.id
    }
}

// MARK: - JSON

extension CustomerShadow {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("customer", key.customer.text)
        writer.field("answers", answers)
        writer.field("answeredAt", answeredAt.rfc3339)
        writer.field("evidence", evidence.hex)
        writer.field("lockoutMinutes", time.denied.minutes)
        writer.field("entitledMinutes", time.entitled.minutes)
        writer.field(
            "differences",
            array: { writer in
                for difference in differences {
                    let time = lockouts[difference.difference.entitlement] ?? Time()
                    difference.write(to: &writer, time)
                }
            }
        )
    }
}

extension CustomerShadow.Difference {
    fileprivate func write(to writer: inout JSONWriter, _ time: CustomerShadow.Time) {
        writer.object { writer in
            writer.field("entitlement", difference.entitlement)
            writer.field("kind", difference.kind.rawValue)
            writer.field("rule", difference.rule?.rawValue)
            writer.field("detail", difference.sentence)
            writer.field("lockoutMinutes", time.denied.minutes)
            writer.key("theirs")
            if let theirs = difference.theirs {
                theirs.write(to: &writer)
            } else {
                writer.null()
            }
            writer.key("ours")
            if let ours = difference.ours { ours.writeShadow(to: &writer) } else { writer.null() }
            writer.field(
                "evidence",
                array: { writer in for id in evidence { writer.value(id.hex) } }
            )
        }
    }
}

extension RevenueCatConclusion {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("access", isActive)
            writer.field("accessUntil", accessUntil?.rfc3339)
            writer.field("productId", productId)
            writer.field("environment", environment?.rawValue)
        }
    }
}

extension Standing {
    fileprivate func writeShadow(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("access", access)
            writer.field("accessUntil", accessUntil?.rfc3339)
            writer.field("graceUntil", graceUntil?.rfc3339)
            writer.field("state", state.rawValue)
            writer.field("reason", reason.rawValue)
            writer.field("confidence", confidence.rawValue)
        }
    }
}
