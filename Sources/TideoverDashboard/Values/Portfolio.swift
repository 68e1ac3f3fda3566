package import TideoverJSON

/// The answer of `tideover report portfolio --each day`.
package struct Portfolio: Hashable, Sendable {
    let rows: [PortfolioRow]

    package init(_ report: JSONNode) throws(UnexpectedAnswer) {
        rows = try report.list("rows").map { row throws(UnexpectedAnswer) in
            try PortfolioRow(row)
        }
    }
}

/// An app in one environment: its subscriptions by state, their revenue, and the money of renewals
/// that failed in the last 30 days.
struct PortfolioRow: Hashable, Sendable {
    let place: Place
    let subscribers: Figure
    let states: [State]
    /// By currency.
    let sums: [Sum]
    /// Subscriptions and failed renewals that are in no sum.
    let withoutPrice: Figure
    let issuesWithoutPrice: Figure
    /// The number of subscribers at each instant, oldest first.
    let history: [Figure]

    struct State: Hashable, Sendable {
        let id: String
        let count: Figure
    }

    /// Money of one currency, in thousandths of its unit. A part is nil if the report has none.
    struct Sum: Hashable, Sendable {
        let currency: String
        var mrr: Figure?
        var grace: Figure?
        var hold: Figure?
        var failed: RecoveryRow.Sum?
    }

    init(_ row: JSONNode) throws(UnexpectedAnswer) {
        place = try Place(row)
        subscribers = try row.figure("subscribers")
        states = try row.need("subscriptions").members.map { State(id: $0, count: Figure($1)) }
        withoutPrice = try row.figure("withoutPrice")
        issuesWithoutPrice = try row.figure("issuesWithoutPrice")
        history = try row.list("history").map { point throws(UnexpectedAnswer) in
            try point.figure("subscribers")
        }
        var sums: [String: Sum] = [:]
        for revenue in row.list("revenue") {
            let currency = try revenue.needText("currency")
            sums[currency] = Sum(
                currency: currency,
                mrr: try revenue.figure("mrr"),
                grace: try revenue.figure("grace"),
                hold: try revenue.figure("hold")
            )
        }
        for node in row.list("money") {
            let failed = try RecoveryRow.Sum(node)
            var sum = sums[failed.currency] ?? Sum(currency: failed.currency)
            sum.failed = failed
            sums[failed.currency] = sum
        }
        self.sums = sums.values.sorted { $0.currency < $1.currency }
    }

    subscript(_ state: String) -> Figure? { states.first { $0.id == state }?.count }
}
