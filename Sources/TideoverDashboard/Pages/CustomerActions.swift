import TideoverCore
package import TideoverJSON

/// A change of a customer that a person can make on the customer's page.
package enum CustomerAction: String, Hashable, Sendable, CaseIterable {
    /// Asks the stores about the customer's purchases.
    case refresh
    case grant
    /// Takes a grant back.
    case revoke
    /// Adds another id of the customer.
    case alias
    /// Gives a purchase to another customer.
    case move

    /// The names of the fields of the forms.
    package enum Field: String, Sendable {
        case entitlement, days, why, grant, alias, purchase, to
        /// Names a grant, so that a form that is sent twice gives it once.
        case once
    }

    /// The sentence after the action. The outcomes are those of a refresh.
    func done(_ outcomes: [String]) -> String {
        switch self {
        case .refresh:
            outcomes.isEmpty
                ? "The customer owns no purchase that a store answers about."
                : "The stores were asked. " + outcomes.map(Self.sentence).joined(separator: " ")
        case .grant: "Access was given."
        case .revoke: "The access given by hand was taken back."
        case .alias: "Both ids are now answered alike."
        case .move: "The purchase was moved."
        }
    }

    private static func sentence(_ outcome: String) -> String {
        switch outcome {
        case "answered": "One answered."
        case "askedRecently": "One answered a short time ago, and was not asked again."
        case "failed": "One did not answer; the server asks again by itself."
        case "busy": "For one there are too many requests; the server asks later by itself."
        case "notConfigured": "For one the configuration has no credentials."
        default: "About one there was nothing to ask."
        }
    }
}

/// What a person may change on a customer's page, and what was just changed.
package struct CustomerActions: Sendable {
    /// The form token of the session; nil for a person who may change nothing.
    let formToken: String?
    /// A name for the next grant.
    let once: String
    /// The entitlements of the app's catalogue.
    let entitlements: [String]
    /// Whether anything is stored of the customer in the environment.
    let isKnown: Bool
    let grants: [GrantView]
    /// The newest lines of the audit log, oldest first.
    let audit: [AuditView]
    /// How many older lines there are.
    let olderAudit: Int
    /// The action that led to this page, with its outcomes.
    let done: (action: CustomerAction, outcomes: [String])?

    package init(
        formToken: String?,
        once: String,
        entitlements: [String],
        grants: JSONNode,
        audit: [JSONNode],
        olderAudit: Int = 0,
        done: (action: CustomerAction, outcomes: [String])?
    ) throws(UnexpectedAnswer) {
        self.formToken = formToken
        self.once = once
        self.entitlements = entitlements
        isKnown = grants["customerKnown"]?.bool ?? true
        self.grants = try grants.list("grants").map { node throws(UnexpectedAnswer) in
            try GrantView(node)
        }
        self.audit = try audit.map { node throws(UnexpectedAnswer) in
            try AuditView(node)
        }
        self.olderAudit = olderAudit
        self.done = done
    }
}

/// Access that was given by hand.
struct GrantView: Hashable, Sendable {
    let id: String
    let entitlement: String
    let start: Instant
    let end: Instant?
    let why: String
    let by: String
    let revokedAt: Instant?

    init(_ node: JSONNode) throws(UnexpectedAnswer) {
        id = try node.needText("id")
        entitlement = try node.needText("entitlement")
        start = try node.needInstant("start")
        end = node.instant("end")
        why = try node.needText("why")
        by = try node.needText("by")
        revokedAt = node["revoked"]?.instant("at")
    }

    func isRunning(at now: Instant) -> Bool {
        revokedAt == nil && (end.map { now < $0 } ?? true)
    }
}

/// A line of the audit log.
struct AuditView: Hashable, Sendable {
    let at: Instant
    let kind: String
    let actor: String
    let by: String?
    let why: String?

    init(_ node: JSONNode) throws(UnexpectedAnswer) {
        at = try node.needInstant("at")
        kind = try node.needText("kind")
        actor = try node.needText("actor")
        by = node.text("by")
        why = node.text("why")
    }
}

extension CustomerPage {
    /// The notice that an action is done.
    func notice(_ actions: CustomerActions) -> HTML {
        actions.done.map { done in
            .tag(
                .p,
                [.class("done"), .of(.role, "status")],
                .text(done.action.done(done.outcomes))
            )
        } ?? .nothing
    }

    /// A warning that the id may be mistyped, because nothing is stored of it.
    func unknown(_ actions: CustomerActions) -> HTML {
        let isShown = !view.purchases.isEmpty || !view.drift.isEmpty || !attributes.isEmpty
        guard !actions.isKnown, !isShown else { return .nothing }
        return .tag(
            .p,
            [.class("alarm")],
            "Nothing is stored of this id in ",
            .text(view.place.environment),
            ". Check the id before you reply."
        )
    }

