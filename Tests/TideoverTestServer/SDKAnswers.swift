import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
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

    /// Returns a route's response to the admin key.
    func get(
        _ target: String,
        _ credentials: Headers = TestServer.credentials
    ) async throws -> JSONValue {
        let request = Request(method: "GET", target: target, headers: credentials, body: [])
        guard let request else { preconditionFailure("\(target) is a request target") }
        return JSONValue(try JSONDocument(try await handler(request).body).root)
    }

    /// Replays the evidence of an environment, and returns the report.
    func replayed(
        _ environment: Environment = .sandbox,
        apply: Bool = false
    ) async throws -> JSONValue {
        let response = await replayNow(app: "cards", environment: environment, apply: apply)
        return try #require(JSONValue(JSONDocument(response.body).root)["last"])
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
