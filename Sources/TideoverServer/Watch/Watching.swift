import TideoverCore
import TideoverHTTP
import TideoverLocks

/// Every request, watched: an id, an answer whatever happens, counts, and a line in the log.
extension Service {
    func answer(_ request: Request) async -> Response {
        let begun = instruments.uptime()
        let call = Call(
            request,
            id: instruments.requestID(),
            presented: keys.withLock { $0.judge(request) },
            among: Self.routes
        )
        var response: Response
        var code: String?
        do {
            response = try await respond(to: call)
        } catch {
            let problem = problem(of: error, call)
            code = problem.slug
            response = problem.response
        }
        response.headers["X-Request-Id"] = call.id
        let taken = instruments.uptime() - begun
        metrics.answered(call, status: response.status, nanoseconds: taken)
        var line = call.line(status: response.status, code: code, nanoseconds: taken, apps: apps)
        if isWorthALine(line) {
            line.network = budget.network(of: request)
            log(line)
        }
        return response
    }

    /// Whoever sends what must be refused cannot make us write a line each time.
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
    /// What stands for a path that no template fits.
    static let noRoute = "none"

    var template: String { route?.template ?? Self.noRoute }
    var method: String { Self.known(method: request.method) }

    /// The method if HTTP has it: what a client makes up reaches neither log nor metrics.
    static func known(method: String) -> String {
        let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        return known.contains(method) ? method : "other"
    }

    /// What the log tells of an answered request: of the path, the query and the header fields only
    /// what is configured or one of our own words.
    fileprivate func line(
        status: Int,
        code: String?,
        nanoseconds: Int64,
        apps: [String: App]
    ) -> LogLine {
        LogLine(
            .info,
            "request",
            app: appID.flatMap { apps[$0]?.id },
            environment: request.queryValue("environment").flatMap(Environment.init(rawValue:)),
            code: code,
            method: method,
            route: template,
            status: status,
            request: id,
            key: presented.keyID,
            durationMicroseconds: nanoseconds / 1_000
        )
    }
}
