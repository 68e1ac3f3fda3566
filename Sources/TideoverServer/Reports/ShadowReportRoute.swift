import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/shadow`, a page of customers with stored responses of RevenueCat, and
/// `GET /v1/apps/{app}/customers/{customer}/shadow`, one customer.
struct ShadowReportRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    func respond(to request: Request) async throws -> Response {
        guard app.revenueCat != nil else { throw Problem.revenueCatNotConfigured(app.id) }
        let environment = try app.environment(askedIn: request)
        let limit = try request.limit("limit")
        let after = request.queryValue("after").flatMap { CustomerID($0) }
        let now = context.clock()
        let report = try await context.longRead { read in
            try ShadowReport(context, environment, after: after, limit: limit, at: now, read)
        }
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("asOf", now.rfc3339)
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            report.writeFields(to: &writer, after: after)
        }
    }

    func respond(to request: Request, customer: String) async throws -> Response {
        guard app.revenueCat != nil else { throw Problem.revenueCatNotConfigured(app.id) }
        let customer = try CustomerID.storable(customer)
        let environment = try app.environment(askedIn: request)
        let key = CustomerKey(app: app.id, environment: environment, customer: customer)
        let now = context.clock()
        let shadow = try await onPool { try ShadowReport.customer(key, in: context, at: now) }
        guard let shadow else { throw Problem.neverAnswered }
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("asOf", now.rfc3339)
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            shadow.writeFields(to: &writer)
        }
    }
}

extension Problem {
    fileprivate static let neverAnswered = Problem(
        "never-answered",
        detail: "Import one with `tideover import revenuecat`, or set `revenueCat.apiKeyFile`."
    )

    /// The problem of a request without `app` for a report about a single app.
    static let appNeeded = Problem("app-needed", detail: "Name it: `?app=` and its id.")
}
