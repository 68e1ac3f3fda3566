import TideoverCore
import TideoverHTTP
import TideoverJSON

/// The permitted query parameters of routes. They are read from the OpenAPI document, so that
/// documentation and behaviour agree.
package struct QueryNames: Sendable {
    package static let documented = QueryNames(of: OpenAPIDocument.document)

    private let names: [String: [String]]
    /// The default values of `environment`.
    private let environments: [String: Environment]

    /// Reads the names from an OpenAPI document, by method and path.
    private init(of document: JSONDocument) {
        let shared = document.root["components"]?["parameters"]
        var names: [String: [String]] = [:]
        var environments: [String: Environment] = [:]
        for (path, operations) in document.root["paths"]?.members.map({ $0 }) ?? [] {
            for (method, operation) in operations.members {
                let parameters = (operation["parameters"]?.elements.map { $0 } ?? []).compactMap {
                    parameter -> JSONNode? in
                    guard let reference = parameter["$ref"]?.string else { return parameter }
                    return reference.split(separator: "/").last.flatMap { shared?[String($0)] }
                }
                let query = parameters.filter { $0["in"]?.string == "query" }
                let name = "\(method.uppercased()) \(path)"
                names[name] = query.compactMap { $0["name"]?.string }
                environments[name] = query.first { $0["name"]?.string == "environment" }
                    .flatMap { $0["schema"]?["default"]?.string }
                    .flatMap(Environment.init(rawValue:))
            }
        }
        self.names = names
        self.environments = environments
    }

    /// Returns a problem for unknown or repeated parameters: a misspelt `environment` would
    /// otherwise select production. Routes without a key accept any, since stores and probes call
    /// them.
    func objection(to request: Request, of route: Route) -> Problem? {
        guard !request.query.isEmpty, route.need != .nothing else { return nil }
        let known = self[route]
        for (position, item) in request.query.enumerated() {
            if !known.contains(item.name) { return .unknownParameter(item.name, known: known) }
            if request.query[..<position].contains(where: { $0.name == item.name }) {
                return .repeatedParameter(item.name)
            }
        }
        return nil
    }

    package subscript(_ route: Route) -> [String] {
        names[route.name] ?? []
    }

    /// Returns the environment that a request without `environment` concerns; nil if it concerns
    /// all, or none.
    func usualEnvironment(of route: Route) -> Environment? {
        environments[route.name]
    }
}

extension Problem {
    fileprivate static func unknownParameter(_ name: String, known: [String]) -> Problem {
        let meant = closestName(to: name, among: known)
        let list = known.map { "`\($0)`" }.joined(separator: ", ")
        return Problem(
            "unknown-parameter",
            detail: meant.map { "Did you mean `\($0)`?" }
                ?? (known.isEmpty ? "The route takes none." : "The route takes \(list)."),
            members: ["found": .string(name)]
        )
    }

    fileprivate static func repeatedParameter(_ name: String) -> Problem {
        Problem("repeated-parameter", detail: "Send `\(name)` only once.")
    }
}
