import TideoverHTTP

/// An address within the dashboard.
package struct Link: Hashable, Sendable {
    /// The path and query, percent-encoded.
    package let text: String

    /// Creates a link below `/dashboard`. Segments and values may be any text.
    package init(_ segments: [String] = [], _ query: [(name: String, value: String)] = []) {
        let path = (["/dashboard"] + segments.map(PercentEncoding.encode)).joined(separator: "/")
        let items = query.map { item in
            PercentEncoding.encode(item.name) + "=" + PercentEncoding.encode(item.value)
        }
        text = items.isEmpty ? path : path + "?" + items.joined(separator: "&")
    }

    private init(fragment: String) { text = "#" + fragment }

    /// The content of the same page.
    static let main = Link(fragment: "main")
    package static let portfolio = Link()
    package static let signIn = Link(["sign-in"])
    package static let signOut = Link(["sign-out"])

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

    /// The search, without its query.
    var search: Link { Link(["apps", app, "search"]) }

    package func customer(_ id: String, at instant: String? = nil) -> Link {
        Link(
            ["apps", app, "customers", id],
            [("environment", environment)] + (instant.map { [("at", $0)] } ?? [])
        )
    }
}
