/// The page of one app in one environment.
package enum AppPage {
    /// Returns the page. `unclaimed` are the first purchases without a customer, and `hasMore` is
    /// whether there are further ones. `isAdmin` is whether the reader's key is an admin key.
    package static func page(
        _ place: Place,
        _ reports: Reports,
        _ measures: Measures,
        _ deadlines: Deadlines,
        isAdmin: Bool,
        hasSandbox: Bool = false,
        unclaimed: [FoundPurchase],
        hasMore: Bool
    ) -> Page {
        let drift = reports.drift.first { $0.place == place }
        let arrivals = reports.arrivals.filter { $0.place == place }
        return Page(
            place.app,
            place: place,
            [
                .tag(
                    .h1,
                    [],
                    .name(place.app),
                    " ",
                    .tag(.span, [.class("quiet")], .text(place.environment))
                ),
                .tag(
                    .p,
                    [],
                    .tag(.a, [.href(place.events)], "Events"),
                    " ",
                    .tag(.a, [.href(place.experiments)], "Experiments"),
                    " ",
                    .tag(.a, [.href(place.configuration)], "Configuration"),
                    hasSandbox ? [" ", .tag(.a, [.href(place.sandbox())], "Sandbox")] : .nothing,
                    isAdmin
                        ? [
                            " ", .tag(.a, [.href(place.webhooks())], "Webhooks"), " ",
                            .tag(.a, [.href(place.maintenance())], "Maintenance"),
                        ] : .nothing
                ),
                deadlineCard(place, deadlines), MeasureCards(measures: measures).all,
                reports.lockouts.first { $0.place == place }.map(lockouts) ?? .nothing,
                drift.map(differences) ?? .nothing,
                arrivals.isEmpty
                    ? .nothing
                    : Parts.card(
                        "Arrival of changes",
                        "arrival",
                        [PortfolioPage.arrivals(arrivals)]
                    ),
                unclaimedCard(place, unclaimed, hasMore: hasMore),
            ]
        )
    }

    private static func deadlineCard(_ place: Place, _ deadlines: Deadlines) -> HTML {
        guard !deadlines.soonest.isEmpty else {
            return Parts.card("Deadlines", "deadlines", [Parts.quiet("Nothing has a deadline.")])
        }
        return Parts.card(
            "Deadlines",
            "deadlines",
            [
                Parts.table(
                    "What must happen by when, soonest first",
                    [
                        .init(title: "By"), .init(title: "Customer"),
                        .init(title: "Product or certificate"),
                        .init(title: "What happens then"),
                    ],
                    deadlines.soonest.map { deadline in
                        [
                            Shown.time(deadline.at),
                            deadline.customer.map {
                                .tag(.a, [.href(place.customer($0))], .name($0))
                            } ?? "none",
                            (deadline.product ?? deadline.certificate).map(HTML.name) ?? "none",
                            .name(deadline.sentence),
                        ]
                    }
                ),
                deadlines.hasMore
                    ? Parts.quiet("There are more; `tideover report deadlines` lists them.")
                    : .nothing,
            ]
        )
    }

    private static func lockouts(_ row: LockoutRow) -> HTML {
        Parts.card(
            "Lockouts",
            "lockouts",
            [
                Parts.quiet(
                    "How long customers were denied access that the store, as known now, confirms."
                ),
                Parts.numbers([
                    ("purchases", Shown.figure(row.purchases)),
                    ("entitled", Shown.minutes(row.entitledMinutes)),
                    (
                        "denied by Tideover",
                        row["ours"].map { Shown.minutes($0.minutes) } ?? .nothing
                    ),
                    (
                        "denied by an expiry check",
                        row["expiryCheck"].map { Shown.minutes($0.minutes) } ?? .nothing
                    ),
                ]),
                Parts.figure("Chart of lockouts", LockoutChart(row: row).svg), causes(row),
            ]
        )
    }

    private static func causes(_ row: LockoutRow) -> HTML {
        let ids = row.judges.first?.causes.map(\.id) ?? []
        return Parts.table(
            "Time denied, by cause",
            [.init(title: "Judged by"), .init(title: "Purchases", isNumber: true)]
                + ids.map { .init(title: Shown.cause($0), isNumber: true) }
                + [.init(title: "Together", isNumber: true)],
            row.judges.map { judge in
                [.text(Shown.judge(judge.id)), Shown.figure(judge.purchases)]
                    + judge.causes.map { Shown.minutes($0.minutes) } + [
                        Shown.minutes(judge.minutes)
                    ]
            }
        )
    }

    private static func differences(_ row: DriftRow) -> HTML {
        let numbers = Parts.numbers([
            ("found", Shown.figure(row.found)), ("open", Shown.figure(row.open)),
            ("median time to heal", Shown.seconds(row.medianSeconds)),
            ("one side denied access", Shown.minutes(row.lockoutMinutes)),
        ])
        guard !row.kinds.isEmpty else {
            return Parts.card(
                "Differences from devices",
                "drift",
                [numbers, Parts.quiet("No device has reported a difference.")]
            )
        }
        let table = Parts.table(
            "Differences by direction and cause",
            [
                .init(title: "Direction"), .init(title: "Cause"),
                .init(title: "Found", isNumber: true), .init(title: "Open", isNumber: true),
                .init(title: "Denied", isNumber: true),
            ],
            row.kinds.map { kind in
                [
                    .text(Shown.words(kind.direction)), .text(Shown.words(kind.cause)),
                    Shown.figure(kind.found), Shown.figure(kind.open),
                    Shown.minutes(kind.lockoutMinutes),
                ]
            }
        )
        return Parts.card("Differences from devices", "drift", [numbers, table])
    }

    private static func unclaimedCard(
        _ place: Place,
        _ purchases: [FoundPurchase],
        hasMore: Bool
    ) -> HTML {
        guard !purchases.isEmpty else {
            return Parts.card(
                "Unclaimed purchases",
                "unclaimed",
                [Parts.quiet("Every purchase has a customer.")]
            )
        }
        return Parts.card(
            "Unclaimed purchases",
            "unclaimed",
            [
                SearchPage.table("Purchases without a customer", purchases, in: place),
                hasMore
                    ? Parts.quiet("There are more; `tideover unclaimed` lists all of them.")
                    : .nothing,
            ]
        )
    }
}
