import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer

@testable import TideoverTestServer

/// The audit lines of ownership changes.
@Suite struct AuditTests {
    @Test func `claims, transfers and rejections add one audit line each`() async throws {
        let server = try TestServer(policy: Policy(transfer: .transfer(coolDown: .days(30))))
        let calls = OwnershipCalls(server: server)
        let bought = server.now
        try await calls.present("u_1", calls.transaction())
        server.set(bought + .days(3))
        try await calls.present("u_2", calls.transaction())
        server.set(bought + .days(4))
        for _ in 0..<3 { try await calls.present("u_3", calls.transaction()) }
        try await calls.present("u_2", calls.transaction())
        #expect(
            try await calls.audit() == [
                "claimed u_1 - customer", "transferred u_2 u_1 customer",
                "claimRefused u_3 u_2 customer",
            ]
        )
        #expect(
            try await calls.audit("customers/u_1/audit") == [
                "claimed u_1 - customer", "transferred u_2 u_1 customer",
            ]
        )
        #expect(try await calls.audit("customers/u_9/audit") == [])
        let last = try await calls.get("audit")["audit"]?.array?.last
        #expect(last?["lineage"]?.string == "appStore:2000000000000001")
        #expect(last?["at"]?.string == (bought + .days(4)).rfc3339)
        #expect(last?["why"]?.string?.contains((bought + .days(33)).rfc3339) == true)
        await server.close()
    }

    @Test func `a transfer by the store's token adds an audit line, a first owner does not`()
        async throws
    {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        try await calls.present("u_1", calls.transaction())
        var named = calls.transaction(token: TestServer.anna, signed: Message.start + .days(1))
        named["transactionId"] = "2000000000000002"
        named["webOrderLineItemId"] = "900000002"
        named["purchaseDate"] = Message.end.wire
        named["expiresDate"] = (Message.end + .days(30)).wire
        named["signedDate"] = Message.end.wire
        server.set(Message.end + .seconds(5))
        try await calls.present("u_1", named)
        try await calls.present(TestServer.ben, calls.transaction("5", token: TestServer.ben))
        let lines = try await calls.audit()
        #expect(lines.contains("transferred \(TestServer.anna) u_1 store"))
        #expect(!lines.contains { $0.contains(TestServer.ben) })
        await server.close()
    }

    @Test func `a grant and its revocation add audit lines with key and reason`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        let given = try await calls.post(
            "customers/u_1/grants",
            ["entitlement": "premium", "days": 7, "why": "outage"]
        )
        let id = try #require(given.answer["grants"]?.array?.first?["id"]?.string)
        _ = try await calls.post("customers/u_1/grants/\(id)/revocation", ["why": "a slip"])
        #expect(
            try await calls.audit("customers/u_1/audit") == [
                "granted u_1 - operator", "grantRevoked u_1 - operator",
            ]
        )
        let lines = try await calls.get("audit")["audit"]?.array ?? []
        #expect(lines.compactMap { $0["why"]?.string } == ["outage", "a slip"])
        #expect(
            lines.allSatisfy { $0["by"]?.string == "admin key of the configuration" }
        )
        await server.close()
    }

    @Test func `the audit is read page by page`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        for n in 1...5 { try await calls.present("u_\(n)", calls.transaction("\(n)")) }
        var found: [String] = []
        var after = ""
        while true {
            let page = try await calls.get("audit", "&limit=2\(after)")
            found += (page["audit"]?.array ?? []).compactMap { $0["customer"]?.string }
            guard page["more"] == true else { break }
            after = "&after=\(page["next"]?.string ?? "")"
        }
        #expect(found == ["u_1", "u_2", "u_3", "u_4", "u_5"])
        let bad = try await server.get("/v1/apps/cards/audit?after=x")
        #expect(bad.status == 400)
        await server.close()
    }

    @Test func `an explanation lists the owners of each purchase with their dates`() async throws {
        let server = try TestServer(policy: Policy(transfer: .transfer(coolDown: .zero)))
        let calls = OwnershipCalls(server: server)
        let bought = server.now
        try await calls.present("u_1", calls.transaction())
        server.set(bought + .days(3))
        try await calls.present("u_2", calls.transaction())
        let purchases = try await calls.get("customers/u_1/explain")["purchases"]?.array ?? []
        #expect(purchases.count == 1)
        let owners = purchases.first?["owners"]?.array ?? []
        #expect(owners.compactMap { $0["customer"]?.string } == ["u_1", "u_2"])
        #expect(owners.last?["from"]?.string == (bought + .days(3)).rfc3339)
        await server.close()
    }
}

