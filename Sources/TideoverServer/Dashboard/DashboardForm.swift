import TideoverDashboard
import TideoverHTTP

extension String {
    /// The text without the white space around it, which a copied text often has and a person does
    /// not see.
    var withoutSpaceAround: String {
        var scalars = unicodeScalars[...]
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        return String(scalars)
    }
}

/// The fields of a form that a page of the dashboard sent.
struct DashboardForm: Sendable {
    private let items: [QueryItem]

    /// The longest form that is read.
    private static let mostBytes = 8_192

    /// Parses the request's form; nil if it has none, or if another site sent it.
    init?(_ request: Request) {
        let site = request.headers["Sec-Fetch-Site"]
        guard site == nil || site == "same-origin", request.body.count <= Self.mostBytes,
            request.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true,
            let text = String(validating: request.body, as: UTF8.self),
            let target = RequestTarget("/?\(text)")
        else { return nil }
        items = target.query
    }

    subscript(_ name: String) -> String? { items.first { $0.name == name }?.value }

    subscript(_ field: CustomerAction.Field) -> String { self[field.rawValue] ?? "" }

    /// Whether it comes from a page with the form token of a cookie.
    func isSent(with cookie: String) -> Bool {
        self[Page.formToken].map { DashboardSessions.isFormToken($0, of: cookie) } ?? false
    }

    /// The page for a form without a valid token.
    static func expired(for reader: Reader?, back: Link? = nil) -> Response {
        let page = ProblemPage.page(
            title: "The form has expired.",
            detail: "Load the page again and repeat the action.",
            back: back
        )
        return DashboardResponse.page(page, for: reader, status: 403)
    }
}
