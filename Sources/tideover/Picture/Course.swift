import TideoverCommandLine
import TideoverCore
import TideoverJSON
import TideoverSandbox

/// What a person lived through in a story, by the server's own timeline, and where a check of the
/// expiry date would have been wrong.
struct Course: Hashable, Sendable {
    let name: String
    /// What the story's author says of the person.
    let note: String?
    /// What the server knows the person by.
    let person: String
    /// Where the person buys.
    let stores: Stores
    /// Oldest first, without a gap, up to the story's end.
    let phases: [Stretch<Phase>]
    /// Oldest first.
    let mistakes: [Stretch<Mistake>]
    /// Failed payments that were mended while access went on.
    let savedInGrace: Int
    /// Failed payments that were mended after access was gone.
    let savedFromHold: Int

    enum Stores: String, Hashable, Sendable {
        case appStore = "App Store"
        case googlePlay = "Google Play"
        case both = "both stores"
    }

    /// The phase at the story's end.
    var last: Phase? { phases.last?.value }

    /// How long a kind of mistake lasted, taken together.
    func total(_ mistake: Mistake) -> Milliseconds {
        mistakes.filter { $0.value == mistake }.total()
    }
}

extension Course {
    /// Reads what the route `timeline` answers of a person's first entitlement.
    ///
    /// - Throws: `CommandFailure` where it is no timeline.
    init(
        of accounts: [StoreCustomer],
        in report: ScenarioReport,
        timeline: JSONNode,
        until end: Instant
    ) throws(CommandFailure) {
        let names = Set(accounts.map(\.name))
        let life = timeline["entitlements"]?.members.first { _ in true }?.value
        var phases: [Stretch<Phase>] = []
        for span in life?["spans"]?.elements.map({ $0 }) ?? [] {
            phases.append(joining: try Self.phase(span, until: end))
        }
        let saved = (life?["transitions"]?.elements.map { $0 } ?? []).filter { transition in
            let kind = transition["kind"]?.string.flatMap(Transition.Kind.init(rawValue:))
            return kind == .billingIssueRecovered || kind == .recoveredByNewPurchase
        }
        name = accounts.first?.name ?? ""
        note = accounts.lazy.compactMap { report.scenario.notes[$0.name] }.first
        person = accounts.first?.person ?? ""
        stores = Self.stores(of: names, in: report.scenario)
        self.phases = phases.withoutFlicker(upTo: ExpiryCheck.messageTime)
        mistakes = ExpiryCheck(report.readings.filter { names.contains($0.customer) })
            .mistakes(beside: phases, until: end)
        savedInGrace = saved.count { $0["from"]?.string == State.grace.rawValue }
        savedFromHold = saved.count { $0["from"]?.string == State.hold.rawValue }
    }

    private static func phase(
        _ span: JSONNode,
        until end: Instant
    ) throws(CommandFailure) -> Stretch<Phase> {
        guard let state = span["state"]?.string.flatMap(State.init(rawValue:)),
            let reason = span["reason"]?.string.flatMap(Reason.init(rawValue:)),
            let rule = span["rule"]?.string.flatMap(Rule.ID.init(rawValue:)),
            let from = span["from"]?.string.flatMap(Instant.init(rfc3339:))
        else { throw CommandFailure(.software, "the timeline has a span that says nothing") }
        let until = span["until"]?.string.flatMap(Instant.init(rfc3339:))
        return Stretch(
            value: Phase(state, reason, rule),
            from: from,
            until: min(until ?? end, end)
        )
    }

    private static func stores(of names: Set<String>, in scenario: Scenario) -> Stores {
        let players = Set(scenario.googlePlay?.customers.map(\.name) ?? [])
        if names.isDisjoint(with: players) { return .appStore }
        return names.isSubset(of: players) ? .googlePlay : .both
    }
}
