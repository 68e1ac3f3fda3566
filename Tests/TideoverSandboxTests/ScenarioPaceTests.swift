import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// Rehearsals at a pace, on a clock that advances only during waits.
@Suite struct ScenarioPaceTests {
    private static let began: Int64 = 1_900_000_000_000

    /// The notifications of a back end, with the time on its own clock.
    private final class Listener: Sendable {
        let clock = Locked(ScenarioPaceTests.began)
        let heard = Locked<[(at: Int64, payload: JSONValue)]>([])
        let store = Locked<Handler?>(nil)
        let status: Int

        init(answering status: Int = 200) { self.status = status }

        var now: Int64 { clock.withLock { $0 } }

        /// Captures only the clock, because the listener retains the store, which uses the clock.
        func pace(_ month: Int64) -> ScenarioPace {
            ScenarioPace(
                month: month,
                clock: { [clock] in clock.withLock { $0 } },
                sleep: { [clock] length in clock.withLock { $0 += length } }
            )
        }

        func target(_ month: Int64) -> ScenarioTarget {
            var target = ScenarioTarget(
                deliver: { [clock, heard, status] request in
                    let body = try JSONDocument(request.body).root["signedPayload"]?.string
                    let payload = try content(of: JSONValue.string(try #require(body)))
                    let now = clock.withLock { $0 }
                    heard.withLock { $0.append((now, payload)) }
                    return Response(status: status)
                },
                readBack: { _ in Response(status: 404) },
                setClock: { _ in }
            )
            target.pace = pace(month)
            target.meetStore = { [store] api in store.withLock { $0 = api } }
            return target
        }
    }

    private static let life = """
        { scenario: "A case", source: "a page",
          app: { id: "cards", bundleId: "com.example.cards" },
          products: { "cards.pro": { entitlements: ["premium"], group: "pro", period: "P1M",
                      price: "9.99 USD", grace: "P16D" } },
          customers: { anna: {} }, start: "2026-05-01T10:00:00Z",
          steps: [{ do: "subscribe" }, { do: "failPayments" },
                  { do: "fixPayments", after: "5 weeks" }, { do: "cancel", after: "2 weeks" }] }
        """

    private func play(_ listener: Listener, month: Int64) async throws -> ScenarioReport {
        try await played(Scenario(reading: Array(Self.life.utf8)), against: listener.target(month))
    }

    @Test(arguments: [3000, 300_000, StoreTimeScale.month])
    func `only future dates are ahead of the clock`(_ month: Int64) async throws {
        let listener = Listener()
        _ = try await play(listener, month: month)
        let heard = listener.heard.withLock { $0 }
        let types = heard.compactMap { $0.payload["notificationType"]?.string }
        #expect(
            types == [
                "SUBSCRIBED", "DID_FAIL_TO_RENEW", "DID_RENEW", "DID_CHANGE_RENEWAL_STATUS",
            ]
        )
        let toCome: Set = ["expiresDate", "gracePeriodExpiresDate", "renewalDate"]
        for (now, payload) in heard {
            let dates = instants(in: payload)
            #expect(dates.count >= 7)
            for (name, date) in dates where !toCome.contains(name) {
                #expect(date <= now, "\(name) in \(payload)")
                #expect(date >= Self.began, "\(name) in \(payload)")
            }
        }
        // May has 31 days, and the store's months have 30.
        let bought = instants(in: try #require(heard.first).payload)
        let end = try #require(bought.first { $0.0 == "expiresDate" }?.1)
        let start = try #require(bought.first { $0.0 == "purchaseDate" }?.1)
        #expect(abs(end - start - month * 31 / 30) <= 1)
    }

    @Test func `a failed delivery is retried after the scaled delay`()
        async throws
    {
        let listener = Listener(answering: 500)
        _ = try await play(listener, month: 30 * 24 * 1000)
        let heard = listener.heard.withLock { $0 }
        let uuid = heard.first?.payload["notificationUUID"]
        let times = heard.filter { $0.payload["notificationUUID"] == uuid }.map(\.at)
        // An hour takes a second here.
        let waits = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(waits == [1000, 12_000, 24_000, 48_000, 72_000])
    }

    @Test func `the total duration is known in advance`() throws {
        let scenario = try Scenario(reading: Array(Self.life.utf8))
        // Seven weeks of a month of 30 days.
        #expect(Listener().pace(30_000).length(of: scenario) == 49_000)
    }

    @Test func `an expected instant is in the back end's time`()
        async throws
    {
        let text = Self.life.replacing(
            #"{ do: "subscribe" }"#,
            with: """
                { do: "subscribe",
                  expect: { premium: { accessUntil: "2026-05-31T10:00:00Z" } } }
                """
        )
        let listener = Listener()
        var target = listener.target(30_000)
        target.readBack = { _ in
            let until = InstantText.write(Self.began + 30_000)
            let answer: JSONValue = ["entitlements": ["premium": ["accessUntil": .string(until)]]]
            return Response(body: answer.encoded())
        }
        let report = try await played(Scenario(reading: Array(text.utf8)), against: target)
        #expect(report.verdicts.map(\.holds) == [true])
    }

    // MARK: A running store

    private func session(_ listener: Listener) async throws -> ScenarioSession {
        let stage = try Scenario(stage: Array(Self.life.utf8)) { _ in [] }
        return await ScenarioSession(
            stage,
            target: listener.target(300_000),
            authority: try SandboxAuthority()
        )
    }

    @Test func `a long-lived store does nothing ahead of the clock`() async throws {
        let listener = Listener()
        let session = try await session(listener)
        await #expect(throws: AheadOfClock.self) {
            try await session.take(Array(#"{ after: "1 day" }"#.utf8))
        }
        _ = try await session.take(Array(#"{ do: "subscribe", customer: "anna" }"#.utf8))
        await #expect(throws: AheadOfClock.self) { try await session.passToNextEvent() }
        // A minute later, six days have passed, and the step runs then.
        listener.clock.withLock { $0 += 60_000 }
        _ = try await session.take(Array(#"{ do: "cancel", customer: "anna" }"#.utf8))
        let signed = listener.heard.withLock { $0.last }?.payload["signedDate"]?.int64 ?? 0
        #expect((Self.began + 60_000...listener.now).contains(signed))
    }

    // MARK: Requests to the store

    @Test func `a back end requests instants in its own time`() async throws {
        let listener = Listener()
        let key = P256PrivateKey.generate()
        var target = listener.target(3000)
        target.storeKeys = [
            AppStoreAPIKey(
                issuerId: StoreClient.issuer,
                keyId: StoreClient.keyId,
                publicKey: key.publicKey
            )
        ]
        _ = try await played(Scenario(reading: Array(Self.life.utf8)), against: target)
        // The store's own clock is stopped from here on, the other is not.
        listener.clock.withLock { $0 += 500_000 }
        let api = try #require(listener.store.withLock { $0 })
        func history(_ start: Int64, _ end: Int64) async throws -> [JSONValue]? {
            let token = try StoreClient.token(at: listener.now, by: key)
            let body: JSONValue = ["startDate": .integer(start), "endDate": .integer(end)]
            let response = try await api(
                Request(
                    method: "POST",
                    path: "/inApps/v1/notifications/history",
                    headers: ["Authorization": "Bearer \(token)"],
                    body: body.encoded()
                )
            )
            #expect(response.status == 200)
            #expect(response.headers["Date"] == HTTPDateText.write(listener.now))
            return JSONValue(try JSONDocument(response.body).root)["notificationHistory"]?.array
        }
        let day: Int64 = 86_400_000
        let all = try #require(await history(listener.now - 170 * day, listener.now))
        #expect(all.count == 4)
        let dates = try all.map { try content(of: $0["signedPayload"])["signedDate"]?.int64 ?? 0 }
        #expect(try await history(dates[0], dates[1])?.count == 2)
        #expect(try await history(listener.now - 1, listener.now)?.isEmpty == true)
    }
}

/// Returns the content of a signed document, with its signed parts decoded; does not verify
/// signatures.
private func content(of compact: JSONValue?) throws -> JSONValue {
    let jws = try JWS(Array((compact?.string ?? "").utf8))
    return JSONValue(try JSONDocument(jws.payload).root)
}

/// Returns every member of a notification with the name of an instant, including its signed parts.
private func instants(in value: JSONValue) -> [(String, Int64)] {
    var found: [(String, Int64)] = []
    for (name, member) in value.object ?? [:] {
        if name.hasSuffix("Date"), let instant = member.int64 { found.append((name, instant)) }
        if member.string != nil, let inner = try? content(of: member) {
            found += instants(in: inner)
        } else {
            found += instants(in: member)
        }
    }
    return found
}
