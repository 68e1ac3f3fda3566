import TideoverCore
import TideoverJSON
import TideoverStorage

/// Writes the common content of the events of one derivation: the customer, the event, and
/// `answer`.
///
/// `answer` is the answer that is stored in the same transaction, under the event's
/// `customerVersion`. Events of one version have the same answer, so their order is irrelevant.
/// Events that earlier versions stored have no `answer`.
struct EventBodies {
    private let key: CustomerKey
    private let answer: [UInt8]

    init(_ key: CustomerKey, _ snapshot: Snapshot) {
        self.key = key
        answer = snapshot.mirrored
    }

    func body(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        JSONWriter.object { writer in
            writer.field("app", key.app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            write(&writer)
            writer.key("answer")
            writer.raw(answer)
        }
    }
}

/// The `entitlement_changed` events of a customer, dated at the instant when the answer changes.
struct ChangeEvents {
    static let kind = "entitlement_changed"

    private let bodies: EventBodies
    /// The previous answer; nil for a customer never derived.
    private var answer: [UInt8]?
    /// When the answer was due for derivation: by itself, or by a change of catalogue or policy.
    private let dueAt: Instant?
    private(set) var events: [Event] = []

    init(_ bodies: EventBodies, _ row: CustomerRow?, _ policyChange: Instant? = nil) {
        self.bodies = bodies
        answer = row?.answer
        dueAt = [row?.validUntil, policyChange].compactMap(\.self).min()
    }

    /// More instants than any real delay contains; the limit prevents an endless loop.
    private static let mostInstants = 4_096

    /// Evaluates each instant at which the answer could change since it was due. Each change then
    /// has its own instant and none is omitted, however late it is noticed.
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

    /// Advances to a later answer, and returns it as stored.
    mutating func move(to snapshot: Snapshot) -> [UInt8] {
        let forms = snapshot.entitlements.map(\.form)
        let fresh = snapshot.answer(of: forms)
        guard fresh != answer else { return fresh }
        let former = answer.map(FormerEntitlement.all) ?? []
        for (entitlement, form) in zip(snapshot.entitlements, forms) {
            let old = former.first { $0.name == entitlement.name }
            guard isDifferent(old, entitlement) else { continue }
            events.append(event(of: entitlement.name, from: old, to: form, snapshot.asOf))
        }
        // Entitlements that the catalogue no longer contains.
        for old in former where snapshot[old.name] == nil {
            events.append(event(of: old.name, from: old, to: nil, snapshot.asOf))
        }
        answer = fresh
        return fresh
    }

    /// Compares the answers; an unknown customer counts as `never`.
    private func isDifferent(
        _ old: FormerEntitlement?,
        _ entitlement: Snapshot.Entitlement
    ) -> Bool {
        guard let old else { return entitlement.standing.state != .never }
        return zip(MirroredMember.written, old.mirrored).contains { member, value in
            value != entitlement[member]
        }
    }

    private func event(
        of name: String,
        from old: FormerEntitlement?,
        to form: [UInt8]?,
        _ instant: Instant
    ) -> Event {
        let body = bodies.body { writer in
            writer.field("entitlement", name)
            writer.field("at", instant.rfc3339)
            writer.key("from")
            if let old { writer.raw(old.form) } else { writer.null() }
            writer.key("to")
            if let form { writer.raw(form) } else { writer.null() }
        }
        return Event(kind: Self.kind, at: instant, body: body)
    }
}

/// Events about a customer's purchases; each is delivered once under its own id.
struct NewsEvents {
    let bodies: EventBodies
    let languages: AnswerLanguages

    func happenings(in news: CustomerNews) -> [Event] {
        news.unsent.map { happening in
            Event(
                name: happening.id,
                kind: happening.kind,
                at: happening.at,
                body: bodies.body { happening.writeFields(to: &$0, in: languages.ofEvents) }
            )
        }
    }

    /// Returns the events of corrections, which take effect when we learn of them.
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
    /// The answer in its stored form.
    var answer: [UInt8] { answer(of: entitlements.map(\.form)) }

    /// The same; an event of a change has the form of its entitlement too, so each is written once.
    fileprivate func answer(of forms: [[UInt8]]) -> [UInt8] {
        var writer = JSONWriter()
        var rest = forms[...]
        writer.object { writer in
            writeAnswer(to: &writer) { _, writer in writer.raw(rest.removeFirst()) }
        }
        return writer.bytes
    }

    /// The part of the answer that a mirror stores, by entitlement.
    fileprivate var mirrored: [UInt8] {
        JSONWriter.object { writer in
            for entitlement in entitlements {
                writer.key(entitlement.name)
                entitlement.writeMirrored(to: &writer)
            }
        }
    }
}

extension Snapshot.Entitlement {
    /// Its part of the answer in the stored form.
    fileprivate var form: [UInt8] { JSONWriter.text { write(to: &$0) } }
}

extension [Event] {
    /// The events by effective instant; at the same instant, a cause precedes its effects.
    var inOrder: [Event] {
        guard count > 1 else { return self }
        return enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
    }
}
