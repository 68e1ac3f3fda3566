import TideoverCore
package import TideoverJSON

/// What a person can do with the simulated stores of an app.
package enum SandboxAction: String, Hashable, Sendable, CaseIterable {
    /// A customer buys a product.
    case buy
    /// Every charge to the customer is declined from now on.
    case fail
    /// Charges are accepted again, and open ones are retried at once.
    case recover
    /// The customer's newest payment is refunded.
    case refund
    /// The customer turns renewal off.
    case cancel
    /// The clock moves to the stores' next event.
    case step
    /// The clock runs, or stops.
    case play
    /// The clock moves by a length of time.
    case leap

    /// The names of the fields of the forms.
    package enum Field: String, Sendable {
        case action = "do"
        case customer, store, product, speed, length
    }

    /// The speeds of the clock, relative to real time.
    package static let speeds: [(factor: Int64, label: String)] = [
        (0, "stopped"), (60, "a minute a second"), (3_600, "an hour a second"),
        (86_400, "a day a second"), (604_800, "a week a second"),
    ]

    /// The lengths by which the clock can move at once, as the control server reads them.
    package static let lengths: [(text: String, label: String)] = [
        ("1 h", "an hour"), ("1 d", "a day"), ("1 w", "a week"), ("1 month", "a month"),
        ("1 year", "a year"),
    ]
}

/// The customers of simulated stores that one page shows.
package struct SandboxPart: Hashable, Sendable {
    /// The maximum number of customers on one page.
    package static let most = 50

    /// The number of the page, from 1 on.
    let page: Int
    /// How many pages there are, at least one.
    let pages: Int
    /// How many customers there are.
    let customers: Int

    /// `asked` is the page that a request names. Instead of one that does not exist it is the
    /// nearest.
    package init(_ asked: String?, of customers: Int) {
        self.customers = customers
        pages = max(1, (customers + Self.most - 1) / Self.most)
        page = min(max(asked.flatMap(Int.init) ?? 1, 1), pages)
    }

    /// How many customers are on the pages before it.
    var earlier: Int { (page - 1) * Self.most }

    /// Returns the customers of the page.
    package func of(_ customers: [JSONNode]) -> [JSONNode] {
        Array(customers.dropFirst(earlier).prefix(Self.most))
    }
}

/// The simulated stores of an app, with what the server answers about the customers of one page.
package struct SandboxView: Hashable, Sendable {
    let now: Instant
    /// How many times faster than real time the clock runs; 0 while it is stopped.
    let speed: Int64
    let part: SandboxPart
    /// The customers of the part.
    let customers: [SandboxCustomer]
    /// The products on sale in each store, in the spelling of the server's catalogue.
    let products: [String: [String]]

    /// `stores` is the control server's answer. `answers` are those of the API by customer id.
    package init(
        _ stores: JSONNode,
        part: SandboxPart,
        answers: [String: JSONNode]
    ) throws(UnexpectedAnswer) {
        now = try stores.needInstant("now")
        speed = stores["speed"]?.int64 ?? 0
        self.part = part
        customers = try part.of(stores.list("customers")).map { node throws(UnexpectedAnswer) in
            try SandboxCustomer(node, answers: answers)
        }
        products = Dictionary(
            stores["products"]?.members.map { ($0.key, stores["products"]?.texts($0.key) ?? []) }
                ?? [],
            uniquingKeysWith: { first, _ in first }
        )
    }
}

/// A customer of a simulated store.
struct SandboxCustomer: Hashable, Sendable {
    let name: String
    let store: String
    /// The id under which the server knows the customer; nil if it learns of none.
    let id: String?
    /// The state in the store itself.
    let state: String
    let until: Instant?
    let answers: [Answer]

    /// What the server answers about one entitlement.
    struct Answer: Hashable, Sendable {
        let entitlement: String
        let phase: Phase
        let until: Instant?
    }

    init(_ node: JSONNode, answers: [String: JSONNode]) throws(UnexpectedAnswer) {
        name = try node.needText("name")
        store = try node.needText("store")
        id = node.text("appAccountToken")
        state = try node.needText("state")
        until = node.instant("until")
        var read: [Answer] = []
        let entitlements = id.flatMap { answers[$0] }?["entitlements"]
        for (entitlement, answer) in entitlements?.members.map({ $0 }) ?? [] {
            read.append(
                Answer(
                    entitlement: entitlement,
                    phase: try Phase(answer),
                    until: answer.instant("accessUntil")
                )
            )
        }
        self.answers = read
    }
}

