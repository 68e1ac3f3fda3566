import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks

@Suite struct ProblemTests {
    private func members(_ response: Response) throws -> JSONObject {
        try #require(JSONValue(JSONDocument(response.body).root).object)
    }

    @Test func `a problem is a problem+json document`() throws {
        let problem = Problem(
            "store-down",
            status: 503,
            title: "The store does not answer.",
            detail: "Since \"10\".",
            members: ["store": "appStore"],
            headers: ["X-Why": "test"],
            retryAfter: 7
        )
        let response = problem.response
        #expect(response.status == 503)
        #expect(response.headers["content-type"] == "application/problem+json")
        #expect(response.headers["cache-control"] == "no-store")
        #expect(response.headers["retry-after"] == "7")
        #expect(response.headers["x-why"] == "test")
        #expect(
            try members(response) == [
                "type": "/problems/store-down", "title": "The store does not answer.",
                "status": 503, "detail": "Since \"10\".", "store": "appStore",
            ]
        )
    }

    @Test func `absent members are not written`() throws {
        let response = Problem.notFound.response
        #expect(response.headers["retry-after"] == nil)
        #expect(try members(response)["detail"] == nil)
    }

    @Test func `a 405 response lists the allowed methods`() {
        let response = Problem.methodNotAllowed(allowed: ["GET", "HEAD"]).response
        #expect(response.status == 405)
        #expect(response.headers["Allow"] == "GET, HEAD")
    }

    private func answering(
        _ handler: @escaping Handler,
        report: @escaping FailureReport = { _, _, _ in Issue.record("reported") }
    ) -> Handler {
        { request in
            await answer(to: request, requestID: { "r-1" }, report: report, handler)
        }
    }

    @Test func `a thrown problem becomes the response and is not reported`() async throws {
        let handler = answering({ _ in
            throw Problem.notFound
        })
        #expect(try await handler(Request(path: "/")).status == 404)
    }

    @Test func `a cancelled handler answers 503`() async throws {
        let handler = answering({ _ in
            throw CancellationError()
        })
        let response = try await handler(Request(path: "/"))
        #expect(response.status == 503)
        #expect(response.headers["Retry-After"] != nil)
    }

    @Test func `any other error becomes a 500 that contains only the request id`() async throws {
        struct Leak: Error { let password = "hunter2" }
        let reports = Locked<[String]>([])
        let handler = answering(
            { _ in throw Leak() },
            report: { error, request, id in
                reports.withLock { $0.append("\(error) \(request.path) \(id)") }
            }
        )

        let response = try await handler(Request(path: "/x"))

        #expect(response.status == 500)
        #expect(
            try members(response) == [
                "type": "/problems/internal", "status": 500, "requestId": "r-1",
                "title": "The server failed to handle the request.",
            ]
        )
        let report = try #require(reports.withLock { $0.first })
        #expect(report.contains("hunter2") && report.hasSuffix(" /x r-1"))
    }

    @Test func `a response passes through unchanged`() async throws {
        let handler = answering({ request in
            .text(request.path, status: 201)
        })
        let response = try await handler(Request(path: "/x"))
        #expect(response.status == 201)
        #expect(response.body == Array("/x".utf8))
    }

    @Test func `request ids are sixteen hexadecimal digits and all different`() {
        let ids = (0..<100).map { _ in randomRequestID() }
        #expect(Set(ids).count == 100)
        #expect(ids.allSatisfy { $0.utf8.count == 16 && UInt64($0, radix: 16) != nil })
    }

    @Test func `JSON responses have the JSON content type`() throws {
        let written = Response.json(status: 201, headers: ["ETag": "\"a\""]) { writer in
            writer.field("a", 1)
        }
        #expect(written.body == Array(#"{"a":1}"#.utf8))
        #expect(written.headers["content-type"] == "application/json")
        #expect(written.headers["etag"] == "\"a\"")
        #expect(Response.json([1, nil]).body == Array("[1,null]".utf8))
    }
}
