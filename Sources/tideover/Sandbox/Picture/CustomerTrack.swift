import TideoverCommandLine
import TideoverCore
import TideoverDashboard
import TideoverJSON
import TideoverSandbox

/// A person's history in a story by the server's timeline, with the mistakes that an expiry check
/// would make.
struct CustomerTrack: Hashable, Sendable {
    let name: String
    /// The author's note about the person.
    let note: String?
    /// The server's id of the person.
    let person: String
    /// The stores where the person buys.
    let stores: Stores
    /// Oldest first, without gaps, up to the story's end.
    let phases: [ValueInterval<Phase>]
    /// Oldest first.
    let mistakes: [ValueInterval<Mistake>]
    /// The number of failed payments that were recovered during continued access.
    let savedInGrace: Int
    /// The number of failed payments that were recovered after access ended.
    let savedFromHold: Int

    enum Stores: String, Hashable, Sendable {
        case appStore = "App Store"
        case googlePlay = "Google Play"
        case both = "both stores"
    }

    /// The phase at the story's end.
    var last: Phase? { phases.last?.value }

    /// The total duration of one kind of mistake.
    func total(_ mistake: Mistake) -> Milliseconds {
        mistakes.filter { $0.value == mistake }.total()
    }
}

extension CustomerTrack {
    /// Reads the answer of the route `timeline` about a person's first entitlement.
    ///
    /// - Throws: `CommandFailure` if the answer is not a timeline.
    init(
        of accounts: [StoreCustomer],
        in report: ScenarioReport,
        timeline: JSONNode,
        until end: Instant
    ) throws(CommandFailure) {
        let names = Set(accounts.map(\.name))
        let life = timeline["entitlements"]?.members.first { _ in true }?.value
        var phases: [ValueInterval<Phase>] = []
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
    ) throws(CommandFailure) -> ValueInterval<Phase> {
        guard let state = span["state"]?.string.flatMap(State.init(rawValue:)),
            let reason = span["reason"]?.string.flatMap(Reason.init(rawValue:)),
            let rule = span["rule"]?.string.flatMap(Rule.ID.init(rawValue:)),
            let from = span["from"]?.string.flatMap(Instant.init(rfc3339:))
        else { throw CommandFailure(.software, "the timeline has a span that says nothing") }
        let until = span["until"]?.string.flatMap(Instant.init(rfc3339:))
        return ValueInterval(
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