/// What happened in the simulated stores after an action.
package struct SandboxOutcome: Hashable, Sendable {
    let moments: [Moment]
    /// Why the stores refused the action.
    let fault: String?

    struct Moment: Hashable, Sendable {
        let at: Instant?
        let customer: String
        let what: String
    }

    /// Reads the control server's answer to a step.
    package init(_ answer: JSONNode) {
        fault = answer.text("fault")
        moments = answer.list("moments").map { node in
            let type = [node.text("notificationType"), node.text("subtype")].compactMap(\.self)
                .joined(separator: ", ")
            let what = node.text("did") ?? (type.isEmpty ? node.text("note") : type) ?? "asked"
            let trouble =
                node.text("refused").map { "refused: \($0)" }
                ?? node.text("failure").map { "not delivered: \($0)" }
            return Moment(
                at: node.instant("at"),
                customer: node.text("customer") ?? "",
                what: [what, trouble].compactMap(\.self).joined(separator: "; ")
            )
        }
    }
}

/// The page that drives the simulated stores of a rehearsal.
package struct SandboxPage {
    let place: Place
    let view: SandboxView
    /// The form token of the session; nil for a person who may change nothing.
    let formToken: String?

    package static func page(
        _ place: Place,
        _ view: SandboxView,
        formToken: String?,
        outcome: SandboxOutcome?
    ) -> Page {
        let page = SandboxPage(place: place, view: view, formToken: formToken)
        return Page(
            "Sandbox",
            place: place,
            [
                .tag(.h1, [], "Simulated stores of ", .name(place.app)),
                outcome.map(page.happened) ?? .nothing, page.clock, page.pages,
                .element(
                    .div,
                    [.class("halves")],
                    view.customers.enumerated().map { page.customer($1, at: $0) }
                ), page.pages,
            ]
        )
    }

    /// The page for stores that do not answer.
    package static func silent(_ place: Place) -> Page {
        Page(
            "Sandbox",
            place: place,
            [
                .tag(.h1, [], "Simulated stores of ", .name(place.app)),
                Parts.card(
                    "The stores do not answer",
                    "silent",
                    [
                        .tag(
                            .p,
                            [],
                            "Start them with ",
                            .tag(.code, [], "tideover sandbox serve"),
                            ", then load the page."
                        )
                    ]
                ),
            ]
        )
    }

    /// The most moments that are shown of one action, the latest ones.
    private static let mostMoments = 40

    private func happened(_ outcome: SandboxOutcome) -> HTML {
        if let fault = outcome.fault {
            return .tag(
                .p,
                [.class("done"), .of(.role, "status")],
                "The stores did not do it: ",
                .name(fault)
            )
        }
        let shown = outcome.moments.suffix(Self.mostMoments)
        let left = outcome.moments.count - shown.count
        return .tag(
            .div,
            [.class("done"), .of(.role, "status")],
            shown.isEmpty ? .tag(.p, [], "Nothing else happened.") : .nothing,
            left > 0 ? Parts.quiet("\(left) earlier events are left out.") : .nothing,
            .element(
                .ul,
                [.class("moments")],
                shown.map { moment in
                    .tag(
                        .li,
                        [],
                        moment.at.map(Shown.time) ?? .nothing,
                        " ",
                        .name(moment.customer),
                        " ",
                        .name(moment.what)
                    )
                }
            )
        )
    }

    // MARK: The clock

    private var clock: HTML {
        let speed = SandboxAction.speeds.first { $0.factor == view.speed }?.label
        return Parts.card(
            "The clock",
            "clock",
            [
                .tag(
                    .div,
                    view.speed > 0 ? [.class("playing")] : [],
                    Parts.facts([
                        ("Time in the stores", Shown.time(view.now)),
                        ("Speed", .text(speed ?? "\(view.speed) times as fast as here")),
                    ])
                ),
                formToken == nil
                    ? .nothing
                    : .tag(
                        .div,
                        [.class("buttons")],
                        form(.step, [], "Step to the next event"),
                        form(.play, [choice(.speed, "Speed", speeds)], "Play"),
                        form(.leap, [choice(.length, "Length", lengths)], "Leap")
                    ),
            ]
        )
    }

    private var speeds: [(value: String, label: String)] {
        SandboxAction.speeds.map { (String($0.factor), $0.label) }
    }

    private var lengths: [(value: String, label: String)] {
        SandboxAction.lengths.map { ($0.text, $0.label) }
    }

    // MARK: Customers

    /// Which customers the page shows, with links to the others; nothing if it shows all.
    private var pages: HTML {
        let part = view.part
        guard part.pages > 1 else { return .nothing }
        let from = Shown.number(Double(part.earlier + 1))
        let to = Shown.number(Double(part.earlier + view.customers.count))
        let all = Shown.number(Double(part.customers))
        let links: [(name: String, page: Int, leads: Bool)] = [
            ("First", 1, part.page > 1), ("Previous", part.page - 1, part.page > 1),
            ("Next", part.page + 1, part.page < part.pages),
            ("Last", part.pages, part.page < part.pages),
        ]
        return .tag(
            .nav,
            [.of(.label, "Pages of customers")],
            .element(
                .p,
                [],
                [.text("Customers \(from) to \(to) of \(all).")]
                    + links.filter(\.leads).flatMap { link -> [HTML] in
                        [" ", .tag(.a, [.href(place.sandbox(page: link.page))], .text(link.name))]
                    }
            )
        )
    }

    private func customer(_ customer: SandboxCustomer, at index: Int) -> HTML {
        let state: HTML = [
            .text(Shown.words(customer.state)),
            customer.until.map { [" until ", Shown.time($0)] } ?? .nothing,
        ]
        return Parts.card(
            [.name(customer.name), ", ", .text(Shown.store(customer.store))],
            "customer-\(view.part.earlier + index)",
            [
                Parts.facts([("In the store", state)] + answers(customer)),
                customer.id.map {
                    .tag(.p, [], .tag(.a, [.href(place.customer($0))], "The customer's page"))
                } ?? .nothing, formToken == nil ? .nothing : actions(customer),
            ]
        )
    }

    private func answers(_ customer: SandboxCustomer) -> [(name: String, value: HTML)] {
        customer.answers.map { answer in
            (
                "Answer for \(VisibleText.of(answer.entitlement))",
                [
                    Parts.badge(answer.phase),
                    answer.until.map { end in
                        [answer.phase.hasAccess ? " until " : ", access until ", Shown.time(end)]
                    } ?? .nothing,
                ]
            )
        }
    }

    private func actions(_ customer: SandboxCustomer) -> HTML {
        let sold = view.products[customer.store] ?? []
        return [
            sold.isEmpty
                ? .nothing
                : form(
                    .buy,
                    [choice(.product, "Product", sold.map { ($0, $0) })],
                    "Buy",
                    of: customer
                ),
            .tag(
                .div,
                [.class("buttons")],
                form(.fail, [], "Payments fail", of: customer),
                form(.recover, [], "Payments recover", of: customer),
                form(.refund, [], "Refund", of: customer),
                form(.cancel, [], "Cancel", of: customer)
            ),
        ]
    }

    // MARK: Forms

    private func form(
        _ action: SandboxAction,
        _ fields: [HTML],
        _ label: String,
        of customer: SandboxCustomer? = nil
    ) -> HTML {
        var hidden = [Parts.hidden(SandboxAction.Field.action.rawValue, action.rawValue)]
        if let customer {
            hidden.append(
                Parts.hidden(SandboxAction.Field.customer.rawValue, customer.name)
            )
            hidden.append(Parts.hidden(SandboxAction.Field.store.rawValue, customer.store))
        }
        let name = customer.map { "\(label): \(VisibleText.of($0.name))" }
        return .element(
            .form,
            [.class("line"), .of(.method, "post"), .action(place.sandbox(page: view.part.page))],
            [formToken.map(Page.token) ?? .nothing] + hidden + fields + [
                .tag(
                    .button,
                    [.of(.type, "submit")] + (name.map { [.of(.label, $0)] } ?? []),
                    .text(label)
                )
            ]
        )
    }

    private func choice(
        _ field: SandboxAction.Field,
        _ label: String,
        _ options: [(value: String, label: String)]
    ) -> HTML {
        .tag(
            .label,
            [],
            .text(label),
            .element(
                .select,
                [.of(.name, field.rawValue)],
                options.map {
                    .tag(.option, [.of(.value, $0.value)], .text(VisibleText.of($0.label)))
                }
            )
        )
    }
}