/// Two ids of one customer.
@Suite struct AliasTests {
    private func declare(
        _ calls: OwnershipCalls,
        _ alias: String,
        of customer: String
    ) async throws -> (status: Int, answer: JSONValue) {
        try await calls.post("customers/\(customer)/aliases", ["alias": .string(alias)])
    }

    @Test func `both ids have the same answer from the purchases of both`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        try await calls.present("phone", calls.transaction())
        #expect(try await server.premium("anna") == "never unknown none")
        server.set(server.now + .days(1))
        let (status, answer) = try await declare(calls, "phone", of: "anna")
        #expect(status == 201)
        #expect(answer["customer"]?.string == "anna")
        #expect(answer["aliases"]?.array?.compactMap { $0["alias"]?.string } == ["phone"])
        #expect(try await server.premium("anna") == "active paid access")
        #expect(try await server.answer("phone") == server.answer("anna"))
        #expect(
            try await calls.audit("customers/phone/audit").last == "aliased anna phone operator"
        )
        #expect(try await declare(calls, "phone", of: "anna").status == 200)
        #expect(try await declare(calls, "anna", of: "phone").status == 200)
        await server.close()
    }

    @Test func `at an instant before the alias each id has its own answer`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        let bought = server.now
        try await calls.present("phone", calls.transaction())
        server.set(bought + .days(2))
        _ = try await declare(calls, "phone", of: "anna")
        let before = bought + .days(2) + Milliseconds(-1)
        #expect(try await calls.state(of: "anna", at: before) == "never")
        #expect(try await calls.state(of: "phone", at: before) == "active")
        #expect(try await calls.state(of: "anna", at: bought + .days(2)) == "active")
        #expect(try await calls.state(of: "phone", at: bought + .days(2)) == "active")
        let known = try await calls.get(
            "customers/anna/explain",
            "&asKnownAt=\((bought + .days(1)).rfc3339)&at=\((bought + .days(3)).rfc3339)"
        )
        let state = known["entitlements"]?["premium"]?["decision"]?["state"]?.string
        #expect(state == "never")
        await server.close()
    }

    @Test func `late notifications for either id reach the same customer`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        #expect(try await declare(calls, TestServer.anna, of: "web").status == 201)
        #expect(try await server.post(.purchase()).status == 200)
        #expect(try await server.premium("web") == "active paid access")
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        var refund = Message.purchase("n-2", signed: Message.start + .days(1))
        refund.type = "REFUND"
        refund.subtype = nil
        refund.transaction?["revocationDate"] = (Message.start + .days(1)).wire
        refund.transaction?["revocationReason"] = 0
        server.set(Message.start + .days(1) + .seconds(5))
        #expect(try await server.post(refund).status == 200)
        #expect(try await server.premium("web") == "expired refunded none")
        await server.close()
    }

    @Test func `a purchase of one id belongs to the other without a transfer`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        try await calls.present("phone", calls.transaction())
        _ = try await declare(calls, "phone", of: "anna")
        #expect(try await calls.present("anna", calls.transaction()) == "held")
        #expect(try await calls.present("ben", calls.transaction()) == "held-by-another")
        await server.close()
    }

    @Test func `an alias changes the ETags of both ids`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        try await calls.present("phone", calls.transaction())
        _ = try await calls.post(
            "customers/phone/grants",
            ["entitlement": "premium", "days": 60, "why": "x"]
        )
        try await calls.present("anna", calls.transaction("5"))
        func tag(_ customer: String) async throws -> String? {
            let target = "/v1/apps/cards/customers/\(customer)?environment=sandbox"
            return try await server.get(target).headers["ETag"]
        }
        let before = [try await tag("phone"), try await tag("anna")]
        _ = try await declare(calls, "phone", of: "anna")
        let after = try await tag("phone")
        #expect(try await tag("anna") == after)
        #expect(!before.contains(after))
        await server.close()
    }

    @Test func `an alias of an alias and an alias of another customer are rejected`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        #expect(try await declare(calls, "phone", of: "anna").status == 201)
        for (alias, customer, reason) in [
            ("anna", "anna", "same-id"), ("phone", "ben", "alias-of-another"),
            ("anna", "ben", "has-aliases"),
        ] {
            let (status, problem) = try await declare(calls, alias, of: customer)
            #expect(status == 409)
            #expect(problem["type"]?.string == "/problems/alias-refused")
            #expect(problem["reason"]?.string == reason)
        }
        // An alias of an alias belongs to the primary customer.
        let (status, answer) = try await declare(calls, "web", of: "phone")
        #expect(status == 201)
        #expect(answer["customer"]?.string == "anna")
        for body in [#"{"alias": ""}"#, "{}", #"{"alias": "a", "reason": "x"}"#, "[]"] {
            let response = try await server.send(
                "POST",
                "/v1/apps/cards/customers/anna/aliases",
                body: Array(body.utf8)
            )
            #expect(response.status == 400)
        }
        let listed = try await calls.get("customers/web/aliases")
        #expect(listed["aliases"]?.array?.compactMap { $0["alias"]?.string } == ["phone", "web"])
        await server.close()
    }

    @Test func `events are raised once, for the customer and not for the alias`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        try await calls.present("phone", calls.transaction())
        _ = try await declare(calls, "phone", of: "anna")
        server.set(Message.end + .days(3))
        _ = try await server.premium("phone")
        _ = try await server.premium("anna")
        let events = try await calls.get("events")["events"]?.array ?? []
        let later = events.filter { ($0["effectiveAt"]?.string ?? "") >= Message.end.rfc3339 }
        #expect(!later.isEmpty)
        #expect(later.allSatisfy { $0["customer"]?.string == "anna" })
        await server.close()
    }
}

