import CTideoverOpenAPI
import TideoverHTTP
package import TideoverJSON
import TideoverSignatures

/// Answers `GET /openapi.json`: a description of the service in OpenAPI 3.1.
/// https://spec.openapis.org/oas/v3.1.0
///
/// `Sources/CTideoverOpenAPI/openapi.json` has what is particular to each operation. What follows
/// from the table of routes is added here.
package enum OpenAPIDocument {
    static func respond(to request: Request) -> Response {
        guard !request.holds(tag) else { return .notModified(tag) }
        return .json(bytes: bytes, headers: ["ETag": tag.description])
    }

    /// The document as written, without what follows from the table of routes.
    package static let written = parsed(
        Array(
            UnsafeBufferPointer(
                start: tideover_openapi_document(),
                count: tideover_openapi_length()
            )
        )
    )
    /// The complete document.
    static let document = parsed(bytes)

    private static let bytes = completed(JSONValue(written.root)).encoded()
    private static let tag = ETag.strong(Hexadecimal.text(SHA256.hash(bytes).prefix(8)))

    private static func parsed(_ bytes: [UInt8]) -> JSONDocument {
        guard let document = try? JSONDocument(bytes, limits: .local) else {
            preconditionFailure("the OpenAPI document is JSON")
        }
        return document
    }

    // MARK: Completion

    private static func completed(_ written: JSONValue) -> JSONValue {
        var document = written.object ?? JSONObject()
        var paths = document["paths"]?.object ?? JSONObject()
        for route in Service.routes {
            let method = route.method.lowercased()
            guard var path = paths[route.template]?.object, let operation = path[method]?.object
            else { continue }
            path[method] = .object(completed(operation, of: route))
            paths[route.template] = .object(path)
        }
        document["paths"] = .object(paths)
        return .object(document)
    }

    /// Adds the authorisation, the parameters that most paths have, and the errors of a route.
    private static func completed(_ operation: JSONObject, of route: Route) -> JSONObject {
        var operation = operation
        operation["security"] = security(of: route.need)
        let named = ["app", "customer"].filter { route.template.contains("{\($0)}") }
        let parameters =
            named.map { reference("parameters", $0) } + (operation["parameters"]?.array ?? [])
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        let stated = operation["responses"]?.object ?? JSONObject()
        let added = errors(of: route).filter { stated[$0.status] == nil }
        let responses = (stated.map { ($0.key, $0.value) } + added).sorted { $0.0 < $1.0 }
        operation["responses"] = .object(
            responses.reduce(into: JSONObject()) { $0[$1.0] = $1.1 }
        )
        return operation
    }

    private static func security(of need: Need) -> JSONValue {
        switch need {
        case .nothing: []
        case .read: [["key": ["public"]]]
        case .secret: [["key": ["secret"]]]
        case .admin: [["key": ["admin"]]]
        }
    }

    /// The errors that the service itself answers, before and after the route's own.
    private static func errors(of route: Route) -> [(status: String, response: JSONValue)] {
        let needsKey = route.need != .nothing
        let errors: [(status: String, name: String, applies: Bool)] = [
            ("400", "problem", true),
            ("401", "unauthorised", needsKey),
            ("403", "problem", needsKey),
            ("404", "problem", route.template.contains("{")),
            ("413", "problem", route.method == "POST"),
            ("503", "tryAgain", needsKey || route.writes),
        ]
        return errors.filter(\.applies).map { ($0.status, reference("responses", $0.name)) }
    }

    private static func reference(_ kind: String, _ name: String) -> JSONValue {
        ["$ref": .string("#/components/\(kind)/\(name)")]
    }
}
