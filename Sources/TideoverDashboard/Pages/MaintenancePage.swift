import TideoverCore
package import TideoverJSON

/// Work on an app's data that an admin can start.
package enum MaintenanceAction: String, Hashable, Sendable, CaseIterable {
    /// Asks the stores for what did not arrive.
    case backfill
    /// Reads the stored evidence again, and changes nothing.
    case replay
    /// Reads the stored evidence again, and stores what this version reads in addition.
    case apply

    /// The path of the API below the app, with its query.
    package var route: (path: String, query: [(name: String, value: String)]) {
        switch self {
        case .backfill: ("backfill", [])
        case .replay: ("replay", [])
        case .apply: ("replay", [("apply", "true")])
        }
    }

    fileprivate var label: String {
        switch self {
        case .backfill: "Ask the stores now"
        case .replay: "Read again, change nothing"
        case .apply: "Read again and store what is new"
        }
    }

    fileprivate var done: String {
        switch self {
        case .backfill: "The stores are asked now. Load the page again to see the progress."
        case .replay, .apply:
            "The evidence is read now. Load the page again to see the progress."
        }
    }
}

/// The progress or the result of such work.
package struct MaintenanceView: Hashable, Sendable {
    /// The store that is asked; nil for a replay.
    let store: String?
    let status: String
    let startedAt: Instant
    let endedAt: Instant?
    /// Why it did not complete.
    let stopped: String?
    /// The steps of a backfill.
    let steps: [Step]
    /// The counts of a replay, with what is counted.
    let counts: [Count]

    struct Step: Hashable, Sendable {
        let name: String
        let items: Figure
        let newFacts: Figure
    }

    struct Count: Hashable, Sendable {
        let name: String
        let figure: Figure
    }

    private init(
        _ node: JSONNode,
        steps: [Step] = [],
        counts: [Count] = []
    ) throws(UnexpectedAnswer) {
        store = node.text("store")
        status = try node.needText("status")
        startedAt = try node.needInstant("startedAt")
        endedAt = node.instant("endedAt")
        stopped = node["stopped"]?.text("detail")
        self.steps = steps
        self.counts = counts
    }

    /// Reads the latest backfill of each store.
    package static func backfills(_ answer: JSONNode) throws(UnexpectedAnswer) -> [Self] {
        var found: [Self] = []
        for member in ["last", "googlePlay"] {
            guard let node = answer[member], !node.isNull else { continue }
            var steps: [Step] = []
            for (name, sum) in try node.need("steps").members {
                steps.append(
                    Step(
                        name: name,
                        items: try sum.figure("items"),
                        newFacts: try sum.figure("newFacts")
                    )
                )
            }
            found.append(try Self(node, steps: steps))
        }
        return found
    }

    /// Reads the latest replay; nil without one.
    package static func replay(_ answer: JSONNode) throws(UnexpectedAnswer) -> Self? {
        guard let node = answer["last"], !node.isNull else { return nil }
        var counts = [
            Count(name: "pieces of evidence", figure: try node.figure("evidence")),
            Count(name: "facts", figure: try node.figure("facts")),
        ]
        for (name, member) in [
            ("facts that are not stored yet", "added"), ("changed answers", "changed"),
        ] {
            counts.append(Count(name: name, figure: try node.need(member).figure("count")))
        }
        return try Self(node, counts: counts)
    }
}

/// The page with an app's backfills and replays.
package enum MaintenancePage {
    /// Returns the page. `problem` is why the stores cannot be asked.
    package static func page(
        _ place: Place,
        backfills: [MaintenanceView],
        problem: String?,
        replay: MaintenanceView?,
        formToken: String,
        done: MaintenanceAction?
    ) -> Page {
        Page(
            "Maintenance",
            place: place,
            [
                .tag(.h1, [], "Maintenance of ", .name(place.app)),
                done.map {
                    .tag(.p, [.class("done"), .of(.role, "status")], .text($0.done))
                } ?? .nothing,
                Parts.card(
                    "Ask the stores for what is missing",
                    "backfill",
                    problem.map { [.tag(.p, [], .name($0))] }
                        ?? [form(.backfill, place, formToken)] + views(backfills)
                ),
                Parts.card(
                    "Read the stored evidence again",
                    "replay",
                    [
                        .tag(
                            .p,
                            [],
                            "After an upgrade, this version can read more in stored messages."
                        ),
                        .tag(
                            .div,
                            [.class("buttons")],
                            form(.replay, place, formToken),
                            form(.apply, place, formToken)
                        ),
                    ] + views(replay.map { [$0] } ?? [])
                ),
            ]
        )
    }

    private static func form(
        _ action: MaintenanceAction,
        _ place: Place,
        _ token: String
    ) -> HTML {
        Page.button(action.label, place.maintenance(action), token)
    }

    private static func views(_ views: [MaintenanceView]) -> [HTML] {
        guard !views.isEmpty else {
            return [Parts.quiet("Nothing has run since the server started.")]
        }
        return views.map { view in
            [
                view.store.map { .tag(.h3, [], .text(Shown.store($0))) } ?? .nothing,
                Parts.facts(
                    [
                        ("Status", .text(view.status)), ("Started", Shown.time(view.startedAt)),
                        ("Ended", Shown.time(view.endedAt, or: "not yet")),
                        ("Stopped by", view.stopped.map(HTML.name) ?? "nothing"),
                    ] + view.counts.map { ($0.name, Shown.figure($0.figure)) }
                ), steps(view),
            ]
        }
    }

    private static func steps(_ view: MaintenanceView) -> HTML {
        guard !view.steps.isEmpty else { return .nothing }
        return Parts.table(
            "Items that the store returned, and facts of them that were new",
            [
                .init(title: "Step"), .init(title: "Items", isNumber: true),
                .init(title: "New facts", isNumber: true),
            ],
            view.steps.map { step in
                [
                    .text(Shown.words(step.name)), Shown.figure(step.items),
                    Shown.figure(step.newFacts),
                ]
            }
        )
    }
}
