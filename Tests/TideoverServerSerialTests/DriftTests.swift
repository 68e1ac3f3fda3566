import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// The comparison of devices' conclusions when they reconcile.
@Suite struct DriftTests {
    private static let path = "/v1/apps/cards/customers/\(TestServer.anna)"

    private func reconcile(
        _ server: TestServer,
        _ device: JSONValue,
        transactions: [JSONObject] = [],
        customer: String = TestServer.anna
    ) async throws -> (status: Int, answer: JSONValue) {
        let signed = try transactions.map { JSONValue.string(try server.store.sign($0)) }
        let response = try await server.send(
            "POST",
            "/v1/apps/cards/customers/\(customer)/reconcile?environment=sandbox",
            body: JSONValue.object(["device": device, "transactions": .array(signed)]).encoded()
        )
        return (response.status, JSONValue(try JSONDocument(response.body).root))
    }

    private func says(_ access: Bool, until: Instant? = nil) -> JSONValue {
        var word: JSONObject = ["access": .bool(access)]
        word["until"] = until.map { .string($0.rfc3339) }
        return ["entitlements": ["premium": .object(word)]]
    }

    /// Returns `direction cause healer` of each drift.
    private func drift(_ answer: JSONValue) -> [String] {
        (answer["drift"]?.array ?? []).map { drift in
            [drift["direction"], drift["cause"], drift["healedBy"]]
                .compactMap { $0?.string }.joined(separator: " ")
        }
    }

