/// Receives an error that became a 500: the error, the request, and the request id in the response.
public typealias FailureReport = @Sendable (any Error, Request, String) -> Void

/// Returns a handler's response to a request, or the response for an error that it threw.
///
/// A `Problem` becomes its own response and a `CancellationError` becomes 503. Any other error
/// becomes a 500 with a request id and no details. The error itself is passed to `report`, together
/// with that id.
package func answer(
    to request: Request,
    requestID: @Sendable () -> String,
    report: FailureReport,
    _ handler: Handler
) async -> Response {
    do {
        return try await handler(request)
    } catch let problem as Problem {
        return problem.response
    } catch is CancellationError {
        return Problem.interrupted.response
    } catch {
        let id = requestID()
        report(error, request, id)
        return Problem.internalError(requestID: id).response
    }
}

/// Sixteen random hexadecimal digits: enough to find one line in a log.
public func randomRequestID() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
}
