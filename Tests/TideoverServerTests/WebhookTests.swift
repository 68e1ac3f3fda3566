import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Webhooks from the outbox to a receiver, without sockets.
@Suite(.timeLimit(.minutes(20))) struct WebhookTests {
    /// A receiver with scripted responses; after the script it answers 200.
    final class Receiver: Sendable {
        struct Message: Sendable {
            let url: String
            let request: Request

            var id: String { request.headers["webhook-id"] ?? "" }
            var body: JSONNode? { try? JSONDocument(request.body).root }
        }

        private let state = Locked<(script: [WebhookResult], received: [Message])>(([], []))

        var received: [Message] { state.withLock { $0.received } }

        func script(_ results: WebhookResult...) { state.withLock { $0.script = results } }

        func receive(_ url: String, _ request: Request) -> WebhookResult {
            state.withLock { state in
                state.received.append(Message(url: url, request: request))
                return state.script.isEmpty
                    ? .response(status: 200) : state.script.removeFirst()
            }
        }
    }

    private static let secret = WebhookSecret { 3 }

    private static func endpoint(
        _ id: String = "hooks",
        events: [String] = ["*"],
        environments: [Environment] = []
    ) throws -> WebhookEndpoint {
        WebhookEndpoint(
            app: "cards",
            id: id,
            url: "https://example.com/\(id)",
            events: try #require(WebhookFilter(events)),
            environments: environments,
            allowNetworks: [],
            signer: WebhookSigner(secrets: [secret])
        )
    }

    /// A server with webhooks, before any event.
    private static func server(
        _ receiver: Receiver,
        _ endpoints: [WebhookEndpoint],
        folder: URL? = nil,
        store: TestStore? = nil,
        now: Instant? = nil
    ) async throws -> TestServer {
        let server = try TestServer(
            folder: folder,
            store: store,
            now: now,
            webhooks: { clock in
                WebhookSetup(
                    configured: endpoints,
                    sending: WebhookSending(clock: { clock.now }) { url, _, request in
                        receiver.receive(url, request)
                    }
                )
            }
        )
        await server.service.synchroniseWebhooks()
        return server
    }

    private func json(_ response: Response) throws -> JSONNode {
        try JSONDocument(response.body).root
    }

    private func webhook(_ server: TestServer) async throws -> JSONNode? {
        try json(try await server.get("/v1/apps/cards/webhooks"))["webhooks"]?[0]
    }

    @Test func `each event of the feed arrives once, signed, with the answer after it`()
        async throws
    {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        await server.service.deliverDueWebhooks()
        let feed = try json(try await server.get("/v1/apps/cards/events"))["events"]
        let events = try #require(feed).elements.map { $0 }
        #expect(events.count > 1)
        let messages = receiver.received
        #expect(messages.map(\.id) == events.map { $0["id"]?.string })
        for (message, event) in zip(messages, events) {
            let body = try #require(message.body)
            #expect(body["type"]?.string == event["kind"]?.string)
            #expect(body["data"].map { JSONValue($0) } == event["data"].map { JSONValue($0) })
            #expect(body["customerVersion"]?.int64 == event["customerVersion"]?.int64)
            #expect(body["data"]?["answer"]?["premium"] != nil)
            let expected = WebhookSigner(secrets: [Self.secret]).headers(
                id: message.id,
                at: server.now,
                body: message.request.body
            )
            #expect(message.request.headers == expected)
        }
        let sequence = messages.compactMap { $0.body?["sequence"]?.int64 }
        #expect(sequence == sequence.sorted())
        #expect(Set(sequence).count == messages.count)
        #expect(try #require(sequence.max()) < 1 << 53)
        await server.close()
    }

    @Test func `only the kinds of the filter arrive`() async throws {
        let receiver = Receiver()
        let endpoint = try Self.endpoint(events: ["entitlement_*"])
        let server = try await Self.server(receiver, [endpoint])
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        #expect(
            receiver.received.compactMap { $0.body?["type"]?.string } == ["entitlement_changed"]
        )
        await server.close()
    }

    @Test func `a failed delivery is repeated under the same id, with the same body`()
        async throws
    {
        let receiver = Receiver()
        let endpoint = try Self.endpoint(events: ["entitlement_changed"])
        let server = try await Self.server(receiver, [endpoint])
        receiver.script(.response(status: 500), .failure("no connection"))
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 1)
        #expect(try await webhook(server)?["failingSince"]?.string != nil)
        server.set(server.now + .seconds(6))
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 2)
        server.set(server.now + .minutes(6))
        await server.service.deliverDueWebhooks()
        let received = receiver.received
        #expect(received.count == 3)
        #expect(Set(received.map(\.id)).count == 1)
        #expect(Set(received.map(\.request.body)).count == 1)
        #expect(Set(received.compactMap { $0.request.headers["webhook-timestamp"] }).count == 3)
        #expect(try await webhook(server)?["failingSince"]?.string == nil)
        let attempts = try json(try await server.get("/v1/apps/cards/webhooks/hooks/attempts"))
        let outcomes = attempts["attempts"]?.elements.compactMap { $0["outcome"]?.string }
        #expect(outcomes == ["delivered", "failed", "failed"])
        #expect(attempts["attempts"]?[1]?["detail"]?.string == "no connection")
        let samples = try await server.samples()
        #expect(
            samples.contains(#"tideover_webhook_attempts_total{app="cards",outcome="failed"} 2"#)
        )
        await server.close()
    }

    @Test func `a receiver that fails does not delay another`() async throws {
        let receiver = Receiver()
        let endpoints = [try Self.endpoint("a"), try Self.endpoint("b")]
        let server = try TestServer(
            webhooks: { clock in
                WebhookSetup(
                    configured: endpoints,
                    sending: WebhookSending(clock: { clock.now }) { url, _, request in
                        let result = receiver.receive(url, request)
                        return url.hasSuffix("/a") ? .failure("timeout") : result
                    }
                )
            }
        )
        await server.service.synchroniseWebhooks()
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        let feed = try json(try await server.get("/v1/apps/cards/events"))["events"]
        #expect(receiver.received.filter { $0.url.hasSuffix("/b") }.count == feed?.count)
        await server.close()
    }

    @Test func `410 disables a webhook; enabled again it receives what waited`() async throws {
        let receiver = Receiver()
        let endpoint = try Self.endpoint(events: ["entitlement_changed"])
        let server = try await Self.server(receiver, [endpoint])
        receiver.script(.response(status: 410))
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        #expect(try await webhook(server)?["disabled"]?.string == "gone")
        #expect(server.logged.contains { $0.contains("webhook disabled") })
        server.set(server.now + .days(1))
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 1)
        let enabled = try await server.send("POST", "/v1/apps/cards/webhooks/hooks/enable")
        #expect(enabled.status == 200)
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 2)
        #expect(Set(receiver.received.map(\.id)).count == 1)
        await server.close()
    }

    @Test func `after 410 nothing more of the batch is sent, and all of it waits`() async throws {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        _ = try await server.post(.purchase())
        _ = try await server.post(.purchase("n-2", of: "1000001"))
        let feed = try json(try await server.get("/v1/apps/cards/events"))["events"]
        let ids = try #require(feed).elements.compactMap { $0["id"]?.string }
        try #require(ids.count > 2)
        receiver.script(.response(status: 200), .response(status: 410))
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 2)
        #expect(try await webhook(server)?["waiting"]?.int64 == Int64(ids.count - 1))
        _ = try await server.send("POST", "/v1/apps/cards/webhooks/hooks/enable")
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == ids.count + 1)
        #expect(Set(receiver.received.map(\.id)) == Set(ids))
        await server.close()
    }

    @Test func `a receiver that wishes to wait gets nothing until then`() async throws {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        _ = try await server.post(.purchase())
        _ = try await server.post(.purchase("n-2", of: "1000001"))
        let feed = try json(try await server.get("/v1/apps/cards/events"))["events"]
        let ids = try #require(feed).elements.compactMap { $0["id"]?.string }
        try #require(ids.count > 2)
        receiver.script(.response(status: 200), .response(status: 429, retryAfter: "600"))
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 2)
        #expect(try await webhook(server)?["waiting"]?.int64 == Int64(ids.count - 1))
        server.set(server.now + .seconds(599))
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 2)
        server.set(server.now + .seconds(1))
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == ids.count + 1)
        #expect(Set(receiver.received.map(\.id)) == Set(ids))
        await server.close()
    }

    @Test func `a long wait raises the alarm at once, as nothing is sent meanwhile`() async throws {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        _ = try await server.post(.purchase())
        receiver.script(.response(status: 503, retryAfter: "900"))
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 1)
        #expect(server.logged.contains { $0.contains("webhook failing") })
        await server.close()
    }

    @Test(arguments: [("600", false), ("3600", true)])
    func `a long wait counts as failing, even if other messages were accepted before it`(
        retryAfter: String,
        isFailing: Bool
    ) async throws {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        // The first batch has one message, the second one those of all three customers.
        for number in [10, 11, 12] { _ = try await server.post(Self.purchase(number)) }
        receiver.script(
            .response(status: 200),
            .response(status: 200),
            .response(status: 429, retryAfter: retryAfter)
        )
        await server.service.deliverDueWebhooks()
        #expect((try await webhook(server)?["failingSince"]?.string != nil) == isFailing)
        #expect(server.logged.contains { $0.contains("webhook failing") } == isFailing)
        server.set(server.now + .hours(1))
        await server.service.deliverDueWebhooks()
        #expect(try await webhook(server)?["failingSince"]?.string == nil)
        #expect(try await webhook(server)?["waiting"]?.int64 == 0)
        await server.close()
    }

    @Test func `a webhook that only fails raises an alarm, and is disabled after five days`()
        async throws
    {
        let receiver = Receiver()
        let endpoint = try Self.endpoint(events: ["entitlement_changed"])
        let server = try await Self.server(receiver, [endpoint])
        _ = try await server.post(.purchase())
        for hours in [0, 1, 48, 119] {
            receiver.script(.response(status: 503))
            server.set(
                try #require(Instant(rfc3339: "2026-05-01T10:00:05Z")) + .hours(Int64(hours))
            )
            await server.service.deliverDueWebhooks()
            #expect(try await webhook(server)?["disabled"]?.string == nil, "after \(hours) h")
        }
        #expect(server.logged.contains { $0.contains("webhook failing") })
        receiver.script(.response(status: 503))
        server.set(try #require(Instant(rfc3339: "2026-05-06T11:00:05Z")))
        _ = try await server.send(
            "POST",
            "/v1/apps/cards/webhooks/hooks/replay",
            body: Array(#"{"from": "2026-05-01T00:00:00Z"}"#.utf8)
        )
        await server.service.deliverDueWebhooks()
        #expect(try await webhook(server)?["disabled"]?.string == "failing")
        let samples = try await server.samples()
        #expect(
            samples.contains(#"tideover_webhook_alarms_total{app="cards",kind="disabled"} 1"#)
        )
        await server.close()
    }

    @Test func `after a restart a delivery that waited is repeated, and nothing is lost`()
        async throws
    {
        let receiver = Receiver()
        let endpoint = try Self.endpoint(events: ["entitlement_changed"])
        let server = try await Self.server(receiver, [endpoint])
        receiver.script(.response(status: 500))
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        await server.storage.close()
        let next = try await Self.server(
            receiver,
            [endpoint],
            folder: server.folder,
            store: server.store,
            now: server.now + .minutes(1)
        )
        await next.service.deliverDueWebhooks()
        #expect(receiver.received.count == 2)
        #expect(Set(receiver.received.map(\.id)).count == 1)
        await next.close()
    }

    @Test func `an event is sent once, also if its result cannot be stored at first`()
        async throws
    {
        let (receiver, isFull) = (Receiver(), Locked(false))
        let endpoint = try Self.endpoint()
        let server = try TestServer(
            faults: SQLiteFaults { _ throws(StorageError) in
                guard isFull.withLock({ $0 }) else { return }
                throw StorageError(.full, place: "here")
            },
            webhooks: { clock in
                WebhookSetup(
                    configured: [endpoint],
                    sending: WebhookSending(clock: { clock.now }) { url, _, request in
                        isFull.withLock { $0 = receiver.received.isEmpty }
                        return receiver.receive(url, request)
                    }
                )
            }
        )
        await server.service.synchroniseWebhooks()
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 1)
        isFull.withLock { $0 = false }
        await server.service.deliverDueWebhooks()
        let feed = try json(try await server.get("/v1/apps/cards/events"))["events"]
        let ids = try #require(feed).elements.compactMap { $0["id"]?.string }
        #expect(ids.count > 1)
        #expect(receiver.received.map(\.id) == ids)
        let attempts = try json(try await server.get("/v1/apps/cards/webhooks/hooks/attempts"))
        #expect(attempts["attempts"]?.count == ids.count)
        await server.close()
    }

    @Test func `a stored event is sent again by its id or by a range, under its own id`()
        async throws
    {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        let first = receiver.received.map(\.id)
        let target = "/v1/apps/cards/webhooks/hooks/replay"
        let one = try await server.send(
            "POST",
            target,
            body: Array(#"{"event": "\#(first[0])"}"#.utf8)
        )
        #expect(one.status == 202)
        #expect(try json(one)["queued"]?.int64 == 1)
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.map(\.id) == first + [first[0]])
        let all = try await server.send(
            "POST",
            target,
            body: Array(#"{"from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z"}"#.utf8)
        )
        #expect(try json(all)["queued"]?.int64 == Int64(first.count))
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 2 * first.count + 1)
        // The first and the last id have one neighbour only.
        for id in [
            "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ] {
            let body = Array(#"{"event": "\#(id)"}"#.utf8)
            #expect(try await server.send("POST", target, body: body).status < 500, "\(id)")
        }
        for body in [#"{}"#, #"{"event": "x"}"#, #"{"from": "today"}"#, #"{"form": "x"}"#, "["] {
            let refused = try await server.send("POST", target, body: Array(body.utf8))
            #expect(refused.status == 400, "\(body)")
        }
        await server.close()
    }

    @Test func `an added webhook receives later events, signed with its secret`() async throws {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [])
        let added = try await server.send(
            "POST",
            "/v1/apps/cards/webhooks",
            body: Array(#"{"url": "https://example.com/x", "events": ["*"]}"#.utf8)
        )
        #expect(added.status == 201)
        let text = try #require(try json(added)["secret"]?.string)
        let secret = try #require(WebhookSecret(text))
        let listed = try await server.get("/v1/apps/cards/webhooks")
        #expect(!String(decoding: listed.body, as: UTF8.self).contains(text))
        #expect(!String(decoding: listed.body, as: UTF8.self).contains("example.com/x"))
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        let message = try #require(receiver.received.first)
        #expect(message.url == "https://example.com/x")
        let expected = WebhookSigner(secrets: [secret]).headers(
            id: message.id,
            at: server.now,
            body: message.request.body
        )
        #expect(message.request.headers == expected)
        await server.close()
    }

    @Test func `a removed webhook gets no more events, and a configured one stays`() async throws {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        let added = try await server.send(
            "POST",
            "/v1/apps/cards/webhooks",
            body: Array(#"{"url": "https://example.com/x"}"#.utf8)
        )
        let id = try #require(try json(added)["id"]?.string)
        let refused = try await server.send("DELETE", "/v1/apps/cards/webhooks/hooks")
        #expect(refused.status == 409)
        #expect(try json(refused)["type"]?.string == "/problems/configured-webhook")
        _ = try await server.post(.purchase())
        let removed = try await server.send("DELETE", "/v1/apps/cards/webhooks/\(id)")
        #expect(removed.status == 200)
        #expect(try json(removed)["id"]?.string == id)
        #expect(server.logged.contains { $0.contains("webhook removed") })
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.allSatisfy { $0.url == "https://example.com/hooks" })
        #expect(!receiver.received.isEmpty)
        for path in ["", "/attempts"] {
            let method = path.isEmpty ? "DELETE" : "GET"
            let again = try await server.send(method, "/v1/apps/cards/webhooks/\(id)\(path)")
            #expect(again.status == 404)
        }
        await server.close()
    }

    @Test(arguments: [
        #"{"url": "http://example.com"}"#, #"{"url": "https://u:p@example.com"}"#, "{}",
        #"{"url": "http://127.0.0.1"}"#, #"{"url": "https://example.com", "events": []}"#,
        #"{"url": "https://example.com", "allowNetworks": ["10.0.0.0/8"]}"#,
        #"{"url": "https://example.com", "environments": []}"#,
        #"{"url": "https://example.com", "environments": "sandbox"}"#,
        #"{"url": "https://example.com", "environments": ["sandbox", "moon"]}"#,
        #"{"url": "https://example.com", "environments": ["sandbox", "sandbox"]}"#,
        #"{"url": "https://example.com", "environments": ["xcode"]}"#,
    ])
    func `a receiver without https, or with unknown members, is not added`(body: String)
        async throws
    {
        let server = try await Self.server(Receiver(), [])
        let refused = try await server.send(
            "POST",
            "/v1/apps/cards/webhooks",
            body: Array(body.utf8)
        )
        #expect(refused.status == 400)
        #expect(try json(refused)["type"]?.string == "/problems/bad-webhook-request")
        await server.close()
    }

    @Test func `a receiver gets the events of the environments that it names`() async throws {
        let receiver = Receiver()
        let server = try await Self.server(
            receiver,
            [
                try Self.endpoint("all"), try Self.endpoint("sandbox", environments: [.sandbox]),
                try Self.endpoint("simulated", environments: [.simulated]),
            ]
        )
        let added = try json(
            try await server.send(
                "POST",
                "/v1/apps/cards/webhooks",
                body: Array(
                    #"{"url": "https://example.com/x", "environments": ["simulated"]}"#.utf8
                )
            )
        )
        #expect(added["environments"]?.elements.map(\.string) == ["simulated"])
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        let urls = receiver.received.map(\.url)
        #expect(Set(urls) == ["https://example.com/all", "https://example.com/sandbox"])
        #expect(urls.count { $0.hasSuffix("all") } == urls.count { $0.hasSuffix("sandbox") })
        let id = try #require(added["id"]?.string)
        for (webhook, isQueued) in [("all", true), ("simulated", false), (id, false)] {
            let replayed = try await server.send(
                "POST",
                "/v1/apps/cards/webhooks/\(webhook)/replay",
                body: Array(#"{"from": "2020-01-01T00:00:00Z"}"#.utf8)
            )
            let queued = try #require(try json(replayed)["queued"]?.int64)
            #expect((queued > 0) == isQueued, "\(webhook)")
        }
        await server.close()
    }

    @Test func `a receiver that an earlier version added gets the events of all environments`()
        async throws
    {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [])
        let secret = "whsec_\(String(repeating: "A", count: 32))"
        let form = #"{"url": "https://example.com/x", "events": ["*"], "secret": "\#(secret)"}"#
        try await server.storage.put(
            WebhookRecord(
                WebhookKey(app: "cards", id: "old"),
                form: Array(form.utf8),
                position: .earliest(at: Message.start)
            )
        )
        _ = try await server.post(.purchase())
        await server.service.deliverDueWebhooks()
        #expect(!receiver.received.isEmpty)
        let listed = try json(try await server.get("/v1/apps/cards/webhooks"))["webhooks"]?[0]
        #expect(listed?["environments"]?.count == 0)
        await server.close()
    }

    @Test func `a receiver at an address that is not public is refused with the reason`()
        async throws
    {
        let server = try await Self.server(Receiver(), [])
        let refused = try await server.send(
            "POST",
            "/v1/apps/cards/webhooks",
            body: Array(#"{"url": "https://127.0.0.1/hooks"}"#.utf8)
        )
        #expect(refused.status == 400)
        let detail = try #require(try json(refused)["detail"]?.string)
        #expect(detail.contains("it is this machine"))
        #expect(detail.contains("`allowNetworks`"))
        await server.close()
    }

    @Test func `a test message reports the receiver's answer and is not repeated`() async throws {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        receiver.script(.response(status: 401))
        let failed = try json(
            try await server.send("POST", "/v1/apps/cards/webhooks/hooks/test")
        )
        #expect(failed["delivered"]?.bool == false)
        #expect(failed["status"]?.int64 == 401)
        let passed = try json(
            try await server.send("POST", "/v1/apps/cards/webhooks/hooks/test")
        )
        #expect(passed["delivered"]?.bool == true)
        await server.service.deliverDueWebhooks()
        let kinds = receiver.received.compactMap { $0.body?["type"]?.string }
        #expect(kinds == ["webhook_test", "webhook_test"])
        await server.close()
    }

    @Test func `a worker that is stopped in the middle leaves its deliveries to the next`()
        async throws
    {
        let receiver = Receiver()
        let isBlocked = Locked(true)
        let endpoint = try Self.endpoint(events: ["entitlement_changed"])
        let server = try TestServer(
            webhooks: { clock in
                WebhookSetup(
                    configured: [endpoint],
                    sending: WebhookSending(clock: { clock.now }) { url, _, request in
                        let result = receiver.receive(url, request)
                        guard isBlocked.withLock({ $0 }) else { return result }
                        try? await Task.sleep(for: .seconds(600))
                        return .failure("cancelled")
                    }
                )
            }
        )
        await server.service.synchroniseWebhooks()
        _ = try await server.post(.purchase())
        let work = Task { await server.service.work(on: [.webhooks]) }
        while receiver.received.isEmpty {
            try await Task.sleep(for: .milliseconds(10))
        }
        work.cancel()
        await work.value
        isBlocked.withLock { $0 = false }
        await server.service.deliverDueWebhooks()
        #expect(receiver.received.count == 2)
        #expect(Set(receiver.received.map(\.id)).count == 1)
        let attempts = try json(try await server.get("/v1/apps/cards/webhooks/hooks/attempts"))
        #expect(attempts["attempts"]?.count == 1)
        await server.close()
    }

    @Test func `a stopped worker leaves only the deliveries without a response to the next`()
        async throws
    {
        let (receiver, count) = (Receiver(), Locked(0))
        let endpoint = try Self.endpoint(events: ["entitlement_changed"])
        let server = try TestServer(
            webhooks: { clock in
                WebhookSetup(
                    configured: [endpoint],
                    sending: WebhookSending(clock: { clock.now }) { url, _, request in
                        let number = count.withLock { count in
                            count += 1
                            return count
                        }
                        let result = receiver.receive(url, request)
                        guard [5, 6].contains(number) else { return result }
                        try? await Task.sleep(for: .seconds(600))
                        return .failure("cancelled")
                    }
                )
            }
        )
        await server.service.synchroniseWebhooks()
        for number in 10..<16 { _ = try await server.post(Self.purchase(number)) }
        let work = Task { await server.service.work(on: [.webhooks]) }
        while receiver.received.count < 6 {
            try await Task.sleep(for: .milliseconds(10))
        }
        work.cancel()
        await work.value
        await server.service.deliverDueWebhooks()
        let received = Dictionary(grouping: receiver.received, by: \.id)
        #expect(received.values.map(\.count).sorted() == [1, 1, 1, 1, 2, 2])
        let attempts = try json(try await server.get("/v1/apps/cards/webhooks/hooks/attempts"))
        let outcomes = attempts["attempts"]?.elements.compactMap { $0["outcome"]?.string }
        #expect(outcomes == Array(repeating: "delivered", count: 6))
        await server.close()
    }

    @Test func `a slow batch ends before its claim, so that no other worker repeats it`()
        async throws
    {
        let receiver = Receiver()
        let (other, ticks) = (Locked<Service?>(nil), Locked<Int64>(0))
        let endpoint = try Self.endpoint(events: ["entitlement_changed"])
        let server = try TestServer(
            webhooks: { clock in
                let start = clock.now
                let sending = WebhookSending(clock: { clock.now }) { url, _, request in
                    let result = receiver.receive(url, request)
                    ticks.withLock { ticks in
                        ticks += 1
                        clock.now = start + .seconds(30 * ticks)
                    }
                    // Another worker looks for deliveries meanwhile.
                    let service = other.withLock { service in
                        defer { service = nil }
                        return service
                    }
                    await service?.deliverDueWebhooks()
                    if let service { other.withLock { $0 = service } }
                    return result
                }
                return WebhookSetup(configured: [endpoint], sending: sending)
            }
        )
        await server.service.synchroniseWebhooks()
        for number in 10..<26 { _ = try await server.post(Self.purchase(number)) }
        other.withLock { $0 = server.service }
        await server.service.deliverDueWebhooks()
        other.withLock { $0 = nil }
        let ids = receiver.received.map(\.id)
        #expect(ids.count == 16)
        #expect(Set(ids).count == 16)
        let attempts = try json(try await server.get("/v1/apps/cards/webhooks/hooks/attempts"))
        let outcomes = attempts["attempts"]?.elements.compactMap { $0["outcome"]?.string }
        #expect(outcomes == Array(repeating: "delivered", count: 16))
        await server.close()
    }

    /// Returns a purchase of another customer for each number.
    private static func purchase(_ number: Int) -> Message {
        let customer = "11111111-2222-4333-8444-5555555555\(number)"
        var message = Message.purchase("n-\(number)", customer: customer)
        let id = JSONValue.string("20000000000000\(number)")
        message.transaction?["transactionId"] = id
        message.transaction?["originalTransactionId"] = id
        message.transaction?["webOrderLineItemId"] = .string("9000000\(number)")
        message.renewal?["originalTransactionId"] = id
        return message
    }

    @Test func `the worker delivers until it is cancelled`() async throws {
        let receiver = Receiver()
        let server = try await Self.server(receiver, [try Self.endpoint()])
        _ = try await server.post(.purchase())
        let work = Task { await server.service.work(on: [.webhooks]) }
        while receiver.received.count < 2 {
            try await Task.sleep(for: .milliseconds(10))
        }
        work.cancel()
        await work.value
        #expect(receiver.received.count >= 2)
        await server.close()
    }
}
