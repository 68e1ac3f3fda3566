/// The page with all apps that the reader's key permits.
package enum PortfolioPage {
    static let title = "All apps"

    package static func page(_ reports: Reports, _ portfolio: Portfolio) -> Page {
        Page(
            title,
            [
                .tag(.h1, [], .text(title)),
                reports.places.isEmpty
                    ? Parts.quiet("Your key permits no app of this server.")
                    : PortfolioCards(portfolio: portfolio).all,
                reports.places.isEmpty
                    ? .nothing
                    : Parts.card("Access and differences", "apps", [table(reports)]),
                reports.arrivals.isEmpty
                    ? .nothing
                    : Parts.card("Arrival of changes", "arrival", [arrivals(reports.arrivals)]),
            ]
        )
    }

    private static func table(_ reports: Reports) -> HTML {
        Parts.table(
            "How long customers were denied access that the store confirms, and what devices report",
            [
                .init(title: "App"), .init(title: "Environment"),
                .init(title: "Purchases", isNumber: true),
                .init(title: "Entitled", isNumber: true),
                .init(title: "Denied by Tideover", isNumber: true),
                .init(title: "By an expiry check", isNumber: true),
                .init(title: "Open differences", isNumber: true),
            ],
            reports.lockouts.map { row in
                let drift = reports.drift.first { $0.place == row.place }
                return [
                    .tag(.a, [.href(row.place.link)], .name(row.place.app)),
                    .text(row.place.environment), Shown.figure(row.purchases),
                    Shown.minutes(row.entitledMinutes),
                    row["ours"].map { Shown.minutes($0.minutes) } ?? .nothing,
                    row["expiryCheck"].map { Shown.minutes($0.minutes) } ?? .nothing,
                    drift.map { Shown.figure($0.open) } ?? .nothing,
                ]
            }
        )
    }

    static func arrivals(_ rows: [ArrivalRow]) -> HTML {
        Parts.table(
            "How changes of a store reached this server first, and how late",
            [
                .init(title: "App"), .init(title: "Environment"), .init(title: "Store"),
                .init(title: "Way"),
                .init(title: "Changes", isNumber: true), .init(title: "Share", isNumber: true),
                .init(title: "Median delay", isNumber: true),
                .init(title: "95 % within", isNumber: true),
            ],
            rows.flatMap { row in
                row.ways.map { way in
                    [
                        .name(row.place.app), .name(row.place.environment),
                        .text(Shown.store(row.store)), .text(Shown.way(way.id)),
                        Shown.figure(way.count),
                        Shown.share(way.share), Shown.seconds(way.medianSeconds),
                        Shown.seconds(way.p95Seconds),
                    ]
                }
            }
        )
    }
}
