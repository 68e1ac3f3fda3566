import TideoverCore
package import TideoverJSON

/// The experiments of an app in one environment, as `tideover report experiments` has them.
package struct Experiments: Hashable, Sendable {
    let all: [ExperimentView]

    /// Takes the experiments of a place from the answer of the report.
    package init(of place: Place, _ report: JSONNode) throws(UnexpectedAnswer) {
        var all: [ExperimentView] = []
        for row in report.list("rows") where try Place(row) == place {
            for node in row.list("experiments") { all.append(try ExperimentView(node)) }
        }
        self.all = all
    }
}

struct ExperimentView: Hashable, Sendable {
    let id: String
    let entitlement: String
    let start: Instant
    /// Nil for no end.
    let end: Instant?
    let state: String
    /// Nil unless the server stopped it.
    let stop: Stop?
    let days: Figure
    let points: Figure
    /// The first is the control.
    let arms: [Arm]

    struct Stop: Hashable, Sendable {
        let at: Instant
        let reason: String
        let arm: String
    }

    struct Arm: Hashable, Sendable {
        let name: String
        let entries: Figure
        let exposed: Figure
        let needed: Figure
        let recovered: Figure
        let difference: Difference
        let lockouts: Difference
        let refunds: Difference
        let sentence: String
    }

    /// A difference from the control with its interval; each without a value if there is none.
    struct Difference: Hashable, Sendable {
        let value: Figure
        let lower: Figure
        let upper: Figure
    }

    init(_ node: JSONNode) throws(UnexpectedAnswer) {
        id = try node.needText("id")
        entitlement = try node.needText("entitlement")
        start = try node.needInstant("start")
        end = node.instant("end")
        state = try node.needText("state")
        let stop = try node.need("stop")
        self.stop = stop.isNull ? nil : try Stop(stop)
        days = try node.figure("days")
        points = try node.figure("points")
        arms = try node.list("arms").map { arm throws(UnexpectedAnswer) in try Arm(arm) }
    }
}

extension ExperimentView.Stop {
    fileprivate init(_ node: JSONNode) throws(UnexpectedAnswer) {
        at = try node.needInstant("at")
        reason = try node.needText("reason")
        arm = try node.needText("arm")
    }
}

extension ExperimentView.Arm {
    fileprivate init(_ node: JSONNode) throws(UnexpectedAnswer) {
        name = try node.needText("arm")
        entries = try node.figure("entries")
        exposed = try node.figure("exposed")
        needed = try node.figure("needed")
        recovered = try node.figure("recovered")
        difference = try ExperimentView.Difference(node.need("difference"))
        lockouts = try ExperimentView.Difference(node.need("lockouts"))
        refunds = try ExperimentView.Difference(node.need("refunds"))
        sentence = try node.needText("sentence")
    }
}

extension ExperimentView.Difference {
    fileprivate init(_ node: JSONNode) throws(UnexpectedAnswer) {
        let isKnown = !node.isNull
        value = isKnown ? try node.figure("value") : Figure(node)
        lower = isKnown ? try node.figure("lower") : Figure(node)
        upper = isKnown ? try node.figure("upper") : Figure(node)
    }
}
