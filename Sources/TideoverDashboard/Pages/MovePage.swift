package import TideoverJSON

/// A purchase that a person is about to move to another customer.
package struct PlannedMove: Hashable, Sendable {
    let purchase: String
    let from: String
    let to: String
    let why: String
    /// Whether anything is stored of the customer who gets it.
    let isKnown: Bool
    /// The entitlements that the customer who gets it has access to already.
    let entitlements: [String]

    /// `explain` is the answer about the customer who gets the purchase.
    package init(
        purchase: String,
        from: String,
        to: String,
        why: String,
        isKnown: Bool,
        explain: JSONNode
    ) {
        self.purchase = purchase
        self.from = from
        self.to = to
        self.why = why
        self.isKnown = isKnown
        entitlements = explain.accessibleEntitlements
    }
}

/// The page that asks for confirmation before a purchase is moved.
package enum MovePage {
    package static func page(_ place: Place, _ move: PlannedMove, formToken: String) -> Page {
        Page(
            "Move a purchase",
            place: place,
            [
                .tag(.h1, [], "Move a purchase"),
                Parts.card(
                    "What changes",
                    "move",
                    [
                        move.isKnown ? .nothing : unknown(move.to),
                        Parts.facts([
                            ("Purchase", .tag(.code, [], .name(move.purchase))),
                            ("From", .name(move.from)), ("To", .name(move.to)),
                            ("Has access to", entitlements(move)), ("Why", .name(move.why)),
                        ]),
                        Parts.quiet(
                            """
                            The new owner has the purchase from now on. Neither a renewal nor a \
                            device of the former owner takes it back; another move does.
                            """
                        ), confirmation(place, move, formToken),
                    ]
                ),
            ]
        )
    }

    private static func unknown(_ customer: String) -> HTML {
        .tag(
            .p,
            [.class("alarm")],
            "Nothing is stored of ",
            .name(customer),
            ". Check the id: the buyer would lose the purchase to a mistyped one."
        )
    }

    private static func entitlements(_ move: PlannedMove) -> HTML {
        move.entitlements.isEmpty
            ? "nothing before the move" : .name(move.entitlements.joined(separator: ", "))
    }

    private static func confirmation(
        _ place: Place,
        _ move: PlannedMove,
        _ formToken: String
    ) -> HTML {
        .tag(
            .form,
            [.class("line"), .of(.method, "post"), .action(place.action(.move, of: move.from))],
            Page.token(formToken),
            CustomerPage.hidden(.purchase, move.purchase),
            CustomerPage.hidden(.to, move.to),
            CustomerPage.hidden(.why, move.why),
            .tag(.button, [.of(.type, "submit")], "Move the purchase"),
            .tag(.a, [.href(place.customer(move.from))], "Cancel")
        )
    }
}

extension CustomerPage {
    /// The forms that lead to the confirmation, for each purchase that the customer owns.
    func moves(_ actions: CustomerActions) -> HTML {
        guard actions.formToken != nil else { return .nothing }
        let owned = view.purchases.filter { purchase in
            purchase.canMove && purchase.owner(at: view.asOf).map(view.ids.contains) == true
        }
        guard !owned.isEmpty else { return .nothing }
        return Parts.card(
            "Move a purchase",
            "moves",
            [Parts.quiet("To the account that the buyer uses. The next page asks to confirm.")]
                + owned.map(move)
        )
    }

    private func move(_ purchase: OwnedPurchase) -> HTML {
        .tag(
            .form,
            [.class("line"), .action(view.place.action(.move, of: view.customer))],
            Parts.hidden("environment", view.place.environment),
            Self.hidden(.purchase, purchase.lineage),
            .tag(.code, [], .name(purchase.lineage)),
            field(.to, "To the customer", [.of(.maxlength, 256), .flag(.required)]),
            field(.why, "Why", [.of(.maxlength, 500), .flag(.required)]),
            .tag(.button, [.of(.type, "submit")], "Continue")
        )
    }
}