    @Test func `a device that agrees or reports nothing has no drift`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        #expect(drift(try await reconcile(server, says(true, until: Message.end)).answer) == [])
        #expect(drift(try await reconcile(server, .null).answer) == [])
        #expect(drift(try await reconcile(server, [:]).answer) == [])
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `a report of a device never changes the answer`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let before = try await server.answer()
        for device in [says(false), says(true, until: Message.end + .days(900)), says(true)] {
            _ = try await reconcile(server, device)
        }
        let after = try await server.answer()
        #expect(after["entitlements"] == before["entitlements"])
        #expect(after["customerVersion"] == before["customerVersion"])
        let stranger = try await reconcile(server, says(true), customer: "u_9").answer
        #expect(stranger["entitlements"]?["premium"]?["access"]?.bool == false)
        await server.close()
    }

    @Test func `reports that agree or come from unknown customers are not stored`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let commits = "tideover_storage_commits_total{outcome=\"committed\"}"
        func committed() async throws -> [String] {
            try await server.samples().filter { $0.hasPrefix(commits) }
        }
        // A customer's first reconcile is recorded, with any report of the device.
        _ = try await reconcile(server, says(true, until: Message.end))
        _ = try await reconcile(server, says(false), customer: "u_9")
        let before = try await committed()
        #expect(before.count == 1)
        _ = try await reconcile(server, says(true, until: Message.end))
        _ = try await reconcile(server, says(false), customer: "u_9")
        #expect(try await committed() == before)
        _ = try await reconcile(server, says(false))
        #expect(try await committed() != before)
        await server.close()
    }

    @Test func `drift is reported while it is open, and a later report heals it`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let said = "device-denies-server-allows stale-device-cache"
        server.set(Message.start + .days(1))
        #expect(drift(try await reconcile(server, says(false)).answer) == [said])
        server.set(Message.start + .days(2))
        #expect(drift(try await reconcile(server, says(false)).answer) == [said])
        #expect(drift(try await reconcile(server, .null).answer) == [said])
        let healed = try await reconcile(server, says(true, until: Message.end)).answer
        #expect(drift(healed) == ["\(said) device"])
        #expect(healed["drift"]?[0]?["openedAt"]?.string == (Message.start + .days(1)).rfc3339)
        #expect(healed["drift"]?[0]?["healedAt"]?.string == (Message.start + .days(2)).rfc3339)
        #expect(healed["drift"]?[0]?["agreedAccess"]?.bool == true)
        #expect(healed["drift"]?[0]?["lockoutMinutes"]?.double == 1_440)
        server.set(Message.start + .days(3))
        #expect(drift(try await reconcile(server, says(true, until: Message.end)).answer) == [])
        await server.close()
    }

    @Test func `a late notification heals the drift, and the report counts it`() async throws {
        let server = try TestServer()
        server.set(Message.start + .days(1))
        let opened = try await reconcile(server, says(true, until: Message.end)).answer
        #expect(drift(opened) == ["device-allows-server-denies missed-notification"])
        server.set(Message.start + .days(3))
        _ = try await server.post(.purchase())
        let report = try await server.get("/v1/reports/drift?app=cards")
        let row = try JSONDocument(report.body).root["rows"]?[0]
        #expect(row?["open"]?.int64 == 0)
        #expect(row?["healedBy"]?["notification"]?.int64 == 1)
        let seconds = Double(Milliseconds.days(2).count / 1_000)
        let median = try #require(row?["timeToHeal"]?["medianSeconds"]?.double)
        #expect(median <= seconds && median >= seconds * 0.998)
        await server.close()
    }

    @Test func `evidence in the request opens and heals drift at once, unless the purchase is new`()
        async throws
    {
        let server = try TestServer()
        server.set(Message.start + .minutes(4))
        let device = says(true, until: Message.end)
        let fresh = try await reconcile(server, device, transactions: [Message.transaction()])
            .answer
        #expect(drift(fresh) == [])
        let late = try TestServer()
        late.set(Message.start + .days(4))
        let answer = try await reconcile(late, device, transactions: [Message.transaction()]).answer
        #expect(drift(answer) == ["device-allows-server-denies missed-notification device"])
        let again = try await reconcile(late, device, transactions: [Message.transaction()]).answer
        #expect(drift(again).count == 1, "the same instant, the same drift")
        await server.close()
        await late.close()
    }

    @Test func `an unreachable store leaves the drift open and does not block the response`()
        async throws
    {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        server.set(Message.end + .days(5))
        let device: JSONValue = [
            "entitlements": [
                "premium": [
                    "access": true, "until": .string((Message.end + .days(30)).rfc3339),
                    "originalTransactionId": "2000000000000001",
                ]
            ]
        ]
        let (status, answer) = try await reconcile(server, device)
        #expect(status == 200)
        #expect(drift(answer) == ["device-allows-server-denies missed-notification"])
        #expect(answer["drift"]?[0]?["lineage"]?["id"]?.string == "2000000000000001")
        #expect(server.logged.contains { $0.contains("a purchase could not be asked about") })
        #expect(!server.logged.contains { $0.contains(TestServer.anna) })
        let samples = try await server.samples()
        let labels =
            #"app="cards",direction="device-allows-server-denies",cause="missed-notification""#
        #expect(samples.contains("tideover_drift_total{\(labels)} 1"))
        await server.close()
    }

    @Test func `a purchase of the customer's alias is the customer's own in a report`() async throws
    {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        server.set(Message.end + .days(5))
        let joined = try await server.send(
            "POST",
            "/v1/apps/cards/customers/anna-at-home/aliases",
            body: JSONValue.object(["alias": .string(TestServer.anna)]).encoded()
        )
        #expect(joined.status == 201)
        let device: JSONValue = [
            "entitlements": [
                "premium": [
                    "access": true, "until": .string((Message.end + .days(30)).rfc3339),
                    "originalTransactionId": "2000000000000001",
                ]
            ]
        ]
        for customer in [TestServer.anna, "anna-at-home"] {
            let answer = try await reconcile(server, device, customer: customer).answer
            #expect(drift(answer) == ["device-allows-server-denies missed-notification"])
        }
        #expect(server.logged.contains { $0.contains("a purchase could not be asked about") })
        let stranger = try await reconcile(server, device, customer: "u_9").answer
        #expect(drift(stranger) == ["device-allows-server-denies other-customer"])
        await server.close()
    }

    @Test(arguments: [
        #"{"device": []}"#, #"{"device": {"entitlements": {"premium": {}}}}"#,
        #"{"device": {"deviceTime": "noon"}}"#,
    ])
    func `a malformed report of a device is rejected`(_ body: String) async throws {
        let server = try TestServer()
        let response = try await server.send(
            "POST",
            "\(Self.path)/reconcile",
            body: Array(body.utf8)
        )
        #expect(response.status == 400)
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/bad-reconcile-request")
        await server.close()
    }

    // MARK: Explanations and reports

    @Test func `an explanation contains the drift of any instant, also in its reply`() async throws
    {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        server.set(Message.start + .days(1))
        _ = try await reconcile(server, says(false))
        server.set(Message.start + .days(2))
        _ = try await reconcile(server, says(true, until: Message.end))
        func explained(_ query: String = "") async throws -> JSONValue {
            let target = "\(Self.path)/explain?environment=sandbox\(query)"
            return JSONValue(try JSONDocument(try await server.get(target).body).root)
        }
        func reply(_ answer: JSONValue) -> String {
            let sentences = answer["entitlements"]?["premium"]?["reply"]?.array ?? []
            return sentences.compactMap(\.string).joined(separator: " ")
        }
        let now = try await explained()
        let said = "device-denies-server-allows stale-device-cache"
        #expect(drift(now) == ["\(said) device"])
        #expect(reply(now).contains("was settled on 3 May 2026"))
        // The notification arrived after five seconds.
        #expect(now["lockouts"]?["premium"]?["ours"]?["minutes"]?.double == 5.0 / 60)
        let then = try await explained("&at=2026-05-02T12:00:00Z")
        #expect(drift(then) == [said])
        #expect(reply(then).contains("On 2 May 2026 your device showed no access"))
        #expect(drift(try await explained("&at=2026-05-01T12:00:00Z")) == [])
        server.set(Message.start + .days(33))
        #expect(drift(try await explained()) == [])
        await server.close()
    }

    @Test func `lockouts are reported by judge and cause with the entitled minutes`() async throws {
        let server = try TestServer()
        // Received three hours after the store signed it.
        server.set(Message.start + .hours(3))
        _ = try await server.post(.purchase())
        server.set(Message.start + .hours(10))
        let answer = try JSONDocument(try await server.get("/v1/reports/lockouts?app=cards").body)
        let row = answer.root["rows"]?[0]
        #expect(row?["environment"]?.string == "sandbox")
        #expect(row?["purchases"]?.int64 == 1)
        #expect(row?["entitledMinutes"]?.double == 600)
        for judge in ["ours", "expiryCheck"] {
            #expect(row?[judge]?["minutes"]?.double == 180)
            #expect(row?[judge]?["purchases"]?.int64 == 1)
            #expect(row?[judge]?["causes"]?["notHeard"]?.double == 180)
        }
        #expect(row?["relay"]?["minutes"]?.double == 0)
        let told = try await server.get("\(Self.path)/explain?environment=sandbox")
        let premium = try JSONDocument(told.body).root["entitlements"]?["premium"]
        let reply = premium?["reply"]?.elements.compactMap(\.string).joined(separator: " ") ?? ""
        #expect(reply.contains("without access for 3 hours in all"))
        await server.close()
    }

    @Test(arguments: ["drift", "lockouts", "recovery", "churn", "trials"])
    func `a report needs a key and contains only the apps of the key`(_ name: String) async throws {
        let server = try TestServer()
        let target = "/v1/reports/\(name)"
        #expect(try await server.ask("GET", target).status == 401)
        let made = try await server.send(
            "POST",
            "/v1/keys",
            body: Array(#"{"kind": "secret", "apps": ["cards"]}"#.utf8)
        )
        let key = try #require(try JSONDocument(made.body).root["key"]?.string)
        let own: Headers = ["Authorization": "Bearer \(key)"]
        #expect(try await server.ask("GET", "\(target)?app=rehearsal", headers: own).status == 403)
        let rows = try JSONDocument(try await server.ask("GET", target, headers: own).body)
            .root["rows"]
        #expect(rows?.elements.compactMap { $0["app"]?.string } == ["cards", "cards"])
        let all = try JSONDocument(try await server.get(target).body).root["rows"]
        #expect(all?.count == 3)
        await server.close()
    }
}
