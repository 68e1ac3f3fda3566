/// The page with the customers and purchases that a search found.
package enum SearchPage {
    /// Returns the page. `stating` are the ids for which an app states the text as the email
    /// address. `notice` is why a store could not be asked about an order.
    package static func page(
        _ place: Place,
        query: String,
        customers: ListedIDs,
        stating: ListedIDs,
        purchases: [FoundPurchase],
        notice: String?
    ) -> Page {
        Page(
            "Search",
            place: place,
            query: query,
            [
                .tag(.h1, [], "Search for ", .name(query)),
                notice.map { .tag(.p, [.class("alarm")], .name($0)) } ?? .nothing,
                customers.ids.isEmpty && stating.ids.isEmpty && purchases.isEmpty
                    ? nothingFound : .nothing,
                customers.ids.isEmpty
                    ? .nothing
                    : Parts.card(
                        "Customers",
                        "customers",
                        [
                            list(customers.ids, in: place),
                            customers.hasMore
                                ? Parts.quiet("There are more. Enter more characters of the id.")
                                : .nothing,
                        ]
                    ),
                stating.ids.isEmpty
                    ? .nothing
                    : Parts.card(
                        "Customers with this email address",
                        "stating",
                        [
                            list(stating.ids, in: place),
                            Parts.quiet("Apps state the address; it is not verified."),
                            stating.hasMore
                                ? Parts.quiet(
                                    "There are more; `GET /v1/apps/{app}/customers` lists all."
                                ) : .nothing,
                        ]
                    ),
                purchases.isEmpty
                    ? .nothing
                    : Parts.card(
                        "Purchases",
                        "purchases",
                        [table("Purchases with this number or token", purchases, in: place)]
                            + replies(purchases)
                    ),
            ]
        )
    }

    private static let nothingFound = Parts.card(
        "Nothing found",
        "nothing",
        [
            .tag(
                .p,
                [],
                .text(
                    "Search for the beginning of a customer's id or alias, or for a whole "
                        + "transaction number, order number, purchase token or email address. "
                        + "Capital letters count, except in an address."
                )
            )
        ]
    )

    private static func list(_ customers: [ListedID], in place: Place) -> HTML {
        .element(
            .ul,
            [],
            customers.map { listed in
                .tag(
                    .li,
                    [],
                    .tag(.a, [.href(place.customer(listed.customer))], .name(listed.id)),
                    listed.id == listed.customer
                        ? .nothing : [" is an alias of ", .name(listed.customer)]
                )
            }
        )
    }

    static func table(_ caption: HTML, _ purchases: [FoundPurchase], in place: Place) -> HTML {
        Parts.table(
            caption,
            [
                .init(title: "Product"), .init(title: "Customer"), .init(title: "Store"),
                .init(title: "Environment"), .init(title: "Bought"), .init(title: "Transaction"),
                .init(title: "Order"),
            ],
            purchases.map { purchase in
                let there = Place(app: place.app, environment: purchase.environment)
                return [
                    purchase.product.map(HTML.name) ?? "unknown",
                    purchase.customer.map {
                        .tag(.a, [.href(there.customer($0))], .name($0))
                    } ?? "unclaimed", .text(Shown.store(purchase.store)),
                    .text(purchase.environment), Shown.time(purchase.purchasedAt, or: "unknown"),
                    .name(purchase.transaction ?? "none"), .name(purchase.order ?? "none"),
                ]
            }
        )
    }

    private static func replies(_ purchases: [FoundPurchase]) -> [HTML] {
        guard let reply = purchases.lazy.compactMap(\.reply).first else { return [] }
        return [
            .tag(.h3, [], "A sentence for the customer"),
            .tag(.p, [.class("reply"), .of(.id, "reply")], .message(reply)),
        ]
    }
}
