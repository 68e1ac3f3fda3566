import TideoverHTTP

/// An address within the dashboard.
package struct Link: Hashable, Sendable {
    /// The path and query, percent-encoded.
    package let text: String

    /// Creates a link below `/dashboard`. Segments and values may be any text.
    package init(_ segments: [String] = [], _ query: [(name: String, value: String)] = []) {
        let names = ["/dashboard"] + segments.map { PercentEncoding.encode($0) }
        let path = names.joined(separator: "/")
        let items = query.map { item in
            PercentEncoding.encode(item.name) + "=" + PercentEncoding.encode(item.value)
        }
        text = items.isEmpty ? path : path + "?" + items.joined(separator: "&")
    }

    private init(fragment: String) { text = "#" + fragment }

    fileprivate init(_ page: Link, fragment: String) { text = page.text + "#" + fragment }

    /// A part of the same page, by its id.
    static func anchor(_ id: String) -> Link { Link(fragment: id) }

    /// The content of the same page.
    static let main = Link(fragment: "main")
    package static let portfolio = Link()
    package static let signIn = Link(["sign-in"])
    package static let signOut = Link(["sign-out"])

    /// Returns the sign-in that leads to a page afterwards; nil for that of all apps.
    package static func signIn(leadingTo page: Link?) -> Link {
        page.map { Link(["sign-in"], [(SignInPage.next, $0.text)]) } ?? .signIn
    }

    package static func asset(_ name: String) -> Link { Link(["assets", name]) }
}

/// An app in one environment, which most pages are about.
package struct Place: Hashable, Sendable {
    package let app: String
    package let environment: String

    package init(app: String, environment: String) {
        self.app = app
        self.environment = environment
    }

    package var link: Link { Link(["apps", app], [("environment", environment)]) }

    /// A card of the app's page.
    func card(_ id: String) -> Link { Link(link, fragment: id) }

    /// The search, without its query.
    var search: Link { Link(["apps", app, "search"]) }

    var events: Link { Link(["apps", app, "events"], [("environment", environment)]) }

    var configuration: Link {
        Link(["apps", app, "configuration"], [("environment", environment)])
    }

    var experiments: Link {
        Link(["apps", app, "experiments"], [("environment", environment)])
    }

    /// A page of the simulated stores' customers.
    func sandbox(page: Int = 1) -> Link {
        Link(
            ["apps", app, "sandbox"],
            [("environment", environment)] + (page > 1 ? [("page", String(page))] : [])
        )
    }

    package func webhooks(after done: WebhookAction.Done? = nil) -> Link {
        Link(
            ["apps", app, "webhooks"],
            [("environment", environment)] + (done.map { [("done", $0.rawValue)] } ?? [])
        )
    }

    package func maintenance(after done: MaintenanceAction? = nil) -> Link {
        Link(
            ["apps", app, "maintenance"],
            [("environment", environment)] + (done.map { [("done", $0.rawValue)] } ?? [])
        )
    }

    func maintenance(_ action: MaintenanceAction) -> Link {
        Link(["apps", app, "maintenance", action.rawValue], [("environment", environment)])
    }

    func webhook(_ id: String, _ action: WebhookAction) -> Link {
        Link(["apps", app, "webhooks", id, action.rawValue], [("environment", environment)])
    }

    /// The address of a customer's form.
    package func action(_ action: CustomerAction, of customer: String) -> Link {
        Link(
            ["apps", app, "customers", customer, action.rawValue],
            [("environment", environment)]
        )
    }

    /// A customer's page after an action.
    package func customer(
        _ id: String,
        after action: CustomerAction,
        _ outcomes: [String] = []
    ) -> Link {
        Link(
            ["apps", app, "customers", id],
            [("environment", environment), ("done", action.rawValue)]
                + outcomes.map { ("outcome", $0) }
        )
    }

    package func customer(_ id: String, at instant: String? = nil) -> Link {
        Link(
            ["apps", app, "customers", id],
            [("environment", environment)] + (instant.map { [("at", $0)] } ?? [])
        )
    }
}
