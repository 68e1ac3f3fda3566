import Testing
import TideoverHTTP
import TideoverServer
import TideoverUnionChecker

extension Service {
    /// Returns the answer to a request. If the request is one of RevenueCat's SDKs, both SDKs have
    /// to accept the answer.
    func checkedAnswer(to request: Request) async throws -> Response {
        let response = try await handler(request)
        if request.isOfSDK { UnionChecker.Exchange(request, response).requireAcceptance() }
        return response
    }
}

extension UnionChecker.Exchange {
    /// Records an issue for everything that one of the SDKs fails on, loses or misreads.
    func requireAcceptance() {
        for refusal in refusals {
            let body = String(decoding: response.body.prefix(2_000), as: UTF8.self)
            Issue.record("\(request.method) \(request.path.prefix(100)): \(refusal) in \(body)")
        }
    }
}

extension Request {
    /// Whether an SDK sends it: it has the key of an SDK, and is not for Tideover's own API or that
    /// of RevenueCat for back ends.
    fileprivate var isOfSDK: Bool {
        let key = headers["Authorization"] ?? ""
        return (key.hasPrefix("Bearer appl_") || key.hasPrefix("Bearer goog_"))
            && !path.hasPrefix("/v1/apps/") && !path.hasPrefix("/v2/")
    }
}
