package import TideoverHTTP

/// A place that the service answers at: a method, a path with named parts, and what answers.
package struct Route: Sendable {
    package typealias Respond = @Sendable (Service, Call) async throws -> Response

    /// `GET`, which answers HEAD too, `POST` or `DELETE`.
    package let method: String
    /// The path with its variable segments in braces: what logs, metrics and the OpenAPI document
    /// call the route.
    package let template: String
    /// What whoever calls it must present.
    package let need: Need
    let respond: Respond
    private let parts: [Part]

    private enum Part {
        case word(String)
        case parameter(String)
    }

    init(_ method: String, _ template: String, needs: Need, _ respond: @escaping Respond) {
        self.method = method
        self.template = template
        need = needs
        self.respond = respond
        parts = template.split(separator: "/").map { part in
            part.hasPrefix("{")
                ? .parameter(String(part.dropFirst().dropLast())) : .word(String(part))
        }
    }

    /// The values of the parameters, by name, if the segments of a path fit the template.
    func parameters(of segments: [String]) -> [String: String]? {
        guard segments.count == parts.count else { return nil }
        var values: [String: String] = [:]
        for (segment, part) in zip(segments, parts) {
            switch part {
            case .word(let word): guard segment == word else { return nil }
            case .parameter(let name): values[name] = segment
            }
        }
        return values
    }

    /// Whether it may change something.
    package var writes: Bool { method != "GET" }

    var allowedMethods: [String] { method == "GET" ? ["GET", "HEAD"] : [method] }
}

/// One request under way: what was asked, where, and the id under which the log tells of it.
package struct Call: Sendable {
    let request: Request
    let id: String
    /// The key that came with it, judged once.
    let presented: Presented
    /// The route that answers; one of the path where none takes the method, nil where there is none.
    let route: Route?
    /// What the path answers, where it does not answer the request's method.
    let otherMethods: [String]
    private let parameters: [String: String]

    init(_ request: Request, id: String, presented: Presented, among routes: [Route]) {
        self.request = request
        self.id = id
        self.presented = presented
        let segments = request.segments ?? []
        var found: (route: Route, parameters: [String: String])?
        var others: [String] = []
        for route in routes {
            guard let parameters = route.parameters(of: segments) else { continue }
            found = (route, parameters)
            if route.allowedMethods.contains(request.method) {
                others = []
                break
            }
            others += route.allowedMethods
        }
        route = found?.route
        parameters = found?.parameters ?? [:]
        otherMethods = others
    }

    /// The value of a parameter that the route's template names.
    subscript(_ parameter: String) -> String {
        guard let value = parameters[parameter] else {
            preconditionFailure("the template of a route names every parameter it uses")
        }
        return value
    }

    /// The app that the request is about, configured or not: what stands in the path for `{app}`, or in
    /// the query of a route that is not of one app.
    var appID: String? { parameters["app"] ?? request.queryValue("app") }
}
