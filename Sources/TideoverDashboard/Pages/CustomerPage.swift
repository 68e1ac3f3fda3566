import TideoverCore

/// The page of one customer: the answer, why, and the life that led to it.
package struct CustomerPage {
    let view: CustomerView
    let attributes: [AttributeView]

    package static func page(
        _ view: CustomerView,
        _ attributes: [AttributeView],
        _ actions: CustomerActions
    ) -> Page {
        let page = CustomerPage(view: view, attributes: attributes)
        return Page(
            view.customer,
            place: view.place,
            query: "",
            [
                .tag(.h1, [], "Customer ", .name(view.customer)), page.notice(actions),
                page.unknown(actions), page.instant, page.sandbox,
                .group(view.entitlements.map(page.answer)), page.forms(actions),
                page.grants(actions), page.drift, page.stated, page.ownership,
                page.moves(actions), page.audit(actions),
            ]
        )
    }

    // MARK: The instant

    private var heading: HTML {
        guard view.isPast else { return "The answer now" }
        return view.asOf > view.now
            ? "The answer at a future instant, if no message comes before"
            : "The answer at a past instant"
    }

    private var instant: HTML {
        let value = "\(view.asOf.rfc3339.prefix(16))"
        return Parts.card(
            heading,
            "instant",
            [
                .tag(
                    .p,
                    [],
                    "As of ",
                    Shown.time(view.asOf),
                    ", from all messages received so far."
                ),
                .tag(
                    .form,
                    [.class("line"), .action(view.place.customer(view.customer))],
                    Parts.hidden("environment", view.place.environment),
                    .tag(
                        .label,
                        [],
                        "Another instant, in UTC",
                        .tag(
                            .input,
                            [
                                .of(.type, "datetime-local"), .of(.name, "at"), .of(.value, value),
                                .flag(.required),
                            ]
                        )
                    ),
                    .tag(.button, [.of(.type, "submit")], "Show"),
                    view.isPast
                        ? .tag(.a, [.href(view.place.customer(view.customer))], "Back to now")
                        : .nothing
                ), slider,
            ]
        )
    }

    /// Moves through the life of the customer, from its beginning until now.
    private var slider: HTML {
        let phases = view.entitlements.flatMap(\.life.phases).filter { $0.value != .never }
        guard let start = phases.map(\.from).min(), let end = phases.map(\.until).max(),
            start < end
        else { return .nothing }
        func milliseconds(_ instant: Instant) -> Int { Int(instant.millisecondsSince1970) }
        let position = min(max(view.asOf, start), end)
        return .tag(
            .form,
            [.class("line"), .action(view.place.customer(view.customer))],
            Parts.hidden("environment", view.place.environment),
            .tag(
                .label,
                [.class("wide")],
                "Any instant of the life",
                .tag(
                    .input,
                    [
                        .of(.type, "range"), .of(.name, "at"), .of(.min, milliseconds(start)),
                        .of(.max, milliseconds(end)),
                        .of(.step, max(1, (milliseconds(end) - milliseconds(start)) / 1_000)),
                        .of(.value, String(milliseconds(position))),
                    ]
                )
            ),
            .tag(.button, [.of(.type, "submit")], "Show this instant")
        )
    }

    // MARK: The answer

    private var sandboxAnswers: Bool { view.sandbox?.answers == true }

    /// The ruling on purchases of the sandbox, on a page of production.
    private var sandbox: HTML {
        guard let sandbox = view.sandbox else { return .nothing }
        let there = Place(app: view.place.app, environment: Environment.sandbox.rawValue)
        return Parts.card(
            "Purchases in the sandbox",
            "sandbox",
            [
                .tag(.p, [], .name(sandbox.sentence)),
                sandbox.answers
                    ? .tag(
                        .p,
                        [],
                        "The app gets the answer of the sandbox. This page has that of production."
                    ) : .nothing,
                .tag(
                    .p,
                    [],
                    .tag(
                        .a,
                        [.href(there.customer(view.customer))],
                        "The customer in the sandbox"
                    )
                ),
            ]
        )
    }

    private func answer(_ entitlement: EntitlementView) -> HTML {
        let id = "entitlement-\(view.entitlements.firstIndex(of: entitlement) ?? 0)"
        return [
            .tag(
                .div,
                [.class("columns")],
                Parts.card(
                    .name(entitlement.name),
                    id,
                    [
                        .tag(
                            .p,
                            [.class("answer")],
                            Parts.badge(entitlement.phase),
                            entitlement.access ? ": has access" : ": has no access",
                            sandboxAnswers ? " in production" : .nothing
                        ), .tag(.p, [.class("why")], "Why? ", why(entitlement)),
                        Parts.facts(facts(entitlement)),
                    ]
                ),
                reply(entitlement, id: "\(id)-reply")
            ), life(entitlement, id: "\(id)-life"), evidence(entitlement, id: "\(id)-evidence"),
        ]
    }

    private func why(_ entitlement: EntitlementView) -> HTML {
        entitlement.why.isEmpty
            ? "Nothing is known about this customer."
            : .name(entitlement.why.joined(separator: " "))
    }

    private func facts(_ entitlement: EntitlementView) -> [(name: String, value: HTML)] {
        let renews: HTML =
            switch entitlement.willRenew {
            case true?: "yes"
            case false?: "no"
            case nil: "unknown"
            }
        let next: HTML =
            entitlement.next.map { next in
                [
                    Shown.time(next.at), ": ", .text(next.state), ". ", .name(next.why),
                ]
            } ?? "none without a new message"
        return [
            ("Reason", .text(Shown.words(entitlement.reason))),
            ("Certainty", .text(entitlement.confidence)),
            ("Rule", .tag(.code, [], .text(entitlement.rule))),
            ("Access until", Shown.time(entitlement.accessUntil, or: "no date")),
            ("Grace until", Shown.time(entitlement.graceUntil, or: "no grace")),
            ("Renews", renews),
            ("Product", entitlement.product.map(HTML.name) ?? "none"),
            ("Store", .text(Shown.store(entitlement.store))), ("Next change", next),
        ]
    }

    private func reply(_ entitlement: EntitlementView, id: String) -> HTML {
        guard !sandboxAnswers else {
            return Parts.card(
                "Ready to send",
                id,
                [Parts.quiet("The customer's page of the sandbox has what the app shows.")]
            )
        }
        let isFirst = entitlement == view.entitlements.first
        let text = entitlement.reply.joined(separator: " ")
        return Parts.card(
            "Ready to send",
            id,
            [
                text.isEmpty
                    ? Parts.quiet("There is no sentence for this state.")
                    : .tag(
                        .p,
                        [.class("reply")] + (isFirst ? [.of(.id, "reply")] : []),
                        .message(text)
                    ), .tag(.h3, [], "In the app"),
                .tag(.p, [], .name(view.prompt)), prompt(about: entitlement),
            ]
        )
    }

    /// The prompt as the customer sees it, if it is about the entitlement.
    private func prompt(about entitlement: EntitlementView) -> HTML {
        guard let text = view.promptText, text.entitlement == entitlement.name else {
            return .nothing
        }
        return .tag(
            .div,
            [.class("reply")],
            .tag(.p, [], .tag(.strong, [], .message(text.title))),
            .tag(.p, [], .message(text.message)),
            Parts.quiet(["Button: ", .message(text.button)])
        )
    }

    // MARK: The life

    private func life(_ entitlement: EntitlementView, id: String) -> HTML {
        guard let drawing = LifeDrawing(entitlement.life, of: view) else {
            return Parts.card("Life", id, [Parts.quiet("No purchase that unlocks it is known.")])
        }
        return Parts.card(
            "Life",
            id,
            [
                Parts.figure("Timeline", drawing.svg, caption: legend(entitlement.life)),
                denied(entitlement),
                .tag(
                    .details,
                    [.flag(.open)],
                    .tag(.summary, [], "The same as a table"),
                    table(entitlement.life)
                ),
            ]
        )
    }

    private func legend(_ life: LifeView) -> HTML {
        let shown = Phase.drawn.filter { phase in life.phases.contains { $0.value == phase } }
        return .element(
            .ul,
            [.class("legend")],
            shown.map { .tag(.li, [], Parts.badge($0, $0.explanation)) } + [
                .tag(
                    .li,
                    [],
                    "Row \"Expiry check\": where it denies access that the store confirms"
                )
            ]
        )
    }

    private func denied(_ entitlement: EntitlementView) -> HTML {
        guard !entitlement.denied.isEmpty else { return .nothing }
        return Parts.numbers(
            entitlement.denied.map { denied in
                ("denied: \(Shown.judge(denied.judge))", Shown.minutes(denied.minutes))
            }
        )
    }

    private func table(_ life: LifeView) -> HTML {
        Parts.table(
            "Tideover's answers, oldest first, and where an expiry check denies instead",
            [
                .init(title: "From"), .init(title: "Until"), .init(title: "Tideover"),
                .init(title: "An expiry check"),
            ],
            life.phases.filter { $0.value != .never }.map { phase in
                let wrong = life.denials(.expiryCheck).filter {
                    phase.meets(from: $0.from, until: $0.until)
                }
                return [
                    .tag(
                        .a,
                        [.href(view.place.customer(view.customer, at: phase.from.rfc3339))],
                        Shown.time(phase.from)
                    ), Shown.time(phase.until), Parts.badge(phase.value),
                    wrong.isEmpty
                        ? "denies nothing that is confirmed"
                        : .element(.span, [.class("alarm")], denials(wrong)),
                ]
            }
        )
    }

    private func denials(_ denials: [Lockouts.Stretch]) -> [HTML] {
        ["denies, "]
            + denials.enumerated().flatMap { place, denial -> [HTML] in
                [
                    place > 0 ? ", " : .nothing, Shown.time(denial.from), " to ",
                    Shown.time(denial.until),
                ]
            }
    }

    // MARK: Attributes

    private var stated: HTML {
        guard !attributes.isEmpty else { return .nothing }
        return Parts.card(
            "Attributes",
            "attributes",
            [
                Parts.table(
                    "What the app states about the customer, as of its last change",
                    [.init(title: "Name"), .init(title: "Value"), .init(title: "As of")],
                    attributes.map { attribute in
                        [
                            .name(attribute.name), .name(attribute.value),
                            Shown.time(attribute.updatedAt),
                        ]
                    }
                )
            ]
        )
    }

    // MARK: Evidence, differences, ownership

    private func evidence(_ entitlement: EntitlementView, id: String) -> HTML {
        guard !entitlement.used.isEmpty else { return .nothing }
        if let place = place(ofFactsOf: entitlement) {
            let link = Link.anchor("entitlement-\(place)-evidence")
            let name = HTML.name(view.entitlements[place].name)
            let same: HTML = ["The facts are those of ", .tag(.a, [.href(link)], name), "."]
            return Parts.card("Evidence", id, [Parts.quiet(same)])
        }
        let aside: HTML =
            entitlement.setAside.isEmpty
            ? .nothing
            : .tag(
                .details,
                [],
                .tag(.summary, [], "Facts set aside: \(entitlement.setAside.count)"),
                factTable("Facts that do not decide, with the reason", entitlement.setAside)
            )
        return Parts.card(
            "Evidence",
            id,
            [factTable("The facts that decide", entitlement.used), aside]
        )
    }

    /// The place of an earlier entitlement with the same facts, which the page shows once. Nil if
    /// there is none.
    private func place(ofFactsOf entitlement: EntitlementView) -> Int? {
        let place = view.entitlements.firstIndex {
            $0.used == entitlement.used && $0.setAside == entitlement.setAside
        }
        return place.flatMap { view.entitlements[$0] == entitlement ? nil : $0 }
    }

    private func factTable(_ caption: HTML, _ facts: [FactView]) -> HTML {
        Parts.table(
            caption,
            [
                .init(title: "Statement"), .init(title: "Role"), .init(title: "From"),
                .init(title: "Stated"), .init(title: "Received"), .init(title: "Evidence"),
            ],
            facts.map { fact in
                [
                    .name(fact.says), .text(Shown.words(fact.role)),
                    .name(Shown.source(fact.source)), Shown.time(fact.assertedAt),
                    Shown.time(fact.learnedAt),
                    fact.evidence.map { digest in
                        .tag(.code, [.of(.title, digest)], .text(String(digest.prefix(12))))
                    } ?? "none",
                ]
            }
        )
    }

    private var drift: HTML {
        guard !view.drift.isEmpty else {
            return Parts.card(
                "Differences from devices",
                "drift",
                [Parts.quiet("No device reports another state.")]
            )
        }
        return Parts.card(
            "Differences from devices",
            "drift",
            [
                Parts.table(
                    "What a device concluded differently",
                    [
                        .init(title: "Since"), .init(title: "Entitlement"),
                        .init(title: "Direction"), .init(title: "Cause"), .init(title: "State"),
                    ],
                    view.drift.map { drift in
                        [
                            Shown.time(drift.openedAt), .name(drift.entitlement),
                            .text(Shown.words(drift.direction)), .name(drift.sentence),
                            drift.isOpen ? "open" : "healed",
                        ]
                    }
                )
            ]
        )
    }

    private var ownership: HTML {
        var parts: [HTML] = []
        if view.purchases.isEmpty {
            parts.append(Parts.quiet("No purchase belongs to this customer."))
        } else {
            parts.append(owners)
        }
        let others = view.ids.filter { $0 != view.customer }
        if !others.isEmpty {
            parts.append(.tag(.h3, [], "Other ids of this customer"))
            parts.append(.element(.ul, [], others.map(otherID)))
        }
        return Parts.card("Ownership", "ownership", parts)
    }

    private func otherID(_ id: String) -> HTML {
        .tag(
            .li,
            [],
            .tag(.a, [.href(view.place.customer(id))], .name(id)),
            id == view.ids.first ? ", the main id" : .nothing
        )
    }

    private var owners: HTML {
        Parts.table(
            "The owners of each purchase, oldest first",
            [
                .init(title: "Purchase"), .init(title: "Owner"), .init(title: "Since"),
                .init(title: "By"),
            ],
            view.purchases.flatMap { purchase in
                purchase.owners.map { owner in
                    [
                        .tag(.code, [], .name(purchase.lineage)), .name(owner.customer),
                        Shown.time(owner.from, or: "its start"), .text(Shown.words(owner.why)),
                    ]
                }
            }
        )
    }
}
