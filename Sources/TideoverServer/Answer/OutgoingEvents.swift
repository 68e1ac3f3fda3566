import TideoverCore
import TideoverJSON
import TideoverStorage

/// Events for what changed in a customer's answer: `entitlement_changed`, at the instant from which on
/// the answer is another one.
struct ChangeEvents {
    static let kind = "entitlement_changed"

    private let key: CustomerKey
    /// The answer so far; nil for a customer never derived.
    private var answer: [UInt8]?
    /// When it was due to be derived again: by itself, or by a change of catalogue or policy.
    private let dueAt: Instant?
    private(set) var events: [Event] = []

    init(key: CustomerKey, _ row: CustomerRow?, _ policyChange: Instant? = nil) {
        self.key = key
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
        for entitlement in snapshot.entitlements {
            let old = before?.root["entitlements"]?[entitlement.name]
            guard isDifferent(old, entitlement.standing) else { continue }
            events.append(event(entitlement, from: old, at: snapshot.asOf))
        }
        let fresh = snapshot.answer
        answer = fresh
        return fresh
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
            writer.customer(key)
            writer.field("entitlement", entitlement.name)
            writer.field("at", instant.rfc3339)
            writer.key("from")
            if let old { writer.raw(old.source) } else { writer.null() }
            writer.key("to")
            entitlement.write(to: &writer)
        }
        return Event(kind: Self.kind, at: instant, body: writer.bytes)
    }
}

/// Events for what happened to a customer's purchases, each told once under its own id.
struct NewsEvents {
    let key: CustomerKey

    func happenings(in news: CustomerNews) -> [Event] {
        news.unsent.map { happening in
            Event(
                name: happening.id,
                kind: happening.kind,
                at: happening.at,
                body: body { happening.writeFields(to: &$0) }
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
                body: body { correction.writeFields(to: &$0) }
            )
        }
    }

    private func body(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.customer(key)
            write(&writer)
        }
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func customer(_ key: CustomerKey) {
        field("app", key.app)
        field("customer", key.customer.text)
        field("environment", key.environment.rawValue)
    }
}

extension Snapshot {
    /// The answer as it is stored.
    var answer: [UInt8] {
        var writer = JSONWriter()
        writer.object { writeAnswer(to: &$0) }
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
