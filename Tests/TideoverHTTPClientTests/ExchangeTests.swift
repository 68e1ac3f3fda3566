import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverLocks

/// Tests the client against the project's own server.
@Suite(.timeLimit(.minutes(20))) struct ExchangeTests {
    /// Responds with the content of the request.
    private let echo: Handler = { request in
        var words = [request.method, request.path]
        words += request.query.map { "\($0.name)=\($0.value)" }
        words += request.headers.fields.map { "\($0.name): \($0.value)" }
        words.append(String(decoding: request.body, as: UTF8.self))
        return Response(
            status: 201,
            headers: ["X-Method": request.method, "Set-Cookie": "a=b"],
            body: Array(words.joined(separator: "\n").utf8)
        )
    }

    @Test func `a handler sends requests under its base URL`() async throws {
        try await withServer(handler: echo) { server in
            let ask = try client().handler(under: destination(server.url("/prefix/")))
            let request = Request(
                path: "/v1/a%20b",
                query: [QueryItem(name: "at", value: "2026-05-06T10:00:00+02:00")],
                headers: ["X-One": "1", "X-One": "2", "X-Empty": ""]
            )
            let answer = try await ask(request)
            #expect(answer.status == 201)
            #expect(answer.headers["x-method"] == "GET")
            let lines = answer.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.prefix(3) == ["GET", "/prefix/v1/a%20b", "at=2026-05-06T10:00:00+02:00"])
            for field in ["X-One: 1", "X-One: 2", "X-Empty: ", "User-Agent: tideover/test"] {
                #expect(lines.contains(field[...]))
            }
            #expect(lines.contains("Host: \(server.address)"))
        }
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func `a body arrives whole and without an added content type`(method: String) async throws {
        try await withServer(handler: echo) { server in
            let client = try client()
            let there = try destination(server.url("/hook?x=1"), .any) { $0.bodyBytes = 1 << 20 }
            let body = [UInt8](repeating: UInt8(ascii: "z"), count: 200_000)
            let answer = try await client.send(method, body: body, to: there)
            #expect(answer.headers["X-Method"] == method)
            #expect(answer.text.hasSuffix(String(repeating: "z", count: 200_000)))
            #expect(answer.text.contains("\nx=1\n"))
            #expect(!answer.text.contains("Expect:"))
            #expect(!answer.text.contains("Content-Type:"))
            let empty = try await client.send(method, to: there)
            #expect(method == "DELETE" || empty.text.contains("Content-Length: 0\n"))
        }
    }

    @Test func `HEAD has no body`() async throws {
        try await withServer(handler: echo) { server in
            let answer = try await client().send("HEAD", to: destination(server.url()))
            #expect(answer.status == 201)
            #expect(answer.body.isEmpty)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is returned and not followed`(status: Int) async throws {
        let asked = Locked(0)
        let handler: Handler = { _ in
            asked.withLock { $0 += 1 }
            return Response(status: status, headers: ["Location": "/elsewhere"])
        }
        try await withServer(handler: handler) { server in
            let answer = try await client().send("POST", to: destination(server.url()))
            #expect(answer.status == status)
            #expect(answer.headers["Location"] == "/elsewhere")
            #expect(asked.withLock { $0 } == 1)
        }
    }

    @Test func `a body at the limit is received, and one byte more is refused`() async throws {
        let handler: Handler = { request in
            Response(body: [UInt8](repeating: 7, count: Int(request.path.dropFirst()) ?? 0))
        }
        try await withServer(handler: handler) { server in
            let client = try client()
            let limit = 64 * 1024
            let full = try await client.send(to: destination(server.url("/\(limit)")))
            #expect(full.body == [UInt8](repeating: 7, count: limit))
            await #expect(throws: HTTPClientError.bodyTooLarge(limit: limit)) {
                try await client.send(to: destination(server.url("/\(limit + 1)")))
            }
            var store = try destination(server.url("/\(4 << 20)"))
            store.limits = .storeAnswer
            #expect(try await client.send(to: store).body.count == 4 << 20)
            store.url = try HTTPURL(server.url("/\((4 << 20) + 1)"))
            let larger = store
            await #expect(throws: HTTPClientError.bodyTooLarge(limit: 4 << 20)) {
                try await client.send(to: larger)
            }
        }
    }

    @Test func `where only the head matters, the status counts however long the body is`()
        async throws
    {
        let handler: Handler = { _ in
            Response(status: 202, body: [UInt8](repeating: 7, count: 1 << 20))
        }
        try await withServer(handler: handler) { server in
            let client = try client()
            let receiver = try destination(server.url()) { $0.cutsBody = true }
            for _ in 0..<2 {
                let answer = try await client.send("POST", to: receiver)
                #expect(answer.status == 202)
                #expect(answer.body.count <= receiver.limits.bodyBytes)
            }
        }
    }

    @Test func `connections are reused`() async throws {
        try await withServer(handler: echo) { server in
            let client = try client()
            for _ in 0..<20 { _ = try await client.send(to: destination(server.url())) }
            #expect(server.statistics.connectionsTaken == 1)
        }
    }

    @Test func `a hundred concurrent requests share few connections`() async throws {
        let handler: Handler = { request in
            try await Task.sleep(for: .milliseconds(20))
            return Response(body: Array(request.path.utf8))
        }
        try await withServer(handler: handler) { server in
            let client = try client()
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        try await client.send(to: destination(server.url("/\(number)"))).text
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(answers == Set((0..<100).map { "/\($0)" }))
            #expect(server.statistics.connectionsTaken <= 16)
        }
    }

    @Test func `a released client ends its thread while others continue`() async throws {
        try await withServer(handler: echo) { server in
            let other = try client()
            for _ in 0..<20 { _ = try await client().send(to: destination(server.url())) }
            #expect(try await other.send(to: destination(server.url())).status == 201)
        }
    }

    @Test func `a malformed request is not sent`() async throws {
        try await withServer(handler: echo) { server in
            let client = try client()
            let there = try destination(server.url())
            await #expect(throws: HTTPClientError.malformedRequest(.header)) {
                try await client.send(headers: ["A": "1\r\nB: 2"], to: there)
            }
            await #expect(throws: HTTPClientError.malformedRequest(.path)) {
                try await client.handler(under: there)(Request(path: "/a/../../b"))
            }
            #expect(server.statistics.connectionsTaken == 0)
        }
    }
}