/// Purchases without a customer.
@Suite struct UnclaimedTests {
    private func post(_ server: TestServer, _ id: String, token: String? = nil) async throws {
        var message = Message.purchase("n-\(id)")
        for key in ["originalTransactionId", "transactionId"] {
            message.transaction?[key] = .string(id)
        }
        message.transaction?["webOrderLineItemId"] = .string("9\(id)")
        message.transaction?["appAccountToken"] = token.map(JSONValue.string)
        message.renewal?["originalTransactionId"] = .string(id)
        #expect(try await server.post(message).status == 200)
    }

    private func listed(_ page: JSONValue) -> [String] {
        (page["purchases"]?.array ?? []).compactMap { $0["lineage"]?.string }
    }

    @Test func `an unclaimed purchase is listed with instructions until it is claimed`()
        async throws
    {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        try await post(server, "1")
        try await post(server, "2")
        try await post(server, "3", token: TestServer.anna)
        let page = try await calls.get("unclaimed")
        #expect(listed(page) == ["appStore:1", "appStore:2"])
        let first = page["purchases"]?.array?.first
        #expect(first?["reply"]?.string?.contains("Restore Purchases") == true)
        #expect(first?["claim"]?["method"]?.string == "POST")
        #expect(
            first?["claim"]?["path"]?.string == "/v1/apps/cards/customers/{customer}/reconcile"
        )
        let gauge = "tideover_unclaimed_purchases{app=\"cards\",environment=\"sandbox\"}"
        #expect(try await server.samples().contains("\(gauge) 2"))
        #expect(try await calls.present("u_1", calls.transaction("1")) == "claimed")
        #expect(listed(try await calls.get("unclaimed")) == ["appStore:2"])
        #expect(try await server.samples().contains("\(gauge) 1"))
        let found = try await calls.get("lookup", "&transaction=1")
        #expect(found["purchases"]?.array?.first?["claim"] == .null)
        // A later assertion of the store also claims the purchase.
        server.set(Message.start + .days(1))
        try await calls.present(
            "u_9",
            calls.transaction("2", token: TestServer.ben, signed: Message.start + .days(1))
        )
        #expect(listed(try await calls.get("unclaimed")).isEmpty)
        await server.close()
    }

    @Test func `the list is read page by page for one environment`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        for id in ["1", "2", "3"] { try await post(server, id) }
        let first = try await calls.get("unclaimed", "&limit=2")
        #expect(listed(first) == ["appStore:1", "appStore:2"])
        #expect(first["more"] == true)
        let rest = try await calls.get("unclaimed", "&limit=2&after=appStore:2")
        #expect(listed(rest) == ["appStore:3"])
        #expect(rest["more"] == false)
        let other = try await server.get("/v1/apps/cards/unclaimed?environment=simulated")
        #expect(listed(JSONValue(try JSONDocument(other.body).root)).isEmpty)
        #expect(
            try await server.get("/v1/apps/cards/unclaimed?environment=sandbox&after=").status
                == 400
        )
        await server.close()
    }
}

