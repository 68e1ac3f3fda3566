import Testing
import TideoverHTTP
import TideoverHTTPServer

/// Tests requests that exceed a limit or are malformed: they never reach the handler.
@Suite(.timeLimit(.minutes(20))) struct RefusingTests {
    private let limit = 256 * 1024

    /// Returns the response to raw bytes, nil if there is none, and whether the connection is then
    /// closed.
    private func answer(
        to bytes: [UInt8],
        handler: @escaping Handler = measure
    ) async throws -> (response: Response?, isClosed: Bool) {
        try await withServer(handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                // A server that has already rejected the request may close while the rest is being
                // sent.
                do { try client.send(bytes) } catch is Client.Failure {}
                do {
                    let response = try client.response()
                    try? client.request("GET /next")
                    let next = try? client.response()
                    return (response, next == nil)
                } catch is Client.Closed {
                    return (nil, true)
                }
            }
        }
    }

    private func answer(
        to text: String,
        handler: @escaping Handler = measure
    ) async throws -> (response: Response?, isClosed: Bool) {
        try await answer(to: Array(text.utf8), handler: handler)
    }

    private static let unwanted: Handler = { request in
        if request.path != "/next" { Issue.record("the handler was asked for \(request.path)") }
        return .text("unwanted")
    }

    // MARK: Bodies

    @Test func `a body at the limit is accepted`() async throws {
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(limit)\r\n\r\n"
        let body = String(repeating: "b", count: limit)
        let (response, isClosed) = try await answer(to: head + body)
        #expect(response?.text == "\(limit)")
        #expect(!isClosed)
    }

    @Test func `a body one byte longer is refused, and the client can read why`() async throws {
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(limit + 1)\r\n\r\n"
        let body = String(repeating: "b", count: limit + 1)
        let (response, isClosed) = try await answer(to: head + body, handler: Self.unwanted)
        #expect(response?.status == 413)
        #expect(response?.problem == "body-too-large")
        #expect(isClosed)
    }

    @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: 2"])
    func `another form of a rejection reaches the client, by the target`(
        field: String
    ) async throws {
        var limits = HTTPServerLimits()
        limits.bodyBytes = 4
        limits.body = .milliseconds(300)
        let server = try HTTPServer(
            port: 0,
            limits: limits,
            rejection: { problem, target in
                .text("\(problem.status) \(target)", status: 503)
            },
            handler: Self.unwanted
        )
        let response = try await onThread { [port = server.port] in
            let client = try Client(port)
            // The third body never arrives.
            let body = field.hasSuffix("chunked") ? "5\r\nbbbbb\r\n0\r\n\r\n" : ""
            try client.send(Array("POST /a?b HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n\(body)".utf8))
            return try client.response()
        }
        #expect(response.status == 503)
        #expect(response.text == (field.hasSuffix("2") ? "408 /a?b" : "413 /a?b"))
        await server.stop(within: .seconds(5))
    }

    @Test func `beyond the limit of all bodies the slowest is given up`() async throws {
        var limits = HTTPServerLimits()
        limits.incomingBytes = 8
        try await withServer(limits, handler: measure) { server in
            let (kept, given) = try await onThread { [port = server.port] in
                let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n"
                let slow = try Client(port)
                try slow.send(head + "bbbbb")
                // A body that begins is not given up within a second.
                var kept: [String] = []
                for _ in 0..<4 {
                    usleepABit(700)
                    let client = try Client(port)
                    try client.send(head + "bbbbbb")
                    kept.append((try? client.response().text) ?? "closed")
                }
                try? slow.send("b")
                return (kept, (try? slow.response()) == nil)
            }
            #expect(given && kept.last == "6")
            #expect(server.statistics.connectionsEvicted == 1)
            #expect(server.statistics.requestsRefused == kept.count { $0 == "closed" })
            // Nothing of the bodies is counted any more.
            let text = try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nbbbbbbbb")
                return try client.response().text
            }
            #expect(text == "8")
        }
    }

    @Test func `a body is refused by its announced length before it arrives`() async throws {
        for fields in [
            ["Content-Length: 999999999"], ["Content-Length: 300000", "Expect: 100-continue"],
        ] {
            let head = (["POST / HTTP/1.1", "Host: x"] + fields).joined(separator: "\r\n")
            let (response, _) = try await answer(to: head + "\r\n\r\n", handler: Self.unwanted)
            #expect(response?.status == 413)
        }
    }

    @Test func `a chunked body at the limit is accepted, and a longer one is refused`() async throws
    {
        let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = "1000\r\n" + String(repeating: "b", count: 4096) + "\r\n"
        let whole = head + String(repeating: chunk, count: limit / 4096)
        let (exact, _) = try await answer(to: whole + "0\r\n\r\n")
        #expect(exact?.text == "\(limit)")

        let (longer, isClosed) = try await answer(to: whole + "1\r\nb\r\n", handler: Self.unwanted)
        #expect(longer?.problem == "body-too-large")
        #expect(isClosed)
    }

    @Test(arguments: [
        "2\r\nhi\r\n0\r\n\r\n", "2;\nhi\r\n0\r\n\r\n", "2\nhi\n0\n\n", "2\r\nhi\r\n0\r\nA: b\n\n",
    ])
    func `bytes after a chunked body are not read as another request`(
        chunks: String
    ) async throws {
        try await withServer(handler: measure) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                let smuggled = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"
                try client.request(
                    "POST /",
                    ["Transfer-Encoding: chunked"],
                    body: chunks + smuggled
                )
                #expect(try client.response().text == "2")
                #expect(client.isEnded())
            }
            #expect(server.statistics.requests == 1)
        }
    }

    @Test func `a body shorter than announced never reaches the handler`() async throws {
        try await withServer(handler: Self.unwanted) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("POST /", ["Content-Length: 10"], body: "short")
                client.finishSending()
                #expect(client.isEnded())
            }
            #expect(await eventually { server.statistics.connectionsOpen == 0 })
            #expect(server.statistics.requests == 0)
        }
    }

    @Test func `bytes after the announced length are the next request`() async throws {
        try await withServer(handler: measure) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request(
                    "POST /",
                    ["Content-Length: 2"],
                    body: "hiGET /x HTTP/1.1\r\nHost: x\r\n\r\n"
                )
                #expect(try client.response().text == "2")
                #expect(try client.response().text == "0")
            }
        }
    }

    /// libmicrohttpd does not parse such a length as a number, and 0.9.75 sends the head of its
    /// response twice. This is harmless: the first head closes the connection, so clients ignore
    /// the rest. The handler is not called, and no later bytes are read as a request.
    @Test(arguments: ["Content-Length: 2 ", "Content-Length: 2\t", "Content-Length:  2 "])
    func `trailing white space in a length does not smuggle a request`(field: String) async throws {
        try await withServer(handler: Self.unwanted) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("POST /", [field], body: "hiGET /x HTTP/1.1\r\nHost: x\r\n\r\n")
                let response = try client.response()
                #expect(response.status == 400)
                #expect(response.headers["Connection"] == "close")
                // Only the rest of that response follows, until the connection ends.
                #expect(!client.everything().contains("200 OK"))
            }
            #expect(server.statistics.requests == 0)
        }
    }

    @Test(arguments: ["gzip", "br", "identity, gzip", "x"])
    func `an encoded body is refused`(encoding: String) async throws {
        let (response, isClosed) = try await answer(
            to: "POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: \(encoding)\r\n"
                + "Content-Length: 2\r\n\r\nhi",
            handler: Self.unwanted
        )
        #expect(response?.status == 415)
        #expect(response?.problem == "content-encoding")
        #expect(isClosed)
    }

    @Test func `the encoding identity is accepted`() async throws {
        let (response, _) = try await answer(
            to: "POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: Identity\r\n"
                + "Content-Length: 2\r\n\r\nhi"
        )
        #expect(response?.text == "2")
    }

    // MARK: Heads

    private func head(ofBytes count: Int) -> String {
        let frame = "GET / HTTP/1.1\r\nHost: x\r\nX-A: \r\n\r\n"
        let padding = String(repeating: "a", count: count - frame.utf8.count)
        return "GET / HTTP/1.1\r\nHost: x\r\nX-A: \(padding)\r\n\r\n"
    }

    @Test func `a head at the limit is accepted, and one byte more is refused`() async throws {
        let (exact, _) = try await answer(to: head(ofBytes: 16 * 1024))
        #expect(exact?.status == 200)
        let (longer, isClosed) = try await answer(
            to: head(ofBytes: 16 * 1024 + 1),
            handler: Self.unwanted
        )
        #expect(longer?.status == 431)
        #expect(longer?.problem == "head-too-large")
        #expect(isClosed)
    }

    @Test(arguments: [40_000, 70_000, 1_000_000])
    func `a head beyond the engine's memory is refused too`(bytes: Int) async throws {
        let (response, isClosed) = try await answer(
            to: head(ofBytes: bytes),
            handler: Self.unwanted
        )
        #expect(response?.status == 431)
        #expect(isClosed)
    }

    @Test func `a request line beyond the engine's memory is refused`() async throws {
        let path = String(repeating: "a", count: 100_000)
        let (response, isClosed) = try await answer(
            to: "GET /\(path) HTTP/1.1\r\nHost: x\r\n\r\n",
            handler: Self.unwanted
        )
        #expect(response?.status == 414)
        #expect(isClosed)
    }

    @Test func `64 fields are accepted, and 65 are refused`() async throws {
        func request(fields: Int) -> String {
            let lines = (1..<fields).map { "X-\($0): a\r\n" }.joined()
            return "GET / HTTP/1.1\r\nHost: x\r\n\(lines)\r\n"
        }
        let (exact, _) = try await answer(to: request(fields: 64))
        #expect(exact?.status == 200)
        for count in [65, 500, 5_000] {
            let (more, isClosed) = try await answer(
                to: request(fields: count),
                handler: Self.unwanted
            )
            #expect(more?.status == 431)
            #expect(isClosed)
        }
    }

    @Test func `a query with many items is accepted`() async throws {
        let items = String(repeating: "a&", count: 8_000)
        let handler: Handler = { request in .text("\(request.query.count)") }
        let (response, _) = try await answer(
            to: "GET /?\(items) HTTP/1.1\r\nHost: x\r\n\r\n",
            handler: handler
        )
        #expect(response?.text == "8000")
    }

    @Test(arguments: [
        "GET /%zz", "GET /%C3", "GET /?a=%", "GET /?%FF=1", "GET *", "GET a", "OPTIONS *",
        "GET /a#b", "GET /é", "CONNECT example.com:443",
    ])
    func `a malformed target is refused, and the connection stays open`(line: String) async throws {
        let (response, isClosed) = try await answer(
            to: "\(line) HTTP/1.1\r\nHost: x\r\n\r\n",
            handler: Self.unwanted
        )
        #expect(response?.status == 400)
        #expect(response?.problem == "malformed-request")
        #expect(!isClosed)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-A: a\r\n\tb\r\nX-B: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-A: a\u{1}b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-A: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX\0A: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX A: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-A : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n",
        "GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n",
        "G\0T / HTTP/1.1\r\nHost: x\r\n\r\n",
        "G{T / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /  HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: x\r\n\r\n",
        "GET / http/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.10\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\na",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\na",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n\r\na",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 1\r\n\r\na",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
    ])
    func `a malformed head or frame ends the connection`(bytes: String) async throws {
        let (response, isClosed) = try await answer(to: bytes, handler: Self.unwanted)
        #expect(response?.status == 400)
        #expect(isClosed)
    }

    @Test(arguments: [
        "gzip", "gzip, chunked", "chunked, chunked", "identity", "xchunked", "chunked ",
    ])
    func `another transfer coding is refused`(coding: String) async throws {
        let (response, isClosed) = try await answer(
            to: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \(coding)\r\n\r\n0\r\n\r\n",
            handler: Self.unwanted
        )
        #expect(response?.status == 501)
        #expect(response?.problem == "transfer-coding")
        #expect(isClosed)
    }

    @Test(arguments: ["GARBAGE\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\r\n", " \r\n"])
    func `a malformed request line is closed or refused`(bytes: String) async throws {
        let (response, isClosed) = try await answer(to: bytes, handler: Self.unwanted)
        #expect(response == nil || response?.status == 400)
        #expect(isClosed)
    }

    @Test(arguments: ["HTTP/2.0", "HTTP/0.9", "HTTP/3.1"])
    func `another version of HTTP is refused`(version: String) async throws {
        let (response, isClosed) = try await answer(
            to: "GET / \(version)\r\nHost: x\r\n\r\n",
            handler: Self.unwanted
        )
        #expect(response?.status == 505)
        #expect(isClosed)
    }
}