    /// The forms for changes; nothing for a person who may change nothing.
    func forms(_ actions: CustomerActions) -> HTML {
        guard let token = actions.formToken else { return .nothing }
        return Parts.card(
            "Help this customer",
            "actions",
            [
                form(
                    .refresh,
                    token,
                    "Ask the stores",
                    [
                        Parts.quiet(
                            "Asks the App Store and Google Play about the customer's purchases now."
                        )
                    ],
                    []
                ), give(actions, token), join,
            ]
        )
    }

    private func give(_ actions: CustomerActions, _ token: String) -> HTML {
        guard !actions.entitlements.isEmpty else { return .nothing }
        return form(
            .grant,
            token,
            "Give access",
            [
                Parts.quiet(
                    "Access from now on, besides any purchase. The audit keeps who gave it and why."
                )
            ],
            [
                Self.hidden(.once, actions.once),
                .tag(
                    .label,
                    [],
                    "Entitlement",
                    .element(
                        .select,
                        [.of(.name, CustomerAction.Field.entitlement.rawValue)],
                        actions.entitlements.map {
                            .tag(.option, [.of(.value, $0)], .text(VisibleText.of($0)))
                        }
                    )
                ),
                field(
                    .days,
                    "Days",
                    [.of(.type, "number"), .of(.min, 1), .of(.max, 3_660), .flag(.required)]
                ), field(.why, "Why", [.of(.maxlength, 500), .flag(.required)]),
            ]
        )
    }

    /// Access given by hand, with a form that takes it back.
    func grants(_ actions: CustomerActions) -> HTML {
        guard !actions.grants.isEmpty else { return .nothing }
        return Parts.card(
            "Access given by hand",
            "grants",
            [
                Parts.table(
                    "Grants, oldest first",
                    [
                        .init(title: "Entitlement"), .init(title: "From"), .init(title: "Until"),
                        .init(title: "Why"), .init(title: "By"), .init(title: "Taken back"),
                    ],
                    actions.grants.map { grant in
                        [
                            .name(grant.entitlement), Shown.time(grant.start),
                            Shown.time(grant.end, or: "no date"), .name(grant.why),
                            .name(grant.by), takenBack(grant, actions),
                        ]
                    }
                )
            ]
        )
    }

    private func takenBack(_ grant: GrantView, _ actions: CustomerActions) -> HTML {
        if let revokedAt = grant.revokedAt { return Shown.time(revokedAt) }
        guard grant.isRunning(at: view.asOf) else { return "ended" }
        guard let token = actions.formToken else { return "no" }
        return form(
            .revoke,
            token,
            "Take back",
            [],
            [
                Self.hidden(.grant, grant.id),
                field(.why, "Why", [.of(.maxlength, 500), .flag(.required)]),
            ]
        )
    }

    /// The changes of this customer by people, stores and devices.
    func audit(_ actions: CustomerActions) -> HTML {
        guard !actions.audit.isEmpty else { return .nothing }
        return Parts.card(
            "Audit",
            "audit",
            [
                Parts.table(
                    "Changes of ownership and access, oldest first",
                    [
                        .init(title: "At"), .init(title: "Change"), .init(title: "By"),
                        .init(title: "Why"),
                    ],
                    actions.audit.map { line in
                        [
                            Shown.time(line.at), .text(Shown.words(line.kind)),
                            .name(line.by.map { "\($0) (\(line.actor))" } ?? line.actor),
                            line.why.map(HTML.name) ?? "none given",
                        ]
                    }
                ),
                actions.olderAudit == 0
                    ? .nothing
                    : Parts.quiet(
                        .text(
                            "There are \(actions.olderAudit) older ones; `GET .../audit` lists all."
                        )
                    ),
            ]
        )
    }

    // MARK: Forms

    private func form(
        _ action: CustomerAction,
        _ token: String,
        _ label: String,
        _ explanation: [HTML],
        _ fields: [HTML]
    ) -> HTML {
        [
            .group(explanation),
            .element(
                .form,
                [
                    .class("line"), .of(.method, "post"),
                    .action(view.place.action(action, of: view.customer)),
                ],
                [Page.token(token)] + fields + [.tag(.button, [.of(.type, "submit")], .text(label))]
            ),
        ]
    }

    func field(
        _ name: CustomerAction.Field,
        _ label: String,
        _ attributes: [Attribute]
    ) -> HTML {
        .tag(
            .label,
            [],
            .text(label),
            .element(.input, [.of(.name, name.rawValue)] + attributes, [])
        )
    }

    static func hidden(_ name: CustomerAction.Field, _ value: String) -> HTML {
        Parts.hidden(name.rawValue, value)
    }
}
