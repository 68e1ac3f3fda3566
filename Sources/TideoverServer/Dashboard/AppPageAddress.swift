import TideoverDashboard
import TideoverHTTP

/// The address of a page of an app, to which a sign-in leads.
///
/// Its link is created anew from the segments and the query, so it never leads to another server or
/// out of the dashboard, whatever text a form or a query contains.
struct AppPageAddress: Sendable {
    let app: String
    let link: Link

    /// Longer addresses are ignored: encoded again in the address of the sign-in, they could exceed
    /// the limit of a request.
    private static let mostBytes = 2_048

    /// Reads the address that a form or a query names; nil if it is not that of an app's page.
    init?(_ text: String?) {
        guard let text, let request = Request(target: text) else { return nil }
        self.init(request)
    }

    /// Returns the address of a request; nil if it is not that of an app's page.
    init?(_ request: Request) {
        guard let segments = Self.segments(of: request) else { return nil }
        self.init(segments, request.query)
    }

    /// Returns the page above a form, such as that of its customer.
    init?(formIn request: Request) {
        guard let segments = Self.segments(of: request) else { return nil }
        let isOfCustomer = segments.dropFirst(2).first == "customers"
        self.init(
            Array(segments.prefix(isOfCustomer ? 4 : 3)),
            request.query.filter { $0.name == "environment" }
        )
    }

    private init?(_ segments: [String], _ query: [QueryItem]) {
        app = segments[1]
        link = Link(segments, query.map { ($0.name, $0.value) })
        guard link.text.utf8.count <= Self.mostBytes else { return nil }
    }

    /// Returns the segments after `dashboard`; nil for a request outside the pages of apps.
    private static func segments(of request: Request) -> [String]? {
        // A browser would resolve `..`, also percent-encoded.
        guard let segments = request.segments, segments.count > 2, segments[0] == "dashboard",
            segments[1] == "apps", !segments.contains("."), !segments.contains("..")
        else { return nil }
        return Array(segments.dropFirst())
    }
}