/// Purchases that an operator moves to another customer.
@Suite struct MoveTests {
    private static let purchase = "purchases/2000000000000001/move"

    private func move(
        _ calls: OwnershipCalls,
        to customer: String,
        from: String? = nil
    ) async throws -> (status: Int, answer: JSONValue) {
        var body: JSONObject = ["customer": .string(customer), "why": "another account"]
        body["from"] = from.map(JSONValue.string)
        return try await calls.post(Self.purchase, body)
    }

    /// Returns the renewal at the end of the first period, with the token of the purchase.
    private func renewal(_ calls: OwnershipCalls, token: String?) -> JSONObject {
        var renewal = calls.transaction(token: token, signed: Message.end)
        renewal["transactionId"] = "2000000000000002"
        renewal["webOrderLineItemId"] = "900000002"
        renewal["purchaseDate"] = Message.end.wire
        renewal["expiresDate"] = (Message.end + .days(30)).wire
        return renewal
    }

    @Test(arguments: [
        Policy.Transfer.claim, .keep, .transferIfInactive, .transfer(coolDown: .zero),
    ])
    func `a moved purchase stays moved after a renewal and a device of its former owner`(
        transfer: Policy.Transfer
    ) async throws {
        let server = try TestServer(policy: Policy(transfer: transfer))
        let calls = OwnershipCalls(server: server)
        let (anna, ben) = (TestServer.anna, TestServer.ben)
        #expect(try await server.post(.purchase()).status == 200)
        #expect(try await server.premium(anna) == "active paid access")
        server.set(Message.start + .days(1))
        let (status, answer) = try await move(calls, to: ben, from: anna)
        #expect(status == 200)
        #expect(answer["customer"]?.string == ben)
        #expect(answer["customerKnown"] == false)
        #expect(try await server.premium(ben) == "active paid access")
        #expect(try await server.premium(anna) == "never unknown none")
        server.set(Message.end + .seconds(5))
        let renewal = renewal(calls, token: anna)
        #expect(try await calls.present(anna, renewal) == "moved-by-operator")
        #expect(
            try await calls.present(anna, calls.transaction(token: anna)) == "moved-by-operator"
        )
        #expect(try await calls.present(ben, renewal) == "held")
        #expect(try await server.premium(ben) == "active paid access")
        #expect(try await server.premium(anna).contains("none"))
        // The past stays as it was.
        let before = Message.start + .hours(1)
        #expect(try await calls.state(of: anna, at: before) == "active")
        #expect(try await calls.state(of: ben, at: before) == "never")
        await server.close()
    }

    @Test func `audit, explanation and events of both customers report the move`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        let (anna, ben) = (TestServer.anna, TestServer.ben)
        #expect(try await server.post(.purchase()).status == 200)
        server.set(Message.start + .days(1))
        #expect(try await move(calls, to: ben).status == 200)
        for customer in [anna, ben] {
            #expect(
                try await calls.audit("customers/\(customer)/audit")
                    == ["transferred \(ben) \(anna) operator"]
            )
        }
        let line = try await calls.get("audit")["audit"]?.array?.last
        #expect(line?["why"]?.string == "another account")
        #expect(line?["by"]?.string == "admin key of the configuration")
        let gained = try await calls.get("customers/\(ben)/explain")
        let premium = gained["entitlements"]?["premium"]
        #expect(
            premium?["why"]?.array?.last?.string?.contains("operator moved the purchase") == true
        )
        let roles = (premium?["used"]?.array ?? []).flatMap { $0["as"]?.array ?? [] }
        #expect(roles.contains("owner"))
        let lost = try await calls.get("customers/\(anna)/explain")["entitlements"]?["premium"]
        #expect(lost?["why"]?.array?.last?.string?.contains("to another") == true)
        let events = try await calls.get("events")["events"]?.array ?? []
        let changes = events.filter { $0["kind"]?.string == "entitlement_changed" }.suffix(2)
        let changed = changes.map { event in
            let access = event["data"]?["answer"]?["premium"]?["access"]?.bool
            return "\(event["customer"]?.string ?? "?") \(access.map(String.init) ?? "?")"
        }
        #expect(Set(changed) == ["\(anna) false", "\(ben) true"])
        let moves = events.filter { $0["kind"]?.string == PurchaseMove.eventKind }
        #expect(moves.map { $0["customer"]?.string } == [ben])
        #expect(moves.first?["data"]?["why"]?.string == "moved")
        await server.close()
    }

    @Test func `a move is undone by another, and by the store's token for someone new`()
        async throws
    {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        let (anna, ben) = (TestServer.anna, TestServer.ben)
        #expect(try await server.post(.purchase()).status == 200)
        server.set(Message.start + .days(1))
        _ = try await move(calls, to: ben)
        server.set(Message.start + .days(2))
        _ = try await move(calls, to: anna)
        #expect(try await server.premium(anna) == "active paid access")
        server.set(Message.start + .days(3))
        _ = try await move(calls, to: ben)
        server.set(Message.end + .seconds(5))
        let carl = "3c9e7a52-5d1b-4a86-9f0e-2b7d4c1a8e63"
        try await calls.present(carl, renewal(calls, token: carl))
        #expect(try await server.premium(carl) == "active paid access")
        #expect(try await server.premium(ben).contains("none"))
        let events = try await calls.get("events")["events"]?.array ?? []
        let moves = events.filter { $0["kind"]?.string == PurchaseMove.eventKind }
        // The store's own name is no move.
        #expect(moves.map { $0["customer"]?.string } == [ben, anna, ben])
        #expect(Set(moves.map { $0["data"]?["id"]?.string }).count == 3)
        await server.close()
    }

    @Test func `an unclaimed purchase is given to a customer, once however often it is sent`()
        async throws
    {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        var message = Message.purchase()
        message.transaction?["appAccountToken"] = nil
        #expect(try await server.post(message).status == 200)
        for _ in 0..<3 { #expect(try await move(calls, to: "u_1").status == 200) }
        #expect(try await server.premium("u_1") == "active paid access")
        #expect(try await calls.audit() == ["claimed u_1 - operator"])
        await server.close()
    }

    @Test func `a second move at the same instant is refused, and accepted after it`()
        async throws
    {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        #expect(try await server.post(.purchase()).status == 200)
        server.set(Message.start + .days(1))
        #expect(try await move(calls, to: "u_1").status == 200)
        let (status, problem) = try await move(calls, to: "u_2", from: "u_1")
        #expect(status == 409)
        #expect(problem["reason"]?.string == "too-soon")
        #expect(try await server.premium("u_1") == "active paid access")
        server.set(Message.start + .days(1) + .seconds(1))
        #expect(try await move(calls, to: "u_2", from: "u_1").status == 200)
        #expect(try await server.premium("u_2") == "active paid access")
        #expect(try await server.premium("u_1").contains("none"))
        await server.close()
    }

    @Test func `a move of an unknown purchase, or from another than its owner, is refused`()
        async throws
    {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        #expect(try await move(calls, to: "u_1").status == 404)
        #expect(try await server.post(.purchase()).status == 200)
        let (status, problem) = try await move(calls, to: "u_1", from: "u_2")
        #expect(status == 409)
        #expect(problem["reason"]?.string == "another-owner")
        let bodies: [JSONObject] = [
            [:], ["customer": "u_1"], ["customer": "", "why": "x"],
            ["customer": "u_1", "why": "x", "reason": "y"],
            ["customer": "u_1", "why": "x", "from": 1],
        ]
        for body in bodies { #expect(try await calls.post(Self.purchase, body).status == 400) }
        #expect(try await server.premium(TestServer.anna) == "active paid access")
        await server.close()
    }

    @Test func `a blank reason is a problem of the request that it is in`() async throws {
        let server = try TestServer()
        let calls = OwnershipCalls(server: server)
        #expect(try await server.post(.purchase()).status == 200)
        for why in ["", " \u{A0} "] {
            let moved = try await calls.post(
                Self.purchase,
                ["customer": "u_1", "why": .string(why)]
            )
            #expect(moved.answer["type"]?.string == "/problems/bad-move")
            let named = try await calls.post(
                "customers/u_1/aliases",
                ["alias": "u_2", "why": .string(why)]
            )
            #expect(named.answer["type"]?.string == "/problems/bad-alias")
        }
        await server.close()
    }
}
