package import TideoverJSON

/// A row of `tideover report lockouts`.
package struct LockoutRow: Hashable, Sendable {
    package let place: Place
    let purchases: Figure
    let entitledMinutes: Figure
    let judges: [Judge]

    struct Judge: Hashable, Sendable {
        let id: String
        let minutes: Figure
        let purchases: Figure
        let causes: [Cause]
    }

    struct Cause: Hashable, Sendable {
        let id: String
        let minutes: Figure
    }

    package init(_ row: JSONNode) throws(UnexpectedAnswer) {
        place = try Place(row)
        purchases = try row.figure("purchases")
        entitledMinutes = try row.figure("entitledMinutes")
        judges = try ["ours", "expiryCheck", "relay"].map { id throws(UnexpectedAnswer) in
            let judge = try row.need(id)
            return Judge(
                id: id,
                minutes: try judge.figure("minutes"),
                purchases: try judge.figure("purchases"),
                causes: try judge.need("causes").members.map { Cause(id: $0, minutes: Figure($1)) }
            )
        }
    }

    subscript(_ judge: String) -> Judge? { judges.first { $0.id == judge } }
}

/// A row of `tideover report drift`.
package struct DriftRow: Hashable, Sendable {
    package let place: Place
    let found: Figure
    let open: Figure
    let lockoutMinutes: Figure
    let medianSeconds: Figure
    let kinds: [Kind]

    struct Kind: Hashable, Sendable {
        let direction: String
        let cause: String
        let found: Figure
        let open: Figure
        let lockoutMinutes: Figure
    }

    package init(_ row: JSONNode) throws(UnexpectedAnswer) {
        place = try Place(row)
        found = try row.figure("found")
        open = try row.figure("open")
        lockoutMinutes = try row.figure("lockoutMinutes")
        medianSeconds = try row.need("timeToHeal").figure("medianSeconds")
        kinds = try row.list("kinds").map { kind throws(UnexpectedAnswer) in
            Kind(
                direction: try kind.needText("direction"),
                cause: try kind.needText("cause"),
                found: try kind.figure("found"),
                open: try kind.figure("open"),
                lockoutMinutes: try kind.figure("lockoutMinutes")
            )
        }
    }
}

/// A row of `tideover report arrival`.
package struct ArrivalRow: Hashable, Sendable {
    package let place: Place
    let store: String
    let changes: Figure
    let ways: [Way]

    struct Way: Hashable, Sendable {
        let id: String
        let count: Figure
        let share: Figure
        let medianSeconds: Figure
        let p95Seconds: Figure
    }

    package init(_ row: JSONNode) throws(UnexpectedAnswer) {
        place = try Place(row)
        store = try row.needText("store")
        changes = try row.figure("changes")
        ways = try ["pushed", "asked", "device"].map { id throws(UnexpectedAnswer) in
            let way = try row.need(id)
            let delay = try way.need("delay")
            return Way(
                id: id,
                count: try way.figure("count"),
                share: try way.figure("share"),
                medianSeconds: try delay.figure("medianSeconds"),
                p95Seconds: try delay.figure("p95Seconds")
            )
        }
    }
}

extension Place {
    init(_ row: JSONNode) throws(UnexpectedAnswer) {
        self.init(app: try row.needText("app"), environment: try row.needText("environment"))
    }
}

/// The reports of several apps at one instant.
package struct Reports: Hashable, Sendable {
    package let lockouts: [LockoutRow]
    package let drift: [DriftRow]
    package let arrivals: [ArrivalRow]

    /// Reads the answers of the three report routes.
    package init(
        lockouts: JSONNode,
        drift: JSONNode,
        arrival: JSONNode
    ) throws(UnexpectedAnswer) {
        self.lockouts = try lockouts.list("rows").map { row throws(UnexpectedAnswer) in
            try LockoutRow(row)
        }
        self.drift = try drift.list("rows").map { row throws(UnexpectedAnswer) in
            try DriftRow(row)
        }
        arrivals = try arrival.list("rows").map { row throws(UnexpectedAnswer) in
            try ArrivalRow(row)
        }
    }

    /// The places with a row, in the order of the report.
    var places: [Place] { lockouts.map(\.place) }
}
