import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/audit` and `GET /v1/apps/{app}/customers/{customer}/audit`. The
/// audit log lists changes of ownership, manual grants and revocations, and rejected requests for
/// these, page by page, oldest first.
struct AuditRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    func respond(to request: Request, customer: String? = nil) async throws -> Response {
        let key = try customer.map { text in
            let customer = try CustomerID.storable(text)
            let environment = try app.environment(askedIn: request)
            return CustomerKey(app: app.id, environment: environment, customer: customer)
        }
        let after = try request.eventID("after")
        let limit = try request.limit("limit")
        // A page can be long, so it leaves the thread that reads sockets.
        return .json(
            bytes: try await onPool { try page(of: key, after: after, limit) },
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private func page(of key: CustomerKey?, after: EventID?, _ limit: Int) throws -> [UInt8] {
        let found = try context.storage.audit(
            app: app.id,
            customer: key,
            after: after,
            limit: limit + 1
        )
        let page = found.prefix(limit)
        return JSONWriter.object { writer in
            writer.field("app", app.id)
            writer.field("audit", each: page) { $0.write(to: &$1) }
            writer.field("next", (page.last?.id ?? after)?.description)
            writer.field("more", found.count > limit)
        }
    }
}

extension AuditRecord {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", id.description)
            writer.field("environment", environment.rawValue)
            entry.writeFields(to: &writer)
        }
    }
}
