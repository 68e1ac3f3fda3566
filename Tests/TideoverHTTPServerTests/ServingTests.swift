import Glibc
import Testing
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks

/// Tests ordinary exchanges over real sockets.
@Suite(.timeLimit(.minutes(20))) struct ServingTests {
    @Test func `a request reaches the handler unchanged`() async throws {
        let seen = Locked<Request?>(nil)
        try await withServer(handler: { request in
            seen.withLock { $0 = request }
            return .text("ok")
        }) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request(
                    "POST /a%20b/..%2F/?q=%C3%A9&r=1+2",
                    ["X-A: one ", "x-a:\ttwo", "Content-Length: 2"],
                    body: "hi"
                )
                #expect(try client.response().status == 200)
            }
        }
        let request = try #require(seen.withLock { $0 })
        #expect(request.method == "POST")
        #expect(request.path == "/a%20b/..%2F/")
        #expect(request.query.map(\.value) == ["é", "1 2"])
        #expect(request.headers.all("X-A") == ["one", "two"])
        #expect(request.headers.fields.map(\.name) == ["Host", "X-A", "x-a", "Content-Length"])
        #expect(request.body == Array("hi".utf8))
        #expect(request.peer == "127.0.0.1")
    }

    @Test func `a response is sent as the handler made it`() async throws {
        let handler: Handler = { _ in
            Response(
                status: 418,
                headers: [
                    "Set-Cookie": "a=1", "Set-Cookie": "b=2", "X-Empty": "", "Content-Length": "99",
                    "Transfer-Encoding": "chunked", "Keep-Alive": "x",
                ],
                body: Array("tea".utf8)
            )
        }
        let response = try await withServer(handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("GET /")
                return try client.response()
            }
        }
        #expect(response.status == 418)
        #expect(response.headers.all("set-cookie") == ["a=1", "b=2"])
        #expect(response.headers["content-length"] == "3")
        #expect(response.headers["transfer-encoding"] == nil)
        #expect(response.headers["keep-alive"] == nil)
        #expect(response.headers["date"] != nil)
        #expect(response.text == "tea")
    }

    @Test func `one connection serves many requests on the I/O thread`() async throws {
        try await withServer(handler: echo) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                for number in 0..<50 {
                    try client.request("GET /\(number)")
                    #expect(try client.response().text == "GET /\(number)")
                }
            }
            let statistics = server.statistics
            #expect(statistics.connectionsTaken == 1)
            #expect(statistics.requests == 50)
            #expect(statistics.answeredAtOnce == 50)
            #expect(statistics.suspended == 0)
        }
    }

    @Test func `only reads start on the I/O thread`() async throws {
        let threads = Locked<[String: Set<UInt>]>([:])
        let executor = try TaskThreads(most: 1)
        defer { executor.close() }
        let server = try HTTPServer(port: 0, executor: executor) { request in
            let thread = UInt(pthread_self())
            threads.withLock { _ = $0[request.method, default: []].insert(thread) }
            return .text("ok")
        }
        try await onThread { [port = server.port] in
            let client = try Client(port)
            for _ in 0..<10 {
                try client.request("GET /")
                #expect(try client.response().status == 200)
                try client.request("POST /", ["Content-Length: 2"], body: "hi")
                #expect(try client.response().status == 200)
                try client.request("DELETE /")
                #expect(try client.response().status == 200)
            }
        }
        await server.stop(within: .seconds(5))
        let found = threads.withLock(\.self)
        #expect(found["GET"]?.count == 1)
        #expect(found["POST"]?.count == 1)
        #expect(found["DELETE"] == found["POST"])
        #expect(found["GET"] != found["POST"])
    }

    @Test func `pipelined requests are answered in order though one suspends`() async throws {
        let gate = Gate()
        let handler: Handler = { request in
            if request.path == "/2" { try await gate.pass() }
            return try await echo(request)
        }
        try await withServer(handler: handler) { server in
            let answers = onThreadLater { [port = server.port] in
                let client = try Client(port)
                let lines = (0..<5).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }
                try client.send(lines.joined())
                return try (0..<5).map { _ in try client.response().text }
            }
            // A handler that passes the gate while it is being opened would not suspend.
            #expect(await eventually { server.statistics.suspended == 1 })
            gate.open()
            let texts = try await answers.value
            #expect(texts == (0..<5).map { "GET /\($0)" })
            #expect(server.statistics.suspended == 1)
            #expect(server.statistics.answeredAtOnce == 4)
        }
    }

    /// A pipelined request is read only after the previous response was sent. So a client that does
    /// not read occupies one response and the system's buffers, however many requests it sends.
    @Test func `a client that does not read its responses causes no further ones`() async throws {
        let size = 8 << 20
        let asked = 40
        let answered = Locked(0)
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: size)
        let handler: Handler = { request in
            if request.path == "/other" { return .text("other") }
            answered.withLock { $0 += 1 }
            return Response(body: body)
        }
        try await withServer(handler: handler) { server in
            try await onThread { [port = server.port] in
                let greedy = try Client(port, receiveBuffer: 64 * 1024)
                let request = "GET /all HTTP/1.1\r\nHost: x\r\n\r\n"
                try greedy.send(String(repeating: request, count: asked))
                for read in 1...4 {
                    #expect(try greedy.response().body.count == size)
                    // The single I/O thread answered this after all its work for the other client.
                    let other = try Client(port)
                    try other.request("GET /other")
                    #expect(try other.response().text == "other")
                    // One response being sent, and one or two in the system's buffers.
                    #expect(answered.withLock { $0 } <= read + 3)
                }
            }
        }
    }

    @Test func `HEAD is answered as GET without the body`() async throws {
        try await withServer(handler: echo) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("HEAD /a")
                let head = try client.response(toHEAD: true)
                #expect(head.status == 200)
                #expect(head.headers["Content-Length"] == "6")
                try client.request("GET /b")
                #expect(try client.response().text == "GET /b")
            }
        }
    }

    @Test(arguments: ["OPTIONS", "PATCH", "PROPFIND", "get", "CONNECT"])
    func `the handler decides for every method`(method: String) async throws {
        let handler: Handler = { request in
            #expect(request.method == method)
            throw Problem.methodNotAllowed(allowed: ["GET"])
        }
        try await withServer(handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("\(method) /a")
                let response = try client.response()
                #expect(response.problem == "method-not-allowed")
                #expect(response.headers["Allow"] == "GET")
            }
        }
    }

    @Test func `a body can arrive in pieces`() async throws {
        try await withServer(handler: echo) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("POST /a", ["Content-Length: 6"], body: "a")
                for piece in ["b", "cd", "ef"] { try client.send(piece) }
                #expect(try client.response().text == "POST /a abcdef")
                try client.request("POST /b", ["Transfer-Encoding: chunked"])
                for piece in ["1\r", "\na\r\n2\r\nb", "c\r\n", "0\r\n", "\r\n"] {
                    try client.send(piece)
                }
                #expect(try client.response().text == "POST /b abc")
            }
        }
    }

    @Test func `a client that expects 100 Continue receives it`() async throws {
        try await withServer(handler: echo) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("POST /", ["Content-Length: 2", "Expect: 100-continue"])
                #expect(try client.response().status == 100)
                try client.send("hi")
                #expect(try client.response().text == "POST / hi")
            }
        }
    }

    @Test func `a hundred connections can wait for slow handlers at once`() async throws {
        let gate = Gate()
        var limits = HTTPServerLimits()
        limits.connectionsPerAddress = 0
        let handler: Handler = { request in
            try await gate.pass()
            return try await echo(request)
        }
        try await withServer(limits, handler: handler) { server in
            let answers = onThreadLater { [port = server.port] in
                let clients = try (0..<100).map { _ in try Client(port) }
                for (number, client) in clients.enumerated() {
                    try client.request("GET /\(number)")
                }
                return try clients.map { try $0.response().text }
            }
            #expect(await eventually { gate.arrivals == 100 })
            #expect(await eventually { server.statistics.suspended == 100 })
            gate.open()
            let texts = try await answers.value
            #expect(texts == (0..<100).map { "GET /\($0)" })
        }
    }

    @Test func `a body of 1 MiB is echoed whole`() async throws {
        let body = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withServer(handler: { _ in Response(body: body) }) { server in
            let received = try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("GET /")
                return try client.response().body
            }
            #expect(received == body)
        }
    }

    @Test func `a response without content has no body`() async throws {
        let handler: Handler = { request in
            request.path == "/a" ? Response(status: 204) : .notModified(.weak("t"))
        }
        try await withServer(handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("GET /a")
                #expect(try client.response().status == 204)
                try client.request("GET /b")
                let response = try client.response()
                #expect(response.status == 304)
                #expect(response.headers["ETag"] == "W/\"t\"")
            }
        }
    }

    @Test func `a thrown error becomes a 500 problem, and the server continues`() async throws {
        struct Secret: Error {}
        let reports = Locked<[String]>([])
        let report: FailureReport = { error, request, id in
            reports.withLock { $0.append("\(error) \(request.path) \(id)") }
        }
        let handler: Handler = { request in
            if request.path == "/later" { await Task.yield() }
            throw Secret()
        }
        try await withServer(report: report, handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                for path in ["/now", "/later"] {
                    try client.request("GET \(path)")
                    let response = try client.response()
                    #expect(response.status == 500)
                    #expect(response.problem == "internal")
                    #expect(!response.text.contains("Secret"))
                }
            }
        }
        let paths = reports.withLock { $0.map { $0.split(separator: " ")[1] } }
        #expect(paths == ["/now", "/later"])
    }

    @Test(arguments: [
        Response(status: 99), Response(status: 600), Response(headers: ["X-A": "a\r\nX-B: b"]),
        Response(headers: ["X A": "a"]), Response(headers: ["X-A": "a\0b"]),
    ])
    func `a response that violates HTTP is a 500 and is reported`(broken: Response) async throws {
        let reports = Locked(0)
        let report: FailureReport = { _, _, _ in reports.withLock { $0 += 1 } }
        let handler: Handler = { request in
            if request.path == "/thrown" {
                throw Problem("x", status: broken.status, title: "x", headers: broken.headers)
            }
            return broken
        }
        try await withServer(report: report, handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                for path in ["/returned", "/thrown"] {
                    try client.request("GET \(path)")
                    let response = try client.response()
                    #expect(response.problem == "internal")
                    #expect(response.headers["X-B"] == nil)
                }
            }
        }
        #expect(reports.withLock { $0 } == 2)
    }

    @Test func `a handler can close the connection`() async throws {
        let handler: Handler = { _ in Response(headers: ["Connection": "close"]) }
        try await withServer(handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("GET /")
                #expect(try client.response().headers["Connection"] == "close")
                #expect(client.isEnded())
            }
        }
    }

    @Test func `HTTP 1 point 0 needs no host, and the response ends the connection`() async throws {
        try await withServer(handler: echo) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.send("GET /a HTTP/1.0\r\n\r\n")
                client.finishSending()
                #expect(try client.response().text == "GET /a")
                #expect(client.isEnded())
            }
        }
    }
}
