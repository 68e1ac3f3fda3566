import TideoverCore
package import TideoverHTTP
import TideoverLocks

/// A route of the service: a method, a path with named parameters, and a handler.
package final class Route: Sendable {
    package typealias Respond = @Sendable (Service, Call) async throws -> Response

    /// `GET`, which also handles HEAD, `POST` or `DELETE`.
    package let method: String
    /// The path with its parameters in braces; logs, metrics and the OpenAPI document use it as the
    /// route's name.
    package let template: String
    /// The method and the template.
    let name: String
    /// The authorisation that it requires.
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
        name = "\(method) \(template)"
        need = needs
        self.respond = respond
        parts = template.split(separator: "/").map { part in
            part.hasPrefix("{")
                ? .parameter(String(part.dropFirst().dropLast())) : .word(String(part))
        }
    }

    /// Creates a route below `/v1/apps/{app}`.
    convenience init(
        _ method: String,
        ofApp path: String,
        needs: Need,
        _ respond: @escaping @Sendable (AppContext, Call) async throws -> Response
    ) {
        self.init(method, ofApp: path, needs: needs) { _, context, call in
            try await respond(context, call)
        }
    }

    /// Creates a route below `/v1/apps/{app}` that needs more than the app's context.
    convenience init(
        _ method: String,
        ofApp path: String,
        needs: Need,
        _ respond: @escaping @Sendable (Service, AppContext, Call) async throws -> Response
    ) {
        self.init(method, "/v1/apps/{app}" + path, needs: needs) { service, call in
            try await respond(service, service.context(call), call)
        }
    }

    /// Returns the values of the parameters, by name, if a path's segments match the template.
    ///
    /// Nothing has a name with a NUL. Only a customer id may contain one, so that it is refused as
    /// such an id.
    func parameters(of segments: [String]) -> [String: String]? {
        guard segments.count == parts.count else { return nil }
        for index in parts.indices {
            if case .word(let word) = parts[index], segments[index] != word { return nil }
        }
        var values: [String: String] = [:]
        for (segment, part) in zip(segments, parts) {
            guard case .parameter(let name) = part else { continue }
            if name != "customer", segment.utf8.contains(0) { return nil }
            values[name] = segment
        }
        return values
    }

    /// Whether it may change data.
    package var writes: Bool { method != "GET" }

    var allowedMethods: [String] { method == "GET" ? ["GET", "HEAD"] : [method] }
}

/// One request in progress, with its route and the id used in the log.
package struct Call: Sendable {
    /// The parts of a request's log line that come from its body.
    struct Notes: Sendable {
        /// The environment that the body states.
        var environment: Environment?
        /// Why the body is rejected.
        var refusal: String?
    }

    let request: Request
    let id: String
    /// The request's credential, checked once.
    let presented: Presented
    /// The route of the request. It is one of the path's routes if none accepts the method, and nil
    /// if no path matches.
    let route: Route?
    /// The methods that the path accepts, if it does not accept the request's.
    let otherMethods: [String]
    /// The notes for the log line, made while the body is read; nil for a request without a body.
    let notes: Locked<Notes>?
    private let parameters: [String: String]

    init(_ request: Request, id: String, presented: Presented, among routes: [Route]) {
        self.request = request
        self.id = id
        self.presented = presented
        notes = request.method == "POST" ? Locked(Notes()) : nil
        let segments = request.segments ?? []
        var found: (route: Route, parameters: [String: String])?
        var others: [String] = []
        // By index: an iteration would count a reference to each route.
        for index in routes.indices {
            guard let parameters = routes[index].parameters(of: segments) else { continue }
            let route = routes[index]
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

    /// Returns the value of a parameter in the route's template.
    subscript(_ parameter: String) -> String {
        guard let value = parameters[parameter] else {
            preconditionFailure("the template of a route names every parameter it uses")
        }
        return value
    }

    /// The app of the request, configured or not: `{app}` in the path, or `app` in the query of a
    /// route for all apps.
    var appID: String? { parameters["app"] ?? request.queryValue("app") }
}
