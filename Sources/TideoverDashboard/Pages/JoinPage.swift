package import TideoverJSON

/// Another id that a person is about to declare to be the same customer.
package struct PlannedJoin: Hashable, Sendable {
    let customer: String
    let alias: String
    let why: String
    /// Whether anything is stored of the other id.
    let isKnown: Bool
    /// The entitlements that the other id has access to.
    let entitlements: [String]

    /// `explain` is the answer about the other id.
    package init(
        customer: String,
        alias: String,
        why: String,
        isKnown: Bool,
        explain: JSONNode
    ) {
        self.customer = customer
        self.alias = alias
        self.why = why
        self.isKnown = isKnown
        entitlements = explain.accessibleEntitlements
    }
}

/// The page that asks for confirmation before two ids are joined.
package enum JoinPage {
    package static func page(_ place: Place, _ join: PlannedJoin, formToken: String) -> Page {
        Page(
            "Join two ids",
            place: place,
            [
                .tag(.h1, [], "Join two ids"),
                Parts.card(
                    "What changes",
                    "join",
                    [
                        join.isKnown ? known(join.alias) : .nothing,
                        Parts.facts([
                            ("Customer", .name(join.customer)), ("Other id", .name(join.alias)),
                            (
                                "The other id has access to",
                                join.entitlements.isEmpty
                                    ? "nothing" : .name(join.entitlements.joined(separator: ", "))
                            ), ("Why", .name(join.why)),
                        ]),
                        Parts.quiet(
                            """
                            Both ids are then answered alike in every environment, with the \
                            purchases of both. Nothing separates them again.
                            """
                        ), confirmation(place, join, formToken),
                    ]
                ),
            ]
        )
    }

    private static func known(_ alias: String) -> HTML {
        .tag(
            .p,
            [.class("alarm")],
            "Data of ",
            .name(alias),
            " is stored already. Check that both ids are the same person."
        )
    }

    private static func confirmation(
        _ place: Place,
        _ join: PlannedJoin,
        _ formToken: String
    ) -> HTML {
        .tag(
            .form,
            [
                .class("line"), .of(.method, "post"),
                .action(place.action(.alias, of: join.customer)),
            ],
            Page.token(formToken),
            CustomerPage.hidden(.alias, join.alias),
            CustomerPage.hidden(.why, join.why),
            .tag(.button, [.of(.type, "submit")], "Join the ids"),
            .tag(.a, [.href(place.customer(join.customer))], "Cancel")
        )
    }
}

extension CustomerPage {
    /// The form that leads to the confirmation.
    var join: HTML {
        [
            Parts.quiet("Another id of the same customer. The next page asks to confirm."),
            .tag(
                .form,
                [.class("line"), .action(view.place.action(.alias, of: view.customer))],
                Parts.hidden("environment", view.place.environment),
                field(.alias, "Other id", [.of(.maxlength, 256), .flag(.required)]),
                field(.why, "Why", [.of(.maxlength, 500), .flag(.required)]),
                .tag(.button, [.of(.type, "submit")], "Continue")
            ),
        ]
    }
}
