/// The page with the experiments of an app in one environment.
package enum ExperimentsPage {
    package static func page(_ place: Place, _ experiments: Experiments) -> Page {
        let cards = experiments.all.enumerated().map { position, experiment in
            Parts.card(
                .name(experiment.id),
                "experiment-\(position + 1)",
                ExperimentCard(experiment: experiment).content
            )
        }
        return Page(
            "Experiments",
            place: place,
            [
                .tag(.h1, [], "Experiments of ", .name(place.app)),
                cards.isEmpty
                    ? Parts.quiet("There is no experiment. The configuration describes them.")
                    : .group(cards),
            ]
        )
    }
}

/// What one experiment compares, and what it shows so far.
private struct ExperimentCard {
    let experiment: ExperimentView

    var content: [HTML] {
        [
            .tag(.p, [], Parts.badge(phase, experiment.state)), stop, facts, sentences, recovery,
            guardrail,
        ]
    }

    private var phase: Phase {
        switch experiment.state {
        case "running": .active
        case "stopped": .hold
        case "planned": .never
        default: .ended
        }
    }

    private var stop: HTML {
        guard let stop = experiment.stop else { return .nothing }
        return .tag(
            .p,
            [],
            .tag(
                .span,
                [.class("alarm")],
                "Stopped at ",
                Shown.time(stop.at),
                ", because \(Shown.words(stop.reason)) rose with the arm ",
                .name(stop.arm),
                "."
            ),
            " Every customer has the control since."
        )
    }

    private var facts: HTML {
        Parts.facts([
            ("Entitlement", .name(experiment.entitlement)),
            ("Payments that fail from", Shown.time(experiment.start)),
            ("until", Shown.time(experiment.end, or: "no end")),
            ("A recovery counts within", Shown.figure(experiment.days, "days")),
            ("Smallest difference that matters", Shown.figure(experiment.points, "points")),
        ])
    }

    private var sentences: HTML {
        .element(
            .ul,
            [.class("moments sentences")],
            experiment.arms.map { arm in
                .tag(.li, [], .tag(.strong, [], .name(arm.name)), ": ", .text(arm.sentence))
            }
        )
    }

    private var recovery: HTML {
        let limit = DifferenceBar.limit(of: experiment.arms.map(\.difference))
        let scale = Shown.number(limit * 100)
        return Parts.table(
            """
            Customers with a failed payment and the share that recovered, by arm. Differences from \
            the first arm, in points of a hundred; the drawings reach from -\(scale) to \(scale).
            """,
            [
                .init(title: "Arm"), .init(title: "Failed", isNumber: true),
                .init(title: "Shown a message", isNumber: true),
                .init(title: "Recovered", isNumber: true),
                .init(title: "Difference", isNumber: true), .init(title: "Lower", isNumber: true),
                .init(title: "Upper", isNumber: true), .init(title: "95 % interval"),
                .init(title: "Failures needed", isNumber: true),
            ],
            experiment.arms.map { arm in
                [
                    .name(arm.name), Shown.figure(arm.entries), Shown.figure(arm.exposed),
                    Shown.share(arm.recovered),
                ] + numbers(arm.difference) + [
                    DifferenceBar(difference: arm.difference, limit: limit).svg ?? "none",
                    Shown.figure(arm.needed),
                ]
            }
        )
    }

    private var guardrail: HTML {
        let bounds = ["lower", "upper"].map { Parts.Column(title: $0, isNumber: true) }
        return Parts.table(
            "What an arm must not raise: differences from the first arm, in points of a hundred",
            [.init(title: "Arm"), .init(title: "Lockouts", isNumber: true)] + bounds
                + [.init(title: "Refunds", isNumber: true)] + bounds,
            experiment.arms.dropFirst().map { arm in
                [.name(arm.name)] + numbers(arm.lockouts) + numbers(arm.refunds)
            }
        )
    }

    private func numbers(_ difference: ExperimentView.Difference) -> [HTML] {
        [difference.value, difference.lower, difference.upper].map(Shown.points)
    }
}
