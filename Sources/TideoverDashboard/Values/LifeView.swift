package import TideoverCore
import TideoverJSON

/// The life of one entitlement up to an instant.
package struct LifeView: Hashable, Sendable {
    /// Oldest first, without gaps; empty if nothing was bought.
    package let phases: [ValueInterval<Phase>]
    /// When an expiry check, or this server, denied access that the store confirms.
    package let denials: [Lockouts.Stretch]
    let until: Instant

    /// The delivery time of a message. Shorter phases and denials are not drawn.
    private static let messageTime = Milliseconds.minutes(5)

    init(
        _ life: JSONNode?,
        denials: [Lockouts.Stretch],
        until end: Instant
    ) throws(UnexpectedAnswer) {
        var phases: [ValueInterval<Phase>] = []
        for span in life?.list("spans") ?? [] {
            let from = try span.needInstant("from")
            let until = span.instant("until") ?? end
            guard from < end else { continue }
            phases.append(
                joining: ValueInterval(value: try Phase(span), from: from, until: min(until, end))
            )
        }
        self.phases = phases.withoutFlicker(upTo: Self.messageTime)
        self.denials = denials.filter { $0.length > Self.messageTime }
        until = end
    }

    /// The first instant with a purchase.
    var from: Instant? { phases.first { $0.value != .never }?.from }

    func denials(_ judge: Lockouts.Judge) -> [Lockouts.Stretch] {
        denials.filter { $0.judge == judge }
    }
}

extension Phase {
    /// Reads the phase of a decision or of a span.
    init(_ node: JSONNode) throws(UnexpectedAnswer) {
        guard let rule = Rule.ID(rawValue: try node.needText("rule")) else {
            throw UnexpectedAnswer(member: "rule")
        }
        try self.init(node, rule)
    }

    /// Reads the phase of an answer, which names no rule.
    init(answer node: JSONNode) throws(UnexpectedAnswer) { try self.init(node, nil) }

    private init(_ node: JSONNode, _ rule: Rule.ID?) throws(UnexpectedAnswer) {
        guard let state = State(rawValue: try node.needText("state")) else {
            throw UnexpectedAnswer(member: "state")
        }
        guard let reason = Reason(rawValue: try node.needText("reason")) else {
            throw UnexpectedAnswer(member: "reason")
        }
        self.init(state, reason, rule)
    }
}
