import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Signed notifications and answers through the real server, without a socket.
@Suite struct ServiceTests {
    @Test func `a signed purchase is answered with access until its end`() async throws {
        let server = try TestServer()
        #expect(try await server.premium() == "never unknown none")
        let taken = try await server.post(.purchase())
        #expect(taken.status == 200)
        let answer = try await server.answer()
        #expect(answer["customer"]?.string == TestServer.anna)
        #expect(answer["environment"]?.string == "sandbox")
        #expect(answer["asOf"]?.string == "2026-05-01T10:00:05.000Z")
        #expect(answer["customerVersion"]?.int64 == 1)
        let premium = answer["entitlements"]?["premium"]
        #expect(premium?["state"]?.string == "active")
        #expect(premium?["accessUntil"]?.string == "2026-06-01T10:00:00.000Z")
        #expect(premium?["willRenew"]?.bool == true)
        #expect(premium?["confidence"]?.string == "confirmed")
        #expect(answer["prompt"]?["kind"]?.string == "none")
        await server.close()
    }

    @Test func `a customer's id matches in any case of its UUID`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase(customer: TestServer.anna.uppercased()))
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        #expect(try await server.premium(TestServer.anna.uppercased()) == "active paid access")
        await server.close()
    }

    @Test func `grace keeps access, retry and refund end it, a reversal restores it`()
        async throws
    {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        try await fail(server, grace: "2026-06-17T10:00:00Z")
        server.set("2026-06-05T10:00:00Z")
        #expect(try await server.premium() == "grace billingIssue access")
        server.set("2026-06-20T10:00:00Z")
        #expect(try await server.premium() == "hold billingRetry none")
        #expect(try await server.answer()["prompt"]?["kind"]?.string == "hard")

        try await recover(server)
        #expect(try await server.premium() == "active paid access")
        try await refund(server, type: "REFUND", revoked: true, at: "2026-06-25T10:00:00Z")
        #expect(try await server.premium() == "expired refunded none")
        try await refund(
            server,
            type: "REFUND_REVERSED",
            revoked: false,
            at: "2026-06-28T10:00:00Z"
        )
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    private func fail(_ server: TestServer, grace: Instant?) async throws {
        var message = Message("n-fail", signed: Message.end)
        message.type = "DID_FAIL_TO_RENEW"
        message.subtype = grace == nil ? nil : "GRACE_PERIOD"
        message.status = grace == nil ? 3 : 4
        message.transaction = Message.transaction(signed: Message.end)
        var renewal = Message.renewal(signed: Message.end)
        renewal["isInBillingRetryPeriod"] = true
        renewal["gracePeriodExpiresDate"] = grace?.wire
        renewal["expirationIntent"] = 2
        message.renewal = renewal
        server.set(Message.end + .seconds(5))
        #expect(try await server.post(message).status == 200)
    }

    private static let recovered: Instant = "2026-06-21T10:00:00Z"

    private func recover(_ server: TestServer) async throws {
        var message = Message("n-recover", signed: Self.recovered)
        message.type = "DID_RENEW"
        message.subtype = "BILLING_RECOVERY"
        message.transaction = secondTransaction(signed: Self.recovered)
        var renewal = Message.renewal(signed: Self.recovered)
        renewal["renewalDate"] = (Self.recovered + Period(months: 1)).wire
        message.renewal = renewal
        server.set(Self.recovered + .seconds(5))
        #expect(try await server.post(message).status == 200)
    }

    private func secondTransaction(signed: Instant) -> JSONObject {
        var transaction = Message.transaction(signed: signed)
        transaction["transactionId"] = "2000000000000002"
        transaction["webOrderLineItemId"] = "900000002"
        transaction["purchaseDate"] = Self.recovered.wire
        transaction["expiresDate"] = (Self.recovered + Period(months: 1)).wire
        transaction["transactionReason"] = "RENEWAL"
        return transaction
    }

    private func refund(
        _ server: TestServer,
        type: String,
        revoked: Bool,
        at instant: Instant
    ) async throws {
        var message = Message("n-\(type)", signed: instant)
        message.type = type
        message.subtype = nil
        message.status = revoked ? 5 : 1
        var transaction = secondTransaction(signed: instant)
        if revoked {
            transaction["revocationDate"] = instant.wire
            transaction["revocationReason"] = 0
            transaction["revocationType"] = "REFUND_FULL"
        }
        message.transaction = transaction
        server.set(instant + .seconds(5))
        #expect(try await server.post(message).status == 200)
    }

    @Test func `a failed payment without grace causes a hold at once`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        try await fail(server, grace: nil)
        #expect(try await server.premium() == "hold billingRetry none")
        await server.close()
    }

    @Test func `time alone changes the answer and its version`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        server.set(Message.end + .hours(1))
        #expect(try await server.premium() == "active renewalDue access")
        #expect(try await server.answer()["customerVersion"]?.int64 == 2)
        server.set(Message.end + .hours(25))
        #expect(try await server.premium() == "expired unconfirmed none")
        #expect(try await server.answer()["customerVersion"]?.int64 == 3)
        let events = try server.storage.outbox(app: "cards", after: nil, limit: 10)
        let changes = events.filter { $0.event.kind == "entitlement_changed" }
        #expect(
            changes.map(\.event.at) == [
                "2026-05-01T10:00:05Z", Message.end, Message.end + .hours(24),
            ]
        )
        await server.close()
    }

    /// An answer with a name that is not ASCII is read as any other document.
    @Test(arguments: ["premium", "prämie"])
    func `an event of a change has the answers before and after it`(name: String) async throws {
        let product = Product(entitlements: [name], group: "pro", period: Period(months: 1))
        let server = try TestServer(
            catalogue: Catalogue(products: ["cards.pro.monthly": product])
        )
        _ = try await server.post(.purchase())
        let before = try await server.answer()["entitlements"]?[name]
        server.set(Message.end + .hours(1))
        let after = try await server.answer()["entitlements"]?[name]
        let bodies = try server.storage.outbox(app: "cards", after: nil, limit: 10)
            .filter { $0.event.kind == "entitlement_changed" }
            .map { try JSONDocument($0.event.body).root }
        #expect(bodies.map { $0["entitlement"]?.string } == [name, name])
        #expect(bodies.first?["from"]?.isNull == true)
        #expect(bodies.first?["to"].map { JSONValue($0) } == before)
        #expect(bodies.last?["from"].map { JSONValue($0) } == before)
        #expect(bodies.last?["to"].map { JSONValue($0) } == after)
        #expect(before != after)
        await server.close()
    }

    @Test func `on a full disk the answer is current and not cacheable`() async throws {
        let isFull = Locked(false)
        let server = try TestServer(
            faults: SQLiteFaults { _ throws(StorageError) in
                guard isFull.withLock({ $0 }) else { return }
                throw StorageError(.full, place: "the disk")
            }
        )
        _ = try await server.post(.purchase())
        isFull.withLock { $0 = true }
        server.set(Message.end + .hours(25))
        let target = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"
        let answered = try await server.get(target)
        #expect(answered.status == 200)
        #expect(answered.headers["ETag"] == nil)
        #expect(try await server.premium() == "expired unconfirmed none")
        isFull.withLock { $0 = false }
        #expect(try await server.get(target).headers["ETag"] != nil)
        #expect(try await server.answer()["customerVersion"]?.int64 == 2)
        await server.close()
    }

    @Test func `a duplicate is accepted and changes nothing`() async throws {
        let server = try TestServer()
        let body = try Message.purchase().body(server.store)
        #expect(try await server.post(body).status == 200)
        let again = try await server.post(body)
        #expect(again.status == 200)
        #expect(try JSONDocument(again.body).root["status"]?.string == "duplicate")
        let resigned = try await server.post(.purchase())
        #expect(try JSONDocument(resigned.body).root["status"]?.string == "duplicate")
        #expect(try await server.answer()["customerVersion"]?.int64 == 1)
        await server.close()
    }

    @Test func `notifications in any order give the same answer`() async throws {
        var bodies: [Message] = [.purchase()]
        var renewal = Message("n-2", signed: Message.end)
        renewal.type = "DID_RENEW"
        renewal.subtype = nil
        var transaction = Message.transaction(signed: Message.end)
        transaction["transactionId"] = "2000000000000002"
        transaction["webOrderLineItemId"] = "900000002"
        transaction["purchaseDate"] = Message.end.wire
        transaction["expiresDate"] = (Message.end + Period(months: 1)).wire
        renewal.transaction = transaction
        bodies.append(renewal)
        var answers: [JSONValue?] = []
        for order in [bodies, bodies.reversed()] {
            let server = try TestServer()
            server.set(Message.end + .hours(1))
            for message in order { _ = try await server.post(message) }
            answers.append(try await server.answer()["entitlements"])
            await server.close()
        }
        #expect(answers[0] == answers[1])
        #expect(answers[0]?["premium"]?["accessUntil"]?.string == "2026-07-01T10:00:00.000Z")
    }

    @Test func `an unknown notification type is stored and counted and changes nothing`()
        async throws
    {
        let server = try TestServer()
        var message = Message.purchase("n-odd")
        message.type = "SPLENDID_NEWS"
        message.subtype = nil
        #expect(try await server.post(message).status == 200)
        #expect(try await server.premium() == "never unknown none")
        #expect(try await server.counts() == ["unrecognised notificationType=SPLENDID_NEWS 1"])
        await server.close()
    }

    @Test func `an unknown product is stored and counted and works after a catalogue change`()
        async throws
    {
        let server = try TestServer()
        var message = Message.purchase()
        message.transaction = Message.transaction(product: "cards.gold")
        #expect(try await server.post(message).status == 200)
        #expect(try await server.premium() == "never unknownProduct none")
        #expect(try await server.counts() == ["unknown-product cards.gold 1"])
        #expect(server.logged.contains { $0.contains("unknown-product") })
        await server.storage.close()

        var catalogue = TestServer.catalogue
        catalogue.products["cards.gold"] = Product(entitlements: ["premium"])
        let healed = try TestServer(
            catalogue: catalogue,
            folder: server.folder,
            store: server.store
        )
        #expect(try await healed.premium() == "active paid access")
        await healed.close()
    }

    @Test func `a slow clock does not hide a new purchase`() async throws {
        let server = try TestServer()
        server.set(Message.start - .minutes(2))
        #expect(try await server.post(.purchase()).status == 200)
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `an unchanged answer is not sent again`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let target = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"
        let first = try await server.get(target)
        let tag = try #require(first.headers["ETag"])
        #expect(tag.hasPrefix("W/"))
        let second = try await server.get(target, headers: ["If-None-Match": tag])
        #expect(second.status == 304)
        #expect(second.body.isEmpty)
        // A cache replaces these fields of its copy.
        for name in ["Cache-Control", "ETag", "Vary"] {
            #expect(second.headers[name] == first.headers[name], "\(name)")
            #expect(second.headers[name] != nil, "\(name)")
        }
        server.set(Message.end + .hours(1))
        #expect(try await server.get(target, headers: ["If-None-Match": tag]).status == 200)
        await server.close()
    }

    @Test func `environments are never mixed`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let simulated = try await server.answer(environment: "simulated")
        #expect(simulated["entitlements"]?["premium"]?["state"]?.string == "never")
        await server.close()
    }

    @Test(arguments: [
        ("GET", "/v1/apps/cards/customers/x", 400, "environment-not-served"),
        ("GET", "/v1/apps/cards/customers/x?environment=moon", 400, "unknown-environment"),
        ("GET", "/v1/apps/other/customers/x?environment=sandbox", 404, "unknown-app"),
        (
            "GET",
            "/v1/apps/cards/customers/00000000-0000-0000-0000-000000000000?environment=sandbox",
            400, "bad-customer"
        ),
        ("POST", "/v1/apps/cards/customers/x?environment=sandbox", 405, "method-not-allowed"),
        ("GET", "/v1/apps/cards/notifications/app-store", 405, "method-not-allowed"),
        ("DELETE", "/v1/keys", 405, "method-not-allowed"),
        ("DELETE", "/v1/keys/none", 404, "unknown-key"),
        ("POST", "/v1/keys", 400, "bad-key-request"),
        ("GET", "/v1/apps/cards/customers/", 404, "not-found"),
        ("GET", "/", 404, "not-found"),
    ])
    func `an invalid request is rejected with the reason`(
        method: String,
        target: String,
        status: Int,
        slug: String
    ) async throws {
        let server = try TestServer()
        let response = try await server.send(method, target)
        #expect(response.status == status)
        #expect(response.headers["Content-Type"] == "application/problem+json")
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/\(slug)")
        #expect(problem["title"]?.string?.isEmpty == false)
        await server.close()
    }

    @Test(arguments: [
        String(repeating: "a", count: 257), String(repeating: "%C3%A9", count: 129), "a%00b",
        "00000000-0000-0000-0000-000000000000",
    ])
    func `every route of a customer refuses an id that nothing is stored under`(
        customer: String
    ) async throws {
        let server = try TestServer(revenueCat: TestRevenueCat().trust())
        let routes = Service.routes.filter { $0.template.contains("{customer}") }
        #expect(routes.count > 10)
        for route in routes {
            let path = route.template.replacing("{app}", with: "cards")
                .replacing("{customer}", with: customer).replacing("{grant}", with: "g")
            let response = try await server.send(route.method, path)
            #expect(response.status == 400, "\(route.method) \(route.template)")
            let problem = try JSONDocument(response.body).root
            #expect(problem["type"]?.string == "/problems/bad-customer", "\(route.template)")
        }
        let longest = String(repeating: "a", count: 256)
        let path = "/v1/apps/cards/customers/\(longest)?environment=sandbox"
        #expect(try await server.get(path).status == 200)
        await server.close()
    }

    @Test func `a NUL is part of no other name`() async throws {
        let server = try TestServer()
        for path in ["/v1/apps/a%00/customers/x", "/v1/keys/a%00", "/problems/a%00"] {
            let method = path.hasPrefix("/v1/keys") ? "DELETE" : "GET"
            #expect(try await server.send(method, path).status == 404)
        }
        await server.close()
    }

    @Test func `the health route responds`() async throws {
        let server = try TestServer()
        let health = try await server.get("/healthz")
        #expect(health.status == 200)
        #expect(try JSONDocument(health.body).root["status"]?.string == "ok")
        await server.close()
    }

    @Test func `a failed storage gives a 503 response without details`() async throws {
        let server = try TestServer()
        await server.storage.close()
        let response = try await server.post(.purchase())
        #expect(response.status == 503)
        #expect(response.headers["Retry-After"] != nil)
        #expect(!String(decoding: response.body, as: UTF8.self).contains("tideover.db"))
        await server.close()
    }

    @Test func `a received message is restored byte by byte`() async throws {
        let server = try TestServer()
        let body = try Message.purchase().body(server.store)
        _ = try await server.post(body)
        let key = try #require(CustomerID(TestServer.anna))
        let lineages = try #require(
            try server.storage.lineages(
                of: .init(app: "cards", environment: .sandbox, customer: key),
                now: Message.start
            )
        )
        let id = try #require(lineages.lineageRecords.first?.facts.first?.evidence)
        #expect(try server.storage.evidence(id, app: "cards")?.bytes == body)
        await server.close()
    }
}
