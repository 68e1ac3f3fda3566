import TideoverCore
import TideoverJSON
import TideoverStorage

/// Writes what every event of one derivation carries: the customer, what happened, and `answer`.
///
/// `answer` is the answer that is stored in the same transaction, under the event's
/// `customerVersion`. Events of one version carry the same, so the order among them is irrelevant.
/// Events that earlier versions stored have no `answer`.
struct EventBodies {
    private let key: CustomerKey
    private let answer: [UInt8]

    init(_ key: CustomerKey, _ snapshot: Snapshot) {
        self.key = key
        answer = snapshot.mirrored
    }

    func body(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("app", key.app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            write(&writer)
            writer.key("answer")
            writer.raw(answer)
        }
        return writer.bytes
    }
}

/// Events for what changed in a customer's answer: `entitlement_changed`, at the instant from which on
/// the answer is another one.
struct ChangeEvents {
    static let kind = "entitlement_changed"

    private let bodies: EventBodies
    /// The answer so far; nil for a customer never derived.
    private var answer: [UInt8]?
    /// When it was due to be derived again: by itself, or by a change of catalogue or policy.
    private let dueAt: Instant?
    private(set) var events: [Event] = []

    init(_ bodies: EventBodies, _ row: CustomerRow?, _ policyChange: Instant? = nil) {
        self.bodies = bodies
        answer = row?.answer
        dueAt = [row?.validUntil, policyChange].compactMap(\.self).min()
    }

    /// More instants than anybody slept through; it only guards against a walk that never ends.
    private static let mostInstants = 4_096

    /// Walks the instants that went by since the last answer was due, so that each change bears its own
    /// instant and none is left out, however late it is noticed.
    mutating func pass(_ history: CustomerHistory, _ news: CustomerNews, before now: Instant) {
        var due = dueAt
        for _ in 0..<Self.mostInstants {
            guard let instant = due, instant < now else { return }
            let snapshot = history.snapshot(at: instant)
            _ = move(to: snapshot)
            let told = news.unsent.first { $0.at > instant }?.at
            due = [snapshot.validUntil, told].compactMap(\.self).min()
        }
    }

    /// Goes on to a later answer, and says how it is stored.
    mutating func move(to snapshot: Snapshot) -> [UInt8] {
        let before = answer.flatMap { try? JSONDocument($0, limits: .local) }
        let former = before?.root["entitlements"]
        for entitlement in snapshot.entitlements {
            let old = former?[entitlement.name]
            guard isDifferent(old, entitlement) else { continue }
            events.append(event(of: entitlement.name, from: old, to: entitlement, snapshot.asOf))
        }
        // The catalogue does not have it any more.
        for (name, old) in former?.members.map({ $0 }) ?? [] where snapshot[name] == nil {
            events.append(event(of: name, from: old, to: nil, snapshot.asOf))
        }
        let fresh = snapshot.answer
        answer = fresh
        return fresh
    }

    /// A customer never heard of counts as `never`.
    private func isDifferent(_ old: JSONNode?, _ entitlement: Snapshot.Entitlement) -> Bool {
        guard let old else { return entitlement.standing.state != .never }
        return MirroredMember.allCases.contains { member in
            let former = old[member.rawValue].map { JSONValue($0) } ?? .null
            return former != entitlement[member]
        }
    }

    private func event(
        of name: String,
        from old: JSONNode?,
        to entitlement: Snapshot.Entitlement?,
        _ instant: Instant
    ) -> Event {
        let body = bodies.body { writer in
            writer.field("entitlement", name)
            writer.field("at", instant.rfc3339)
            writer.key("from")
            if let old { writer.raw(old.source) } else { writer.null() }
            writer.key("to")
            if let entitlement { entitlement.write(to: &writer) } else { writer.null() }
        }
        return Event(kind: Self.kind, at: instant, body: body)
    }
}

/// Events for what happened to a customer's purchases, each told once under its own id.
struct NewsEvents {
    let bodies: EventBodies

    func happenings(in news: CustomerNews) -> [Event] {
        news.unsent.map { happening in
            Event(
                name: happening.id,
                kind: happening.kind,
                at: happening.at,
                body: bodies.body { happening.writeFields(to: &$0) }
            )
        }
    }

    /// They take effect when we learn of them.
    func corrections(of news: CustomerNews, at now: Instant) -> [Event] {
        news.corrected.map { correction in
            Event(
                name: correction.id,
                kind: Corrections.Correction.kind,
                at: now,
                body: bodies.body { correction.writeFields(to: &$0) }
            )
        }
    }
}

extension Snapshot {
    /// The answer as it is stored.
    var answer: [UInt8] {
        var writer = JSONWriter()
        writer.object { writeAnswer(to: &$0) }
        return writer.bytes
    }

    /// What a mirror of the answer keeps, by entitlement.
    fileprivate var mirrored: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            for entitlement in entitlements {
                writer.key(entitlement.name)
                entitlement.writeMirrored(to: &writer)
            }
        }
        return writer.bytes
    }
}

extension [Event] {
    /// By the instant of their effect; at one instant, what happened before what it changed.
    var inOrder: [Event] {
        guard count > 1 else { return self }
        return enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
    }
}
