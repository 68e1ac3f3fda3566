/// The cards with subscribers and money of all apps.
struct PortfolioCards {
    let portfolio: Portfolio

    private static let ended = ["expired", "unconfirmed"]

    var all: HTML {
        [
            Parts.card(
                "Subscribers",
                "subscribers",
                [
                    Parts.figure(
                        "Chart of subscribers",
                        SubscriberBars(rows: portfolio.rows).svg,
                        caption: SubscriberBars.legend
                    ), states,
                ]
            ), Parts.card("Revenue and failed renewals", "money", money),
        ]
    }

    // MARK: Subscribers

    private var states: HTML {
        let ids = SubscriberBars.states + Self.ended
        let columns = ids.map { id in
            Parts.Column(title: Self.capitalised(SubscriberBars.word(id)), isNumber: true)
        }
        return Parts.table(
            "The customers' own subscriptions by state now, and how many ran 30 days ago",
            [
                .init(title: "App"), .init(title: "Environment"),
                .init(title: "Subscribers", isNumber: true),
                .init(title: "30 days ago", isNumber: true), .init(title: "Since then"),
            ] + columns,
            portfolio.rows.map { row in cells(row) + ids.map { count(of: $0, in: row) } }
        )
    }

    private func cells(_ row: PortfolioRow) -> [HTML] {
        [
            .tag(.a, [.href(row.place.link)], .name(row.place.app)), .text(row.place.environment),
            Shown.figure(row.subscribers), row.history.first.map { Shown.figure($0) } ?? "none",
            SmallLine(figures: row.history).svg ?? "none",
        ]
    }

    /// A count, with a link to the card of the app's page that lists or explains what it counts.
    private func count(of state: String, in row: PortfolioRow) -> HTML {
        guard let figure = row[state] else { return "none" }
        guard let card = Self.card(of: state) else { return Shown.figure(figure) }
        return .tag(.a, [.href(row.place.card(card))], Shown.figure(figure))
    }

    private static func card(of state: String) -> String? {
        switch state {
        case "trial", "trialCancelled": "trials"
        case "grace", "hold": "deadlines"
        case "expired": "churn"
        default: nil
        }
    }

    private static func capitalised(_ word: String) -> String {
        word.prefix(1).uppercased() + word.dropFirst()
    }

    // MARK: Money

    private var money: [HTML] {
        let rows = portfolio.rows.flatMap { row in row.sums.map { cells(row.place, $0) } }
        guard !rows.isEmpty else {
            let none = "No purchase with a known price runs, and no renewal has failed."
            return unpriced.isEmpty ? [Parts.quiet(.text(none))] : unpriced
        }
        return [
            Parts.table(
                "Revenue of a month, and renewals that failed in 30 days; each currency apart",
                [.init(title: "App"), .init(title: "Environment"), .init(title: "Currency")]
                    + [
                        "A month", "A month in grace", "A month on hold", "At risk", "Recovered",
                        "Lost", "Open",
                    ].map { .init(title: $0, isNumber: true) },
                rows
            )
        ] + unpriced
    }

    /// A line for each place with prices that are not known.
    private var unpriced: [HTML] {
        portfolio.rows.filter { $0.withoutPrice.value != 0 || $0.issuesWithoutPrice.value != 0 }
            .map { row in
                Parts.unpriced(
                    [
                        ("subscriptions", row.withoutPrice),
                        ("failed renewals", row.issuesWithoutPrice),
                    ],
                    in: [
                        .tag(.a, [.href(row.place.link)], .name(row.place.app)),
                        .text(" \(row.place.environment): "),
                    ]
                )
            }
    }

    private func cells(_ place: Place, _ sum: PortfolioRow.Sum) -> [HTML] {
        let failed = [
            sum.failed?.atRisk, sum.failed?.recovered, sum.failed?.lost, sum.failed?.open,
        ]
        let link = Attribute.href(place.card("recovery"))
        var cells: [HTML] = [
            .tag(.a, [.href(place.link)], .name(place.app)), .text(place.environment),
            .name(sum.currency),
        ]
        for figure in [sum.mrr, sum.grace, sum.hold] {
            cells.append(figure.map(Shown.money) ?? "none")
        }
        for figure in failed {
            cells.append(figure.map { .tag(.a, [link], Shown.money($0)) } ?? "none")
        }
        return cells
    }
}
