import Testing
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks

/// Tests clients that disconnect or are slow, connection limits, starting and stopping.
@Suite(.timeLimit(.minutes(20))) struct LifetimeTests {
    // MARK: Clients that disconnect

    @Test(arguments: [false, true])
    func `a disconnected client cancels its handler`(byReset: Bool) async throws {
        let gate = Gate()
        let handler: Handler = { request in
            if request.path == "/wait" { try await gate.pass() }
            return try await echo(request)
        }
        try await withServer(handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("GET /wait")
                while gate.arrivals == 0 { usleepABit() }
                if byReset { client.reset() }
            }
            #expect(await eventually { gate.cancelled == 1 })
            #expect(await eventually { server.statistics.connectionsOpen == 0 })
            #expect(server.statistics.clientsGone == 1)
            let after = try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("GET /after")
                return try client.response().text
            }
            #expect(after == "GET /after")
        }
    }

    @Test func `a handler that ignores its cancellation does not hold the connection`() async throws
    {
        let (isReleased, isDone) = (Locked(false), Locked(false))
        let handler: Handler = { request in
            while !isReleased.withLock({ $0 }) { await Task.yield() }
            isDone.withLock { $0 = true }
            return try await echo(request)
        }
        try await withServer(handler: handler) { server in
            try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("GET /")
                while server.statistics.suspended == 0 { usleepABit() }
                client.reset()
            }
            #expect(await eventually { server.statistics.clientsGone == 1 })
            #expect(await eventually { server.statistics.connectionsOpen == 0 })
            #expect(!isDone.withLock { $0 })
            isReleased.withLock { $0 = true }
            #expect(await eventually { isDone.withLock { $0 } })
        }
    }

    @Test func `clients that disconnect at any point leave no connections open`() async throws {
        let payload = Payload()
        weak let trace = payload
        try await withPayload(payload) { server in
            try await onThread { [port = server.port] in
                let text = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
                for end in 0...text.utf8.count {
                    for way in 0..<3 {
                        let client = try Client(port)
                        try client.send(Array(text.utf8.prefix(end)))
                        if way == 1 { client.reset() }
                        if way == 2 { client.finishSending() }
                    }
                }
            }
            #expect(await eventually { server.statistics.connectionsOpen == 0 })
            let after = try await onThread { [port = server.port] in
                let client = try Client(port)
                try client.request("GET /after")
                return try client.response().status
            }
            #expect(after == 200)
        }
        _ = consume payload
        #expect(await eventually { trace == nil })
    }

    private final class Payload: Sendable {}

    private func withPayload(
        _ payload: Payload,
        _ body: (HTTPServer) async throws -> Void
    ) async throws {
        var limits = HTTPServerLimits()
        limits.connectionsPerAddress = 0
        let handler: Handler = { request in
            _ = payload
            if request.path == "/x" { try await Task.sleep(for: .milliseconds(2)) }
            return try await echo(request)
        }
        try await withServer(limits, handler: handler, body)
    }

    // MARK: Slow clients

    private func limits(_ change: (inout HTTPServerLimits) -> Void) -> HTTPServerLimits {
        var limits = HTTPServerLimits()
        change(&limits)
        return limits
    }

    /// Returns how long a server with these limits keeps a client, and its response.
    private func endurance(
        _ limits: HTTPServerLimits,
        handler: @escaping Handler = echo,
        _ work: @escaping @Sendable (Client) throws -> Response?
    ) async throws -> (time: Duration, response: Response?) {
        try await withServer(limits, handler: handler) { server in
            let result = try await onThread { [port = server.port] in
                let start = ContinuousClock.now
                let response = try work(Client(port))
                return (ContinuousClock.now - start, response)
            }
            #expect(server.statistics.timedOut == 1)
            return result
        }
    }

    @Test func `a slow head is cut off at its deadline`() async throws {
        let limits = limits { $0.head = .milliseconds(400) }
        let (time, response) = try await endurance(limits) { client in
            for byte in "GET / HTTP/1.1\r\nHost: x\r\nX-A: ".utf8 {
                usleepABit(40)
                guard (try? client.send([byte])) != nil else { break }
            }
            return try? client.response()
        }
        #expect(time > .milliseconds(400))
        #expect(time < .seconds(35))
        #expect(response == nil || response?.status == 408)
    }

    @Test func `a head that stops arriving is answered with 408`() async throws {
        let limits = limits { $0.head = .milliseconds(300) }
        let (time, response) = try await endurance(limits) { client in
            try client.send("GET / HTTP/1.1\r\nHo")
            return try client.response()
        }
        #expect(time > .milliseconds(300))
        #expect(response?.problem == "request-too-slow")
    }

    @Test func `a later head on the same connection has the same deadline`() async throws {
        let limits = limits { $0.head = .seconds(1) }
        let (time, response) = try await endurance(limits) { client in
            try client.request("POST /", ["Content-Length: 2"], body: "hi")
            #expect(try client.response().status == 200)
            try client.send("GE")
            return try client.response()
        }
        #expect(time > .seconds(1))
        #expect(response?.problem == "request-too-slow")
    }

    @Test func `a slow body is cut off at its deadline`() async throws {
        let limits = limits { $0.body = .milliseconds(400) }
        let (time, response) = try await endurance(limits) { client in
            try client.request("POST /", ["Content-Length: 1000"])
            for _ in 0..<1000 {
                usleepABit(40)
                guard (try? client.send("b")) != nil else { break }
            }
            return try? client.response()
        }
        #expect(time > .milliseconds(400))
        #expect(time < .seconds(35))
        #expect(response == nil || response?.status == 408)
    }

    @Test func `an idle connection is closed at its limit`() async throws {
        // The client that asks first must do so within the limit.
        for (asksFirst, limit) in [(false, Duration.milliseconds(300)), (true, .seconds(3))] {
            let limits = limits { $0.idle = limit }
            let (time, _) = try await endurance(limits) { client in
                if asksFirst {
                    try client.request("GET /")
                    #expect(try client.response().status == 200)
                }
                #expect(client.isEnded())
                return nil
            }
            #expect(time > limit)
        }
    }

    @Test func `a client that does not read its response is cut off`() async throws {
        let limits = limits { $0.reply = .milliseconds(300) }
        let body = [UInt8](repeating: 7, count: 32 << 20)
        try await withServer(limits, handler: { _ in Response(body: body) }) { server in
            let waits = onThreadLater { [port = server.port] in
                let client = try Client(port, receiveBuffer: 4096)
                try client.request("GET /")
                while server.statistics.timedOut == 0 { usleepABit() }
                withExtendedLifetime(client) {}
            }
            #expect(await eventually { server.statistics.timedOut == 1 })
            #expect(await eventually { server.statistics.connectionsOpen == 0 })
            try await waits.value
        }
    }

    @Test func `a handler can run longer than every client deadline`() async throws {
        // The client must also ask within that time.
        let deadline = Duration.seconds(3)
        let limits = limits {
            $0.head = deadline
            $0.body = deadline
            $0.idle = deadline
        }
        let handler: Handler = { request in
            try await Task.sleep(for: deadline * 2)
            return try await echo(request)
        }
        try await withServer(limits, handler: handler) { server in
            let response = try await onThread { [port = server.port] in
                let client = try Client(port)
                // If kept open after its response, the connection would be idle and would correctly
                // time out.
                try client.request("GET /", ["Connection: close"])
                return try client.response()
            }
            #expect(response.text == "GET /")
            #expect(server.statistics.timedOut == 0)
        }
    }

    // MARK: Many connections

    @Test func `a full server closes the connection that is idle longest`() async throws {
        let limits = limits {
            $0.connections = 3
            $0.sharedNetworks = IPNetwork.loopback
        }
        try await withServer(limits, handler: echo) { server in
            try await onThread { [port = server.port] in
                let clients = try (0..<3).map { _ in try Client(port) }
                // Connected first, but idle for the shortest time.
                for client in clients.reversed() {
                    try client.request("GET /")
                    #expect(try client.response().status == 200)
                    usleepABit(20)
                }
                let late = try Client(port)
                try late.request("GET /late")
                #expect(try late.response().text == "GET /late")
                #expect(clients[2].isEnded())
                for client in clients.prefix(2) {
                    try client.request("GET /again")
                    #expect(try client.response().text == "GET /again")
                }
            }
            #expect(server.statistics.connectionsEvicted == 1)
            #expect(server.statistics.timedOut == 0)
        }
    }

    @Test func `silent clients never keep other clients out`() async throws {
        let limits = limits { $0.connections = 4 }
        try await withServer(limits, handler: echo) { server in
            try await onThread { [port = server.port] in
                let silent = try (0..<12).map { _ in try Client(port) }
                for number in 0..<3 {
                    let client = try Client(port)
                    try client.request("GET /\(number)")
                    #expect(try client.response().text == "GET /\(number)")
                }
                withExtendedLifetime(silent) {}
            }
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
    ])
    func `a stalled request is closed for a new one`(part: String) async throws {
        let limits = limits {
            $0.connections = 2
            ($0.head, $0.body) = (.seconds(600), .seconds(600))
        }
        try await withServer(limits, handler: echo) { server in
            try await onThread { [port = server.port] in
                let slow = try (0..<2).map { _ in try Client(port) }
                for client in slow { try client.send(part) }
                let late = try Client(port)
                try late.request("GET /late")
                #expect(try late.response().text == "GET /late")
                withExtendedLifetime(slow) {}
            }
            #expect(server.statistics.connectionsEvicted == 1)
        }
    }

    @Test func `a connection with a running request is never closed for a new one`() async throws {
        let gate = Gate()
        let limits = limits { $0.connections = 2 }
        let handler: Handler = { request in
            if request.path == "/wait" { try await gate.pass() }
            return try await echo(request)
        }
        try await withServer(limits, handler: handler) { server in
            try await onThread { [port = server.port] in
                let busy = try Client(port)
                try busy.request("GET /wait")
                while gate.arrivals == 0 { usleepABit() }
                // Each new client replaces the previous idle one.
                for number in 0..<3 {
                    let client = try Client(port)
                    try client.request("GET /\(number)")
                    #expect(try client.response().text == "GET /\(number)")
                    let second = try Client(port)
                    try second.request("GET /wait")
                    while gate.arrivals < number + 2 { usleepABit() }
                    second.reset()
                }
                gate.open()
                #expect(try busy.response().text == "GET /wait")
            }
        }
    }

    @Test func `connections beyond an address's limit are closed at once`() async throws {
        let limits = limits { $0.connectionsPerAddress = 2 }
        let (arrived, gate) = (Locked(0), Gate())
        let handler: Handler = { request in
            arrived.withLock { $0 += 1 }
            try await gate.pass()
            return try await echo(request)
        }
        try await withServer(limits, handler: handler) { server in
            try await onThread { [port = server.port] in
                let clients = try (0..<2).map { _ in try Client(port) }
                for client in clients { try client.request("GET /") }
                while arrived.withLock({ $0 }) < 2 { usleepABit() }
                #expect(try Client(port).isEnded())
                gate.open()
                for client in clients { #expect(try client.response().status == 200) }
            }
            #expect(server.statistics.connectionsRefused == 1)
        }
    }

    @Test func `a refused client is closed first for others of its address`() async throws {
        let limits = limits { $0.connectionsPerAddress = 3 }
        let handler: Handler = { request in
            request.path == "/forged" ? Response(status: 401) : try await echo(request)
        }
        try await withServer(limits, handler: handler) { server in
            try await onThread { [port = server.port] in
                let honest = try Client(port)
                let forgers = try (0..<2).map { _ in try Client(port) }
                try honest.request("GET /")
                #expect(try honest.response().status == 200)
                for forger in forgers {
                    try forger.request("GET /forged")
                    #expect(try forger.response().status == 401)
                }
                var others: [Client] = []
                for forger in forgers {
                    let other = try Client(port)
                    others.append(other)
                    try other.request("GET /")
                    #expect(try other.response().status == 200)
                    #expect(forger.isEnded())
                    try honest.request("GET /")
                    #expect(try honest.response().status == 200)
                }
            }
            #expect(server.statistics.connectionsRefused == 0)
            #expect(server.statistics.connectionsEvicted == 2)
        }
    }

    @Test func `a closed connection frees its place, and shared networks are unlimited`()
        async throws
    {
        let counted = limits { $0.connectionsPerAddress = 1 }
        try await withServer(counted, handler: echo) { server in
            for _ in 0..<20 {
                #expect(await eventually { server.statistics.connectionsOpen == 0 })
                let text = try await onThread { [port = server.port] in
                    let client = try Client(port)
                    try client.request("GET /")
                    return try client.response().text
                }
                #expect(text == "GET /")
            }
            #expect(server.statistics.connectionsRefused == 0)
        }
        let shared = limits {
            $0.connectionsPerAddress = 1
            $0.sharedNetworks = IPNetwork.loopback
        }
        try await withServer(shared, handler: echo) { server in
            try await onThread { [port = server.port] in
                let clients = try (0..<8).map { _ in try Client(port) }
                for client in clients {
                    try client.request("GET /")
                    #expect(try client.response().status == 200)
                }
            }
            #expect(server.statistics.connectionsRefused == 0)
        }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1/32"), ("2001:db8:1:2::3", "2001:db8:1:2::/64"),
        ("10.1.2.3", nil), ("127.0.0.1", nil), ("::1", nil),
    ])
    func `an IPv6 client is a network of 64 bits, and a shared network is not limited`(
        address: String,
        client: String?
    ) throws {
        let address = try #require(IPAddress(address))
        var limits = HTTPServerLimits()
        limits.sharedNetworks = IPNetwork.loopback + [try #require(IPNetwork("10.0.0.0/8"))]
        #expect(limits.client(address)?.description == client)
        limits.connectionsPerAddress = 0
        #expect(limits.client(address) == nil)
    }

    // MARK: Starting

    @Test func `a port in use is an error with its number`() async throws {
        let server = try HTTPServer(port: 0, handler: echo)
        #expect(throws: HTTPServerError.addressInUse(server.address)) {
            try HTTPServer(port: server.port, handler: echo)
        }
        await server.stop()
    }

    @Test func `an address of another machine is an error`() {
        #expect(throws: HTTPServerError.notAnAddress("localhost")) {
            try HTTPServer(address: "localhost", port: 0, handler: echo)
        }
        #expect(throws: HTTPServerError.notAPort(65_536)) {
            try HTTPServer(port: 65_536, handler: echo)
        }
        #expect {
            try HTTPServer(address: "192.0.2.1", port: 0, handler: echo)
        } throws: { error in
            guard case .addressNotAvailable(let address) = error as? HTTPServerError else {
                return false
            }
            return address.host == "192.0.2.1"
        }
    }

    @Test(.enabled(if: hasIPv6, "this machine has no IPv6 loopback"))
    func `IPv6 works, with or without brackets`() async throws {
        for host in ["::1", "[::1]"] {
            let server = try HTTPServer(address: host, port: 0) { request in
                .text(request.peer ?? "")
            }
            #expect(server.address.description == "[::1]:\(server.port)")
            let peer = try await onThread { [port = server.port] in
                let client = try Client(port, host: "::1")
                try client.request("GET /")
                return try client.response().text
            }
            #expect(peer == "::1")
            await server.stop(within: .zero)
        }
    }

    // MARK: Stopping

    @Test func `stopping finishes running exchanges and accepts no new ones`() async throws {
        let gate = Gate()
        let server = try serverOnAPortOfItsOwn { request in
            try await gate.pass()
            return try await echo(request)
        }
        let answer = onThreadLater { [port = server.port] in
            let client = try Client(port)
            try client.request("GET /running")
            let response = try client.response()
            #expect(client.isEnded())
            return response
        }
        #expect(await eventually { gate.arrivals == 1 })
        async let stopped: Void = server.stop(within: .seconds(30))
        #expect(await refuses(server.port))
        gate.open()
        await stopped
        let response = try await answer.value
        #expect(response.text == "GET /running")
        #expect(response.headers["Connection"] == "close")
        #expect(server.statistics.connectionsOpen == 0)
    }

    private func refuses(_ port: Int) async -> Bool {
        for _ in 0..<6_000 {
            let isOpen = (try? await onThread { _ = try Client(port) }) != nil
            if !isOpen { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    @Test func `a handler beyond the bound is cancelled and answers 503`() async throws {
        let gate = Gate()
        var limits = HTTPServerLimits()
        // On a busy machine the cancelled task may be scheduled late.
        limits.lastWord = .seconds(60)
        let server = try HTTPServer(port: 0, limits: limits) { _ in
            try await gate.pass()
            return .text("never")
        }
        let answer = onThreadLater { [port = server.port] in
            let client = try Client(port)
            try client.request("GET /")
            return try client.response()
        }
        #expect(await eventually { gate.arrivals == 1 })
        await server.stop(within: .milliseconds(100))
        #expect(try await answer.value.problem == "interrupted")
        #expect(gate.cancelled == 1)
    }

    @Test func `a handler that ignores its cancellation does not stop the shutdown`() async throws {
        let isReleased = Locked(false)
        let server = try HTTPServer(port: 0) { request in
            while !isReleased.withLock({ $0 }) { await Task.yield() }
            return try await echo(request)
        }
        let isEnded = onThreadLater { [port = server.port] in
            let client = try Client(port)
            try client.request("GET /")
            return client.isEnded()
        }
        #expect(await eventually { server.statistics.suspended == 1 })
        let start = ContinuousClock.now
        await server.stop(within: .milliseconds(100))
        #expect(ContinuousClock.now - start < .seconds(60))
        isReleased.withLock { $0 = true }
        #expect(try await isEnded.value)
    }

    @Test func `idle connections do not delay the stop`() async throws {
        let server = try HTTPServer(port: 0, handler: echo)
        let isEnded = onThreadLater { [port = server.port] in
            let client = try Client(port)
            try client.request("GET /")
            _ = try client.response()
            return client.isEnded()
        }
        #expect(await eventually { server.statistics.answeredAtOnce == 1 })
        let start = ContinuousClock.now
        await server.stop(within: .seconds(30))
        #expect(ContinuousClock.now - start < .seconds(60))
        #expect(try await isEnded.value)
    }

    @Test func `the port is free at once, and stopping twice is harmless`() async throws {
        let first = try serverOnAPortOfItsOwn(echo)
        let port = first.port
        for _ in 0..<3 {
            try await onThread {
                let client = try Client(port)
                try client.request("GET /")
                _ = try client.response()
            }
        }
        await first.stop()
        await first.stop()
        let second = try HTTPServer(port: port, handler: echo)
        let text = try await onThread {
            let client = try Client(port)
            try client.request("GET /again")
            return try client.response().text
        }
        #expect(text == "GET /again")
        await second.stop()
    }

    @Test func `run serves until its task is cancelled`() async throws {
        let server = try serverOnAPortOfItsOwn(echo)
        let running = Task { await server.run(stoppingWithin: .seconds(5)) }
        let status = try await onThread { [port = server.port] in
            let client = try Client(port)
            try client.request("GET /")
            return try client.response().status
        }
        #expect(status == 200)
        running.cancel()
        await running.value
        #expect(await refuses(server.port))
    }

    @Test func `a server without references stops`() async throws {
        var server: HTTPServer? = try serverOnAPortOfItsOwn(echo)
        let port = try #require(server?.port)
        server = nil
        #expect(await refuses(port))
    }

    @Test func `stopping under load does not crash`() async throws {
        for round in 0..<10 {
            var limits = HTTPServerLimits()
            limits.connectionsPerAddress = 0
            let server = try HTTPServer(port: 0, limits: limits) { request in
                if request.path.utf8.count % 2 == 0 { try await Task.sleep(for: .milliseconds(1)) }
                return try await echo(request)
            }
            let clients = (0..<4).map { _ in
                onThreadLater { [port = server.port] in
                    for number in 0..<200 {
                        guard let client = try? Client(port) else { return }
                        for length in 1...5 {
                            let path = String(repeating: "a", count: length + number % 2)
                            guard (try? client.request("GET /\(path)")) != nil,
                                (try? client.response()) != nil
                            else { break }
                        }
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(10 + 7 * round))
            await server.stop(within: .milliseconds(round % 3))
            for client in clients { try await client.value }
        }
    }
}
