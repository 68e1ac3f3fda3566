/// The person who reads a page.
package struct Reader: Hashable, Sendable {
    /// The name of the key that the person signed in with.
    package let name: String
    /// The apps that the key permits, each with its environments.
    package let places: [Place]
    /// Proves that a form was sent from a page of this session.
    package let formToken: String

    package init(name: String, places: [Place], formToken: String) {
        self.name = name
        self.places = places
        self.formToken = formToken
    }

    /// Returns the name of a place, with its environment if the app has several.
    fileprivate func name(of place: Place) -> String {
        places.count { $0.app == place.app } > 1
            ? "\(place.app) (\(place.environment))" : place.app
    }
}

/// A whole page: its content inside the frame of the dashboard.
package struct Page: Sendable {
    package let title: String
    /// The app and environment that the page is about.
    package let place: Place?
    /// What is in the search field.
    package let query: String
    package let content: [HTML]

    init(_ title: String, place: Place? = nil, query: String = "", _ content: [HTML]) {
        self.title = title
        self.place = place
        self.query = query
        self.content = content
    }

    /// The name of the field with the form token.
    package static let formToken = "form_token"

    /// Returns the page as an HTML document; without a reader it is of a person not signed in.
    package func document(for reader: Reader?) -> [UInt8] {
        HTMLWriter.document(
            .tag(.html, [.of(.lang, "en")], head, .element(.body, [], body(for: reader)))
        )
    }

    private var head: HTML {
        .tag(
            .head,
            [],
            .tag(.meta, [.of(.charset, "utf-8")]),
            .tag(
                .meta,
                [.of(.name, "viewport"), .of(.content, "width=device-width, initial-scale=1")]
            ),
            .tag(.title, [], .text("\(VisibleText.of(title)) - Tideover")),
            .tag(.link, [.of(.rel, "stylesheet"), .href(.asset("dashboard.css"))]),
            .tag(
                .link,
                [.of(.rel, "icon"), .of(.type, "image/svg+xml"), .href(.asset("icon.svg"))]
            ),
            .module(.asset("dashboard.js"))
        )
    }

    private func body(for reader: Reader?) -> [HTML] {
        [
            .tag(.a, [.class("skip"), .href(.main)], "Skip to the content"),
            .tag(
                .header,
                [.class("top")],
                .tag(.a, [.class("brand"), .href(.portfolio)], "Tideover"),
                reader.map(navigation) ?? .nothing,
                reader == nil ? .nothing : search,
                reader.map(signOut) ?? .nothing
            ), .element(.main, [.of(.id, "main")], content),
            .tag(
                .footer,
                [.class("foot")],
                "Times are in your time zone; without the script they are in UTC."
            ),
        ]
    }

    private func navigation(_ reader: Reader) -> HTML {
        .element(
            .nav,
            [.of(.label, "Apps")],
            [entry("All apps", .portfolio, isCurrent: place == nil && title == PortfolioPage.title)]
                + reader.places.map { here in
                    entry(reader.name(of: here), here.link, isCurrent: here == place)
                }
        )
    }

    private func entry(_ name: String, _ link: Link, isCurrent: Bool) -> HTML {
        .tag(.a, [.href(link)] + (isCurrent ? [.of(.isCurrent, "page")] : []), .name(name))
    }

    private var search: HTML {
        guard let place else { return .nothing }
        return .tag(
            .form,
            [.class("line"), .of(.role, "search"), .action(place.search)],
            Parts.hidden("environment", place.environment),
            .tag(
                .input,
                [
                    .of(.type, "search"), .of(.name, "q"), .of(.value, query),
                    .of(.label, "Search customers and purchases"),
                    .of(.placeholder, "Id, order or email  ( / )"),
                    .of(.maxlength, 500), .flag(.required),
                ]
            )
        )
    }

    private func signOut(_ reader: Reader) -> HTML {
        .tag(
            .form,
            [.of(.method, "post"), .action(.signOut)],
            Self.token(reader.formToken),
            .tag(
                .button,
                [.of(.type, "submit"), .of(.title, "Signed in as \(VisibleText.of(reader.name))")],
                "Sign out"
            )
        )
    }

    /// A form of one button, without fields.
    static func button(_ label: String, _ action: Link, _ token: String) -> HTML {
        .tag(
            .form,
            [.of(.method, "post"), .action(action)],
            Self.token(token),
            .tag(.button, [.of(.type, "submit")], .text(label))
        )
    }

    static func token(_ token: String) -> HTML {
        Parts.hidden(formToken, token)
    }
}
