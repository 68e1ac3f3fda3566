import TideoverCore
import TideoverJSON
import TideoverRevenueCat
import TideoverStorage

/// RevenueCat's responses about one customer, compared with our answers from all facts known now.
struct CustomerShadow: Sendable {
    let key: CustomerKey
    /// The number of stored responses of RevenueCat.
    let answers: Int
    /// When RevenueCat sent the newest response, which is compared.
    let answeredAt: Instant
    let evidence: EvidenceID
    let differences: [Difference]
    private let lockouts: [String: Time]

    /// A difference, and the evidence of our answer.
    struct Difference: Sendable {
        let difference: ShadowDifference
        let evidence: [EvidenceID]
    }

    /// How long RevenueCat's responses would have denied access, and how long the store granted it.
    struct Time: Hashable, Sendable {
        var denied = Milliseconds.zero
        var entitled = Milliseconds.zero
    }

    /// Compares at the instant of the newest response, since RevenueCat could not know later
    /// changes.
    ///
    /// Returns nil if there are no readable responses.
    init?(_ kept: [KeptAnswer], _ lineages: CustomerLineages, of app: App) {
        let inOrder = kept.sorted { $0.order < $1.order }
        guard let newest = inOrder.last else { return nil }
        let record = Projector(app: app).record(of: lineages)
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

    /// Adds up the lockouts of all responses. Each response is valid until the next one, and no
    /// longer than its own end date. If it states no end, it is valid until the next change that
    /// RevenueCat would have learned of.
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

    /// The sum over all entitlements.
    var time: Time {
        lockouts.values.reduce(into: Time()) { sum, time in
            sum.denied = sum.denied + time.denied
            sum.entitled = sum.entitled + time.entitled
        }
    }

    /// Whether there is a difference to report.
    var differs: Bool { !differences.isEmpty || time.denied > .zero }
}

/// A stored response of RevenueCat.
struct KeptAnswer: Sendable {
    let customer: CustomerID
    let subscriber: RevenueCatSubscriber
    let evidence: EvidenceID
    private let receivedAt: Instant

    /// By date. Of two responses with one date, the later received corrects the other.
    fileprivate var order: (Instant, Instant, EvidenceID) {
        (subscriber.requestDate, receivedAt, evidence)
    }

    /// Returns nil for a response that this version cannot read, and for evidence of another
    /// source.
    init?(_ piece: Evidence, _ reader: RevenueCatReader) {
        guard let customer = RelayedAnswer.customer(in: piece.dedupeKey),
            let reading = try? reader.answer(line: piece.bytes)
        else { return nil }
        self.customer = customer
        subscriber = reading.subscriber
        evidence = piece.id
        receivedAt = piece.receivedAt
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
        writer.field("differences", each: differences) { difference, writer in
            let time = lockouts[difference.difference.entitlement] ?? Time()
            difference.write(to: &writer, time)
        }
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
            writer.field("evidence", each: evidence) { $1.value($0.hex) }
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
