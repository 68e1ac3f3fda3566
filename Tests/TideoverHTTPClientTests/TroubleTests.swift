import Glibc
import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverLocks

/// Tests the client with peers that are slow, disconnected, or not HTTP servers.
@Suite(.timeLimit(.minutes(20))) struct TroubleTests {
    /// Sends a request to such a peer; returns the result and the elapsed time.
    private func ask(
        _ url: String,
        _ change: (inout ExchangeLimits) -> Void = { _ in }
    ) async throws -> (error: HTTPClientError?, took: Duration) {
        let there = try destination(url, .any, change)
        let client = try client()
        let began = ContinuousClock.now
        do {
            _ = try await client.send(to: there)
            return (nil, .now - began)
        } catch {
            return (error, .now - began)
        }
    }

    @Test func `a missing head times out`() async throws {
        let peer = try RawPeer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\nContent-")
            _ = peer.waitForEnd()
        }
        let (error, took) = try await ask(peer.url()) { $0.total = .seconds(1) }
        #expect(error == .timedOut(.answering))
        #expect(took >= .milliseconds(950) && took < .seconds(50))
    }

    @Test func `a slow body times out however often bytes arrive`() async throws {
        let peer = try RawPeer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in 0..<200 {
                peer.write("x")
                usleep(20_000)
            }
        }
        let (error, took) = try await ask(peer.url()) { $0.total = .seconds(1) }
        #expect(error == .timedOut(.receiving))
        #expect(took >= .milliseconds(950) && took < .seconds(50))
    }

    @Test func `an unfinished TLS handshake times out`() async throws {
        let peer = try RawPeer { _ = $0.waitForEnd() }
        let (error, _) = try await ask(peer.url(scheme: "https")) {
            $0.connect = .seconds(1)
        }
        #expect(error == .timedOut(.securing))
    }

    @Test func `an unanswered connection attempt times out`() async throws {
        // The queue has no capacity: further connections get no response.
        let (socket, port) = try RawPeer.listen(backlog: 0)
        defer { close(socket) }
        let filling = (0..<3).map { _ in connectWithoutWaiting(to: port) }
        defer { for socket in filling { close(socket) } }
        let (error, _) = try await ask("http://127.0.0.1:\(port)/") {
            $0.connect = .seconds(1)
        }
        #expect(error == .timedOut(.connecting))
    }

    private func connectWithoutWaiting(to port: Int) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        let socket = Glibc.socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return socket
    }

    @Test func `a closed port refuses the connection`() async throws {
        // A bound socket that does not listen keeps the port from everyone else.
        let (socket, port) = try RawPeer.bind()
        defer { close(socket) }
        let (error, _) = try await ask("http://127.0.0.1:\(port)/")
        #expect(error == .cannotConnect(code: ECONNREFUSED))
    }

    @Test func `a name that does not exist has no address`() async throws {
        let (error, _) = try await ask("http://name.invalid/") { $0.total = .seconds(10) }
        let isFound = error == .cannotResolve(host: "name.invalid")
        // Without a reachable name server, the request times out instead.
        #expect(isFound || error == .timedOut(.resolving))
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\n folded\r\n\r\n",
        "HTTP/1.1 99\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n",
    ])
    func `a response that is not HTTP is a malformed answer`(bytes: String) async throws {
        let peer = try RawPeer { peer in
            peer.readHead()
            peer.write(bytes)
        }
        #expect(try await ask(peer.url()).error == .malformedAnswer)
    }

    @Test(arguments: [
        ("", ExchangePhase.answering),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", .receiving),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", .receiving),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .receiving),
    ])
    func `a truncated response is an error`(
        bytes: String,
        phase: ExchangePhase
    ) async throws {
        let peer = try RawPeer { peer in
            peer.readHead()
            peer.write(bytes)
        }
        #expect(try await ask(peer.url()).error == .connectionLost(phase))
    }

    @Test func `a head without end is too large`() async throws {
        let peer = try RawPeer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\n")
            for number in 0..<10_000 { peer.write("X-\(number): x\r\n") }
        }
        #expect(try await ask(peer.url()).error == .headTooLarge)
    }

    @Test func `a line without end is too large`() async throws {
        let peer = try RawPeer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\nX: ")
            for _ in 0..<300 { peer.write(String(repeating: "x", count: 1024)) }
        }
        #expect(try await ask(peer.url()).error == .headTooLarge)
    }

    @Test func `a body without a length is bounded too`() async throws {
        let peer = try RawPeer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\n\r\n")
            for _ in 0..<1000 { peer.write(String(repeating: "x", count: 1024)) }
        }
        #expect(try await ask(peer.url()).error == .bodyTooLarge(limit: 64 * 1024))
    }

    @Test func `a reused connection that the server closed causes no error`() async throws {
        let peer = try RawPeer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let client = try client()
        let there = try destination(peer.url())
        for _ in 0..<5 { #expect(try await client.send("POST", to: there).text == "ok") }
        #expect(peer.connections == 5)
    }

    // MARK: - Cancelling

    @Test func `cancelling ends an exchange at once on both sides`() async throws {
        let ended = Locked(false)
        let peer = try RawPeer { peer in
            peer.readHead()
            let isEnd = peer.waitForEnd()
            ended.withLock { $0 = isEnd }
        }
        let client = try client()
        let there = try destination(peer.url())
        let task = Task { try await client.send(to: there) }
        #expect(await eventually { peer.connections == 1 })
        let began = ContinuousClock.now
        task.cancel()
        await #expect(throws: HTTPClientError.cancelled) { try await task.value }
        #expect(.now - began < .seconds(50))
        #expect(await eventually { ended.withLock { $0 } })
    }

    @Test func `a cancelled task sends no request`() async throws {
        let peer = try RawPeer { _ = $0.waitForEnd() }
        let client = try client()
        let there = try destination(peer.url())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(to: there)
        }
        await #expect(throws: HTTPClientError.cancelled) { try await task.value }
        #expect(peer.connections == 0)
    }

    @Test func `requests cancelled at any moment all end`() async throws {
        let peer = try RawPeer { peer in
            while !peer.readHead().isEmpty {
                peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let client = try client { $0.exchangesPerOrigin = 4 }
        let there = try destination(peer.url())
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let task = Task { try await client.send(to: there) }
                    try? await Task.sleep(for: .microseconds(number * 37))
                    task.cancel()
                    _ = await task.result
                }
            }
        }
        #expect(try await client.send(to: there).text == "ok")
    }

    // MARK: - Bounds

    @Test func `requests beyond the limits wait or are refused`() async throws {
        let peer = try RawPeer { _ = $0.waitForEnd() }
        let client = try client {
            $0.exchangesPerOrigin = 1
            $0.waiting = 1
        }
        let there = try destination(peer.url())
        let running = Task { try await client.send(to: there) }
        #expect(await eventually { peer.connections == 1 })
        // Of two more requests, in any order, one waits and one fails.
        let errors = await withTaskGroup(of: HTTPClientError?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(HTTPClientError) {
                        _ = try await client.send(to: there)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            let first = await group.next()
            group.cancelAll()
            return [first, await group.next()]
        }
        #expect(errors == [.overloaded(waiting: 1), .cancelled])
        running.cancel()
        await #expect(throws: HTTPClientError.cancelled) { try await running.value }
        #expect(peer.connections == 1)
    }

    @Test func `a request that waits too long times out`() async throws {
        let peer = try RawPeer { _ = $0.waitForEnd() }
        let client = try client { $0.exchanges = 1 }
        let there = try destination(peer.url())
        let running = Task { try await client.send(to: there) }
        #expect(await eventually { peer.connections == 1 })
        let soon = try destination(peer.url()) { $0.total = .milliseconds(100) }
        await #expect(throws: HTTPClientError.timedOut(.waiting)) {
            try await client.send(to: soon)
        }
        running.cancel()
        await #expect(throws: HTTPClientError.cancelled) { try await running.value }
    }
}
