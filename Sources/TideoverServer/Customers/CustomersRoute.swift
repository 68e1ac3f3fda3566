import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/customers`: the ids of customers, or those with a prefix or an email
/// address, page by page.
struct CustomersRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    /// The maximum length of an id.
    private static let longestID = 500

    func respond(to request: Request) async throws -> Response {
        let environment = try app.environment(askedIn: request)
        let prefix = request.queryValue("prefix") ?? ""
        let after = request.queryValue("after")
        for (name, text) in [("prefix", prefix), ("after", after ?? "")]
        where text.utf8.count > Self.longestID {
            throw Problem.badCursor(name, found: "")
        }
        let limit = try request.limit("limit")
        let email = request.queryValue("email")
        return .json(
            bytes: try await onPool { try page(environment, prefix, email, after: after, limit) },
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private func page(
        _ environment: Environment,
        _ prefix: String,
        _ email: String?,
        after: String?,
        _ limit: Int
    ) throws -> [UInt8] {
        let found = try find(environment, prefix, email, after: after, limit + 1)
        let page = found.prefix(limit)
        return JSONWriter.object { writer in
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            writer.field(
                "customers",
                array: { writer in
                    for listed in page where listed.id.text.utf8.starts(with: prefix.utf8) {
                        listed.write(to: &writer)
                    }
                }
            )
            writer.field("next", page.last?.id.text ?? after)
            writer.field("more", found.count > limit)
        }
    }

    private func find(
        _ environment: Environment,
        _ prefix: String,
        _ email: String?,
        after: String?,
        _ limit: Int
    ) throws(StorageError) -> [ListedCustomer] {
        guard let email else {
            return try context.storage.customers(
                in: AppScope(app.id, environment),
                prefix: prefix,
                after: after,
                limit: limit
            )
        }
        guard let address = EmailAddress(email) else { return [] }
        return try context.storage.customers(
            in: AppScope(app.id, environment),
            email: address,
            after: after,
            limit: limit
        )
    }
}

extension ListedCustomer {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", id.text)
            writer.field("customer", customer.text)
            writer.field("derivedAt", derivedAt?.rfc3339)
        }
    }
}
