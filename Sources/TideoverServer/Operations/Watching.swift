import TideoverCore
import TideoverHTTP
import TideoverLocks
import TideoverRevenueCat

/// Handles every request: assigns an id, responds even after an error, counts, and logs a line.
extension Service {
    func answer(_ request: Request, at entrance: Entrance) async -> Response {
        let begun = probes.uptime()
        let call = Call(
            request,
            id: probes.requestID(),
            presented: keys.withLock { $0.judge(request) },
            among: routes(at: entrance)
        )
        var response: Response
        var code: String?
        do {
            response = try await respond(to: call)
        } catch let error as SDKError {
            code = "revenuecat-\(error.code)"
            response = SDKResponse(at: clock()).error(error)
        } catch {
            let problem = problem(of: error, call)
            code = problem.slug
            if entrance == .sdk || isOfSDK(call) {
                response = sdkResponse(problem)
            } else if dashboard != nil, DashboardResponse.isPage(request) {
                response = DashboardResponse.problem(problem, for: nil)
            } else {
                response = problem.response
            }
        }
        response.headers["X-Request-Id"] = call.id
        let taken = probes.uptime() - begun
        metrics.answered(call, status: response.status, nanoseconds: taken)
        var line = call.line(status: response.status, code: code, nanoseconds: taken, contexts)
        if isWorthALine(line) {
            line.network = rateLimiter.network(of: request)
            log(line)
        }
        return response
    }

    /// The routes of this service at an address, by what is enabled.
    private func routes(at entrance: Entrance) -> [Route] {
        guard entrance != .sdk else { return Self.sdkAndRestRoutes }
        return switch (dashboard != nil, entrance == .all && !sdkKeys.isEmpty) {
        case (false, false): Self.routes
        case (true, false): Self.routesWithDashboard
        case (false, true): Self.routesWithSDK
        case (true, true): Self.allRoutes
        }
    }

    /// Limits the log lines of rejected requests, so that a client cannot cause a line each time.
    private func isWorthALine(_ line: LogLine) -> Bool {
        guard let code = line.code, let status = line.status, (400..<500).contains(status) else {
            return true
        }
        return refusals.admits(code, app: line.app)
    }

    private func problem(of error: any Error, _ call: Call) -> Problem {
        if let problem = error as? Problem { return problem }
        if error is CancellationError { return .interrupted }
        log(
            LogLine(
                .error,
                "request failed",
                code: "internal",
                detail: String(reflecting: type(of: error)),
                request: call.id
            )
        )
        return .internalError(requestID: call.id)
    }
}

extension Call {
    /// The template name of a path without a route.
    static let noRoute = "none"

    var template: String { route?.template ?? Self.noRoute }
    var method: String { Self.known(method: request.method) }

    /// Returns the method if HTTP defines it, else `other`, so that no client's text reaches log or
    /// metrics.
    static func known(method: String) -> String {
        let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        return known.contains(method) ? method : "other"
    }

    /// Returns the log line of a request. Of the path, query and header fields it contains only
    /// configured or predefined values.
    fileprivate func line(
        status: Int,
        code: String?,
        nanoseconds: Int64,
        _ contexts: [String: AppContext]
    ) -> LogLine {
        let app = appID.flatMap { contexts[$0]?.app }
        return LogLine(
            .info,
            "request",
            app: app?.id,
            environment: environment(in: app),
            code: code,
            detail: notes?.withLock { $0.refusal },
            method: method,
            route: template,
            status: status,
            request: id,
            key: presented.keyID,
            durationMicroseconds: nanoseconds / 1_000
        )
    }

    /// Returns the environment that the request concerns: the one that its body or query states,
    /// else the app's only one, else the default of the route. Nil if it concerns all of them, like
    /// a request for the keys of passes.
    private func environment(in app: App?) -> Environment? {
        if let stated = notes?.withLock({ $0.environment }) { return stated }
        if let asked = request.queryValue("environment") { return Environment(rawValue: asked) }
        guard let app, let route else { return nil }
        if app.environments.count == 1 { return app.environments[0] }
        let usual = QueryNames.documented.usualEnvironment(of: route)
        return usual.flatMap { app.environments.contains($0) ? $0 : nil }
    }
}
