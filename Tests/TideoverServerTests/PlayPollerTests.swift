import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Google Play purchases without further pushes: all changes are found by queries at their
/// boundaries.
@Suite struct PlayPollerTests {
    private static let end: Instant = "2026-06-01T10:00:00Z"

    @Test func `the poller finds a renewal at the expiry and sends no request before`() async throws
    {
        let (end, next) = (Self.end, Instant("2026-07-01T10:00:00Z"))
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription("ACTIVE", until: now < end ? end : next)
        }
        try await backEnd.live(until: end + .minutes(1)) { _ async throws in
            #expect(try await backEnd.hasAccess())
        }
        let questions = backEnd.google.questions("token-1")
        #expect(questions.count == 2)
        #expect(questions[1] >= end && questions[1] < end + .seconds(5))
        let premium = try await backEnd.answer()["entitlements"]?["premium"]
        #expect(premium?["accessUntil"]?.string == "2026-07-01T10:00:00.000Z")
        #expect(backEnd.service.nextUpkeep == next)
        await backEnd.close()
    }

    @Test(arguments: [6, 24, 40, 47])
    func `an unreported grace keeps access until the store reports the hold`(
        hours: Int64
    ) async throws {
        let end = Self.end
        let held = end + .hours(hours)
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription(now < held ? "ACTIVE" : "ON_HOLD", until: end)
        }
        let denied = Locked<Instant?>(nil)
        try await backEnd.live(until: held + .minutes(61)) { now async throws in
            let access = try await backEnd.hasAccess()
            if !access { denied.withLock { $0 = $0 ?? now } }
            if now < held { #expect(access, "locked out at \(now.rfc3339)") }
        }
        let lockedOut = try #require(denied.withLock { $0 })
        #expect(backEnd.google.questions("token-1").contains { $0 >= held && $0 <= lockedOut })
        #expect(try await backEnd.words() == "hold accountHold confirmed none")
        // First every minute, then at growing intervals, and at least once an hour.
        let asked = backEnd.google.questions("token-1").filter { $0 >= end && $0 < held }
        #expect(asked.count <= 7 + Int(hours))
        #expect(zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 <= .minutes(61) })
        await backEnd.close()
    }

    @Test func `the poller follows an expiry that moves without a notification`() async throws {
        let end = Self.end
        // The store keeps the state and adds a day, then the payment succeeds.
        let paid = end + .hours(30)
        let backEnd = try await PlayBackEnd.told { now in
            let until = now < end ? end : now < paid ? end + .hours(24) : end + .days(30)
            let told = now < end + .minutes(3) ? end : until
            return ScriptedPlay.subscription("ACTIVE", until: told)
        }
        try await backEnd.live(until: end + .days(3)) { now async throws in
            #expect(try await backEnd.hasAccess(), "locked out at \(now.rfc3339)")
        }
        #expect(try await backEnd.words() == "active paid confirmed access")
        await backEnd.close()
    }

    @Test func `the poller follows a daily extended grace to its end and finds the recovery`()
        async throws
    {
        let end = Self.end
        let (held, recovered) = (end + .days(16), end + .days(20))
        let backEnd = try await PlayBackEnd.told { now in
            if now < end { return ScriptedPlay.subscription("ACTIVE", until: end) }
            let days = (now - end).count / Milliseconds.days(1).count + 1
            let moved = end + .days(min(days, 16))
            if now < held { return ScriptedPlay.subscription("IN_GRACE_PERIOD", until: moved) }
            if now < recovered { return ScriptedPlay.subscription("ON_HOLD", until: held) }
            return ScriptedPlay.subscription("ACTIVE", until: recovered + .days(30))
        }
        try await backEnd.live(until: held - .minutes(1)) { now async throws in
            #expect(try await backEnd.hasAccess(), "locked out at \(now.rfc3339)")
        }
        #expect(try await backEnd.words() == "grace billingIssue confirmed access")
        try await backEnd.live(until: held + .hours(1))
        #expect(try await backEnd.words() == "hold accountHold confirmed none")
        try await backEnd.live(until: recovered + .days(1))
        #expect(try await backEnd.words() == "active paid confirmed access")
        #expect(backEnd.google.questions("token-1").count < 40)
        await backEnd.close()
    }

    /// A base plan may hold for up to 60 days; with grace, the two last at least 30.
    @Test(arguments: [1, 14, 30, 44, 59])
    func `the poller follows a hold to the end that its plan defines`(days: Int64) async throws {
        let end = Self.end
        let over = end + .days(days)
        let backEnd = try await PlayBackEnd.told { now in
            if now < end { return ScriptedPlay.subscription("ACTIVE", until: end) }
            if now < over { return ScriptedPlay.subscription("ON_HOLD", until: end) }
            return ScriptedPlay.subscription(
                "EXPIRED",
                until: end,
                isOn: false,
                ["canceledStateContext": ["systemInitiatedCancellation": [:]]]
            )
        }
        try await backEnd.live(until: over - .minutes(1))
        #expect(try await backEnd.words() == "hold accountHold confirmed none")
        try await backEnd.live(until: over + .days(1))
        #expect(try await backEnd.words() == "expired billingError confirmed none")
        #expect(backEnd.service.nextUpkeep == nil)
        await backEnd.close()
    }

    @Test func `a pause is not a billing issue, and the poller finds its end`() async throws {
        let end = Self.end
        let resumes = end + .days(30)
        let backEnd = try await PlayBackEnd.told { now in
            if now < end { return ScriptedPlay.subscription("ACTIVE", until: end) }
            if now < resumes + .minutes(3) {
                return ScriptedPlay.subscription(
                    "PAUSED",
                    until: end,
                    ["pausedStateContext": ["autoResumeTime": .string(resumes.rfc3339)]]
                )
            }
            return ScriptedPlay.subscription("ACTIVE", until: resumes + .days(30))
        }
        try await backEnd.live(until: resumes - .minutes(1)) { now async throws in
            guard now > end + .minutes(1) else { return }
            #expect(try await backEnd.words() == "hold paused confirmed none")
            #expect(try await backEnd.answer()["prompt"]?["kind"]?.string == "none")
            let report = try await backEnd.get("/v1/reports/deadlines?app=cards&kind=holdEnd")
            let rows = try #require(report["rows"]?.array)
            #expect(rows.allSatisfy { $0["deadlines"]?.array?.isEmpty == true })
        }
        try await backEnd.live(until: resumes + .minutes(10))
        #expect(try await backEnd.words() == "active paid confirmed access")
        let timeline = try await backEnd.get(
            "/v1/apps/cards/customers/\(TestServer.anna)/timeline?environment=production"
        )
        let text = String(decoding: timeline.encoded(), as: UTF8.self)
        #expect(text.contains("paused"))
        #expect(!text.contains("billing_issue"))
        await backEnd.close()
    }

    @Test func `a pause ended early is found within a day`() async throws {
        let end = Self.end
        let resumed = end + .days(5)
        let backEnd = try await PlayBackEnd.told { now in
            if now < end { return ScriptedPlay.subscription("ACTIVE", until: end) }
            if now >= resumed {
                return ScriptedPlay.subscription("ACTIVE", until: resumed + .days(30))
            }
            return ScriptedPlay.subscription(
                "PAUSED",
                until: end,
                ["pausedStateContext": ["autoResumeTime": .string((end + .days(60)).rfc3339)]]
            )
        }
        try await backEnd.live(until: resumed + .days(1))
        #expect(try await backEnd.words() == "active paid confirmed access")
        await backEnd.close()
    }

    @Test func `the poller finds a renewed purchase before a cancelled one ends`() async throws {
        let (end, restarted) = (Self.end, Self.end - .minutes(30))
        let backEnd = try await PlayBackEnd.told { now in
            now < restarted
                ? ScriptedPlay.subscription("CANCELED", until: end, isOn: false)
                : ScriptedPlay.subscription("ACTIVE", until: now < end ? end : end + .days(30))
        }
        try await backEnd.live(until: end + .minutes(5)) { now async throws in
            #expect(try await backEnd.hasAccess(), "locked out at \(now.rfc3339)")
        }
        #expect(backEnd.google.questions("token-1").contains { $0 > restarted && $0 < end })
        #expect(try await backEnd.words() == "active paid confirmed access")
        await backEnd.close()
    }

    @Test func `a cancelled purchase ends at its expiry and is not polled afterwards`()
        async throws
    {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription(now < end ? "CANCELED" : "EXPIRED", until: end, isOn: false)
        }
        try await backEnd.live(until: end + .minutes(2)) { now async throws in
            #expect(try await backEnd.hasAccess() == (now < end))
        }
        #expect(backEnd.google.questions("token-1").count == 3)
        #expect(backEnd.service.nextUpkeep == nil)
        await backEnd.close()
    }

    @Test func `items with different ends are polled at their own ends`() async throws {
        let (end, later) = (Self.end, Self.end + .days(9))
        let backEnd = try await PlayBackEnd.told { now in
            ScriptedPlay.subscription(
                "ACTIVE",
                until: end,
                [
                    "lineItems": [
                        ScriptedPlay.item(
                            "cards.pro.monthly",
                            until: now < end ? end : end + .days(30)
                        ),
                        ScriptedPlay.item(
                            "cards.extra",
                            until: now < later ? later : later + .days(30),
                            order: "GPA.2"
                        ),
                    ]
                ]
            )
        }
        try await backEnd.live(until: later + .hours(1)) { now async throws in
            #expect(try await backEnd.hasAccess("premium"), "\(now.rfc3339)")
            #expect(try await backEnd.hasAccess("extra"), "\(now.rfc3339)")
        }
        let questions = backEnd.google.questions("token-1")
        #expect(questions.count == 3)
        #expect(questions[1] >= end && questions[1] < end + .seconds(5))
        #expect(questions[2] >= later && questions[2] < later + .seconds(5))
        await backEnd.close()
    }

    @Test(arguments: UInt64(1)...8)
    func `five tokens of one chain give the same answer in every order`(
        seed: UInt64
    ) async throws {
        let google = ScriptedPlay(TestTime(at: PlayBackEnd.start, movesClock: true))
        let last = Instant("2026-05-20T10:00:00Z")
        for number in 1...5 {
            let start = Instant("2026-05-01T10:00:00Z") - .days(5 * Int64(5 - number))
            var changes: JSONObject = ["startTime": .string(start.rfc3339)]
            if number > 1 { changes["linkedPurchaseToken"] = .string("token-\(number - 1)") }
            let purchase = ScriptedPlay.subscription(
                number == 5 ? "ACTIVE" : "EXPIRED",
                until: number == 5 ? last : start + .days(5),
                changes
            )
            google.play("token-\(number)") { _ in purchase }
        }
        let backEnd = try PlayBackEnd(google)
        var random = SeededRandom(seed: seed)
        var order = Array(1...5)
        for place in stride(from: 4, to: 0, by: -1) {
            order.swapAt(place, Int(random.number(in: 0...Int64(place))))
        }
        // With the first seed only the newest token is reported; the others are found through its
        // links.
        for number in seed == 1 ? [5] : order { try await backEnd.push(4, "token-\(number)") }
        try await backEnd.live(until: PlayBackEnd.start + .days(2)) { _ async throws in
            #expect(try await backEnd.hasAccess())
        }
        let told = try await backEnd.answer()["entitlements"]?["premium"]
        #expect(told?["accessUntil"]?.string == last.rfc3339)
        #expect(try await backEnd.words() == "active paid confirmed access")
        for number in 1...5 { #expect(google.questions("token-\(number)").count == 1) }
        #expect(backEnd.service.nextUpkeep == last)
        await backEnd.close()
    }

    @Test func `no purchase token and no customer reaches the log`() async throws {
        let end = Self.end
        let backEnd = try await PlayBackEnd.told { _ in
            ScriptedPlay.subscription("ACTIVE", until: end)
        }
        backEnd.google.fail { _ in Response(status: 503) }
        try await backEnd.live(until: end + .hours(3))
        backEnd.google.fail(nil)
        backEnd.google.play("token-1", status: 410)
        try await backEnd.live(until: end + .days(3))
        _ = try await backEnd.backfill()
        #expect(backEnd.logged.count > 5)
        for line in backEnd.logged {
            #expect(!line.contains("token-1"))
            #expect(!line.contains(TestServer.anna))
        }
        await backEnd.close()
    }
}
