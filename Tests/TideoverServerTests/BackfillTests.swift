import Testing
import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverRehearsal
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// The server queries for every notification that it missed.
@Suite struct BackfillTests {
    private static let customers = [TestServer.anna, TestServer.ben]

    /// Runs a life and passes each notification to `deliver`, which may lose some.
    private func live(
        _ rehearsed: RehearsedStore,
        _ time: TestTime,
        seed: UInt64,
        months: Int64 = 5,
        deliver: @escaping @Sendable ([UInt8]) async throws -> Int
    ) async throws {
        let store = rehearsed.store
        var random = SeededRandom(seed: seed &* 977 &+ 3)
        for customer in Self.customers {
            try await store.register(StoreCustomer(name: customer, appAccountToken: customer))
        }
        let end = RehearsedStore.start + .days(30 * months)
        while time.clock.now < end {
            let step = Milliseconds.hours(random.number(in: 1...400))
            time.clock.now = min(end, time.clock.now + step)
            try await store.advance(to: time.clock.now.millisecondsSince1970) { body in
                try await deliver(body)
            }
            let customer = Self.customers[Int(random.number(in: 0...1))]
            let action = Self.actions[Int(random.number(in: 0...Int64(Self.actions.count - 1)))]
            // Actions that the store rejects are ignored.
            do { try await store.perform(action, by: customer) } catch {}
        }
        time.clock.now = end + .minutes(1)
        try await store.advance(to: time.clock.now.millisecondsSince1970) { body in
            try await deliver(body)
        }
    }

    private static let actions: [AppStoreAction] = [
        .subscribe(product: "cards.pro.monthly", trial: .declined),
        .subscribe(product: "cards.pro.monthly", trial: .declined),
        .failPayments, .fixPayments, .cancel(product: nil), .reenable(product: nil),
        .refund(product: nil, reason: .other), .reverseRefund(product: nil),
    ]

    @Test(arguments: UInt64(1)...24)
    func `a backfill restores every lost notification of a life`(
        seed: UInt64
    ) async throws {
        let rehearsed = try RehearsedStore(seed: seed)
        let time = TestTime()
        let whole = try RehearsedBackEnd(rehearsed, time)
        let lossy = try RehearsedBackEnd(rehearsed, time)
        let coins = Locked(SeededRandom(seed: seed))
        try await live(rehearsed, time, seed: seed) { body in
            _ = try await whole.post(body)
            switch coins.withLock({ $0.number(in: 1...10) }) {
            case 1...3: return 200  // lost although acknowledged
            case 4...5: return 500  // lost, and retried by the store
            default: return try await lossy.post(body)
            }
        }
        let report = try await lossy.backfill()
        #expect(report?["status"]?.string == "completed", "\(String(describing: report))")
        for customer in Self.customers {
            #expect(try await lossy.answer(customer) == whole.answer(customer))
            let until = time.clock.now
            #expect(
                try lossy.timeline(customer, until: until)
                    == whole.timeline(customer, until: until)
            )
        }
        await whole.close()
        await lossy.close()
    }
}

/// Failures during a backfill.
@Suite struct BackfillTroubleTests {
    /// Creates a store where Anna has subscribed, and days without any arrival.
    private func silence(_ rehearsed: RehearsedStore, _ time: TestTime, days: Int64) async throws {
        let store = rehearsed.store
        try await store.subscribe(token: TestServer.anna)
        try await store.pass(.days(days), on: time) { _ in 500 }
    }

    /// Returns all stored facts of the app's lineages, without their time and source of arrival.
    private func facts(_ backEnd: RehearsedBackEnd) throws -> [String] {
        let lineageRecords = try backEnd.storage.lineages(
            in: AppScope("cards", .simulated),
            after: nil,
            limit: 100
        )
        return try lineageRecords.flatMap(\.facts).map { fact in
            var writer = JSONWriter()
            fact.write(to: &writer)
            let json = JSONValue(try JSONDocument(writer.bytes, limits: .local).root)
            let plain = json.without(["learnedAt", "evidence", "source"])
            return String(decoding: plain.encoded(), as: UTF8.self)
        }.sorted()
    }

    @Test func `a backfill resumes after a kill at any commit without duplicates`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        try await silence(rehearsed, time, days: 150)
        let whole = try RehearsedBackEnd(rehearsed, time)
        #expect(try await whole.backfill()?["status"]?.string == "completed")
        let everything = try facts(whole)
        #expect(everything.count > 10)
        var kills = 0
        for commit in 1...200 {
            let commits = Locked(0)
            let dying = try RehearsedBackEnd(
                rehearsed,
                time,
                faults: SQLiteFaults { _ throws(StorageError) in
                    let number = commits.withLock { commits in
                        commits += 1
                        return commits
                    }
                    if number >= commit { throw StorageError(.io, place: "killed") }
                }
            )
            let report = try await dying.backfill()
            await dying.storage.close()
            let next = try RehearsedBackEnd(rehearsed, time, folder: dying.folder)
            if report?["status"]?.string == "completed" {
                await next.close()
                break
            }
            kills += 1
            #expect(report?["stopped"]?["code"]?.string == "storage")
            #expect(try await next.backfill()?["status"]?.string == "completed")
            #expect(try facts(next) == everything, "killed before commit \(commit)")
            #expect(
                try await next.answer(TestServer.anna) == whole.answer(TestServer.anna)
            )
            await next.close()
        }
        #expect(kills >= 5)
        await whole.close()
    }

    @Test func `the backfill waits as long as a rate limit requires`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        try await silence(rehearsed, time, days: 40)
        let begun = time.clock.now
        await rehearsed.store.add(
            AppStoreFaultRule(.rateLimited(for: 90_000), on: .notificationHistory)
        )
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        let calls = await rehearsed.store.calls.map(\.at)
        #expect(calls.count > 3)
        #expect(calls[1] - calls[0] >= 90_000)
        #expect(calls[1] - calls[0] < 92_000)
        #expect(calls[0] - begun.millisecondsSince1970 < 1_000)
        await backEnd.close()
    }

    @Test func `a long rate limit ends the run, and the next process respects it`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        try await silence(rehearsed, time, days: 40)
        await rehearsed.store.add(
            AppStoreFaultRule(.rateLimited(for: 3_600_000), on: .notificationHistory)
        )
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        let report = try await backEnd.backfill()
        #expect(report?["stopped"]?["code"]?.string == "throttled")
        let retryAt = try #require(
            report?["stopped"]?["retryAt"]?.string.flatMap { Instant(rfc3339: $0) }
        )
        await backEnd.storage.close()
        let next = try RehearsedBackEnd(
            rehearsed,
            time,
            folder: backEnd.folder,
            access: following(rehearsed, time)
        )
        #expect(try await next.backfill()?["stopped"]?["code"]?.string == "throttled")
        #expect(await rehearsed.store.calls.count == 1)
        time.clock.now = retryAt
        #expect(try await next.backfill()?["status"]?.string == "completed")
        await next.close()
    }

    @Test func `a clock that advances by years between two requests does not stop the run`()
        async throws
    {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        try await silence(rehearsed, time, days: 40)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        // The second window of the history waits for its turn.
        time.leap(by: .days(800))
        let report = try await backEnd.backfill()
        #expect(report?["status"]?.string == "completed")
        #expect(report?["stopped"]?["code"]?.string == nil)
        #expect(time.clock.now > RehearsedStore.start + .days(800))
        await backEnd.close()
    }

    @Test func `requests of one kind stay within the rate limit`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        for number in 0..<30 { try await rehearsed.store.subscribe("customer-\(number)") }
        try await rehearsed.store.pass(.days(100), on: time) { _ in 500 }
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        let calls = await rehearsed.store.calls
        for (operation, limit) in [
            (AppStoreOperation.notificationHistory, 10), (.refundHistory, 2),
        ] {
            let instants = calls.filter { $0.operation == operation }.map(\.at)
            #expect(instants.count >= 12, "\(operation)")
            for first in instants {
                let within = instants.filter { (first..<first + 1_000).contains($0) }
                #expect(within.count <= limit, "\(operation)")
            }
        }
        await backEnd.close()
    }

    @Test func `a run requests failed notifications first and reports its progress`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        try await silence(rehearsed, time, days: 175)
        for number in 0..<6 { try await rehearsed.store.subscribe("customer-\(number)") }
        try await rehearsed.store.pass(.days(125), on: time) { _ in 200 }
        let log = AskedLog()
        let access = rehearsed.access { request in
            let now = time.clock.now.millisecondsSince1970
            _ = try await rehearsed.store.advance(to: now) { _ in 200 }
            await log.note(request)
        }
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: access)
        await log.follow(backEnd)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        let asked = await log.asked
        let questions = asked.map(\.question)
        let (failures, all) = (
            questions.prefix { $0 == "failures" }.count, questions.count { $0 == "all" }
        )
        // Each window of the history has at least one page.
        #expect(failures > 1)
        #expect(all >= failures)
        #expect(questions.dropFirst(failures).prefix(all).allSatisfy { $0 == "all" })
        #expect(questions.dropFirst(failures + all).allSatisfy { $0 == "refunds" })
        let told = asked.map(\.told)
        #expect(told.allSatisfy { $0["status"]?.string == "running" })
        let steps = ["failures": "failedNotifications", "all": "notifications"]
        for (question, report) in zip(questions, told) {
            #expect(report["step"]?.string == steps[question] ?? "refunds")
        }
        let first = try #require(told.dropFirst(failures).first)
        #expect(first["steps"]?["failedNotifications"]?["pages"]?.int64 == Int64(failures))
        let end = try #require(told.dropFirst(failures + all).first)
        #expect(end["steps"]?["notifications"]?["pages"]?.int64 == Int64(all))
        #expect(try #require(end["steps"]?["notifications"]?["items"]?.int64) > 20)
        await backEnd.close()
    }

    /// A request of the history that a store received.
    private struct AskedPage: Sendable {
        let start: Int64
        let isFirst: Bool
        let onlyFailures: Bool

        init?(_ request: Request) {
            guard request.path.hasSuffix("/notifications/history"),
                let body = try? JSONDocument(request.body).root,
                let start = body["startDate"]?.int64
            else { return nil }
            self.start = start
            isFirst = !request.query.contains { $0.name == "paginationToken" }
            onlyFailures = body["onlyFailures"]?.bool == true
        }
    }

    @Test func `a history that takes hours is read to its end, also after a stop`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        for number in 0..<30 { try await rehearsed.store.subscribe("customer-\(number)") }
        try await rehearsed.store.pass(.days(100), on: time) { _ in 500 }
        let pages = Locked<[AskedPage]>([])
        let access = rehearsed.access { request in
            if let page = AskedPage(request) {
                // After three pages the start of the whole history would be too old.
                time.clock.now = time.clock.now + .minutes(4)
                let isSecond = pages.withLock { pages in
                    pages.append(page)
                    return !page.isFirst && pages.count { !$0.isFirst } == 1
                }
                if isSecond {
                    await rehearsed.store.add(
                        AppStoreFaultRule(.rateLimited(for: 3_600_000), on: .notificationHistory)
                    )
                }
            }
            let now = time.clock.now.millisecondsSince1970
            _ = try await rehearsed.store.advance(to: now) { _ in 200 }
        }
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: access)
        let stopped = try await backEnd.backfill()?["stopped"]
        #expect(stopped?["code"]?.string == "throttled")
        let place = try #require(pages.withLock { $0.last })
        let known = pages.withLock { $0.count }
        #expect(!place.isFirst)
        time.clock.now = time.clock.now + .hours(2)
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        let resumed = pages.withLock { Array($0.dropFirst(known)) }
        let next = try #require(resumed.first)
        #expect(next.start == place.start)
        #expect(!next.isFirst)
        #expect(resumed.filter(\.onlyFailures).allSatisfy { $0.start >= place.start })
        let found = try backEnd.storage.lineages(
            in: AppScope("cards", .simulated),
            after: nil,
            limit: 100
        )
        #expect(found.count == 30)
        await backEnd.close()
    }

    @Test func `a backfill never reaches the rate limits of the store`() async throws {
        let rehearsed = try RehearsedStore(limits: .byTheSecond)
        let time = TestTime(movesClock: true)
        for number in 0..<30 { try await rehearsed.store.subscribe("customer-\(number)") }
        try await rehearsed.store.pass(.days(100), on: time) { _ in 500 }
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        let calls = await rehearsed.store.calls
        #expect(calls.allSatisfy { $0.status == 200 })
        // Without the rate limit they would exceed the store's quota.
        let refunds = calls.count { $0.operation == .refundHistory }
        #expect(Int64(refunds) > AppStoreOperation.refundHistory.callsPerSecond)
        await backEnd.close()
    }

    @Test func `a new process keeps the request interval of the previous process`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        try await silence(rehearsed, time, days: 40)
        let first = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        #expect(try await first.backfill()?["status"]?.string == "completed")
        await first.storage.close()
        let earlier = await rehearsed.store.calls.count
        time.clock.now = time.clock.now + Milliseconds(1)
        let next = try RehearsedBackEnd(
            rehearsed,
            time,
            folder: first.folder,
            access: following(rehearsed, time)
        )
        let begun = time.clock.now.millisecondsSince1970
        #expect(try await next.backfill()?["status"]?.string == "completed")
        let later = await rehearsed.store.calls.dropFirst(earlier)
        // The history's interval is a tenth of a second, also after a restart.
        #expect(try #require(later.first).at - begun >= 100)
        await next.close()
    }

    @Test func `a silent customer is requested, and each request is recorded`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        try await rehearsed.store.register(
            StoreCustomer(name: "anna", appAccountToken: TestServer.anna)
        )
        try await rehearsed.store.perform(
            .subscribe(product: "cards.pro.monthly", trial: .declined),
            by: "anna"
        )
        try await rehearsed.store.pass(.days(1), on: time) { body in
            try await backEnd.post(body)
        }
        try await rehearsed.store.pass(.days(32), on: time) { _ in 500 }
        let presumed = try await backEnd.answer(TestServer.anna)["entitlements"]?["premium"]
        #expect(presumed?["confidence"]?.string != "confirmed")
        await rehearsed.store.add(
            AppStoreFaultRule(.refused(.badRequest), on: .notificationHistory, times: nil)
        )
        await rehearsed.store.add(
            AppStoreFaultRule(.unavailable(status: 503), on: .subscriptionStatuses, times: 2)
        )
        let report = try await backEnd.backfill()
        #expect(report?["stopped"]?["code"]?.string == "store-4000000")
        let premium = try await backEnd.answer(TestServer.anna)["entitlements"]?["premium"]
        #expect(premium?["state"]?.string == "active")
        #expect(premium?["confidence"]?.string == "confirmed")
        let asked = try facts(backEnd).compactMap { try inquiry($0) }
        #expect(asked.sorted() == ["answered", "unreachable", "unreachable"])
        // The subscription is no longer silent.
        _ = try await backEnd.backfill()
        #expect(try facts(backEnd).compactMap { try inquiry($0) }.count == 3)
        await backEnd.close()
    }

    // MARK: Purchases without an answer

    /// A store that fails to answer about some purchases.
    private final class FailingPurchases: Sendable {
        private let state = Locked(State())

        private struct State {
            var asked: [String] = []
            var failing: Set<String> = []
            var most = 0
        }

        /// The ids that the store was asked about, in order.
        var asked: [String] { state.withLock { $0.asked } }
        var failing: Set<String> { state.withLock { $0.failing } }

        /// Makes queries about the first purchases that are asked about fail.
        init(first most: Int) { state.withLock { $0.most = most } }

        func heal() {
            state.withLock { state in
                state.failing = []
                state.most = 0
            }
        }

        func forget() { state.withLock { $0.asked = [] } }

        /// Returns the access of a store that fails every query of one kind.
        /// The errors are Apple's own, or without its code.
        func access(
            _ rehearsed: RehearsedStore,
            _ time: TestTime,
            _ path: String,
            isBare: Bool = false
        ) -> StoreAccess {
            let handler = rehearsed.store.serverAPI
            return rehearsed.backEnd.access { request in
                let now = time.clock.now.millisecondsSince1970
                _ = try await rehearsed.store.advance(to: now) { _ in 200 }
                let id = request.path.dropFirst(path.count)
                if request.path.hasPrefix(path), self.fails(String(id)) {
                    if isBare { return Response(status: 500) }
                    return Response.json(["errorCode": 5_000_000], status: 500)
                }
                return try await handler(request)
            }
        }

        private func fails(_ id: String) -> Bool {
            state.withLock { state in
                state.asked.append(id)
                if state.failing.count < state.most { state.failing.insert(id) }
                return state.failing.contains(id)
            }
        }
    }

    private static let statuses = "/inApps/v1/subscriptions/"
    private static let refunds = "/inApps/v2/refund/lookup/"

    /// Creates customers with subscriptions. Their notifications arrive for a day; then a month
    /// passes without any.
    private func subscribers(
        _ count: Int,
        _ rehearsed: RehearsedStore,
        _ time: TestTime,
        _ backEnd: RehearsedBackEnd
    ) async throws -> [String] {
        let store = rehearsed.store
        let names = (1...count).map { "7e3fb20b-4cdb-47cc-936d-99d65f60813\($0)" }
        for name in names {
            try await store.subscribe(name, token: name)
        }
        try await store.pass(.days(1), on: time) { body in
            try await backEnd.post(body)
        }
        try await store.pass(.days(32), on: time) { _ in 500 }
        return names
    }

    private func confirmed(_ names: [String], _ backEnd: RehearsedBackEnd) async throws -> Int {
        var confirmed = 0
        for name in names {
            let premium = try await backEnd.answer(name)["entitlements"]?["premium"]
            if premium?["confidence"]?.string == "confirmed" { confirmed += 1 }
        }
        return confirmed
    }

    @Test func `a purchase that the store fails to answer about does not stop the others`()
        async throws
    {
        let (rehearsed, time) = (try RehearsedStore(), TestTime(movesClock: true))
        let failing = FailingPurchases(first: 1)
        let access = failing.access(rehearsed, time, Self.statuses)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: access)
        let names = try await subscribers(3, rehearsed, time, backEnd)
        await rehearsed.store.add(
            AppStoreFaultRule(.refused(.badRequest), on: .notificationHistory, times: nil)
        )
        #expect(try await backEnd.backfill()?["status"]?.string == "stopped")
        #expect(try await confirmed(names, backEnd) == 2)
        let failed = try #require(failing.failing.first)
        #expect(
            backEnd.logged.contains { line in
                line.contains("a purchase could not be asked about") && line.contains(failed)
                    && line.contains("store-5000000")
            }
        )
        failing.heal()
        failing.forget()
        _ = try await backEnd.backfill()
        #expect(failing.asked == [failed])
        #expect(try await confirmed(names, backEnd) == 3)
        await backEnd.close()
    }

    @Test func `purchases without an answer do not stop the other steps`() async throws {
        let (rehearsed, time) = (try RehearsedStore(), TestTime(movesClock: true))
        let failing = FailingPurchases(first: 3)
        let access = failing.access(rehearsed, time, Self.statuses, isBare: true)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: access)
        _ = try await subscribers(5, rehearsed, time, backEnd)
        await rehearsed.store.add(
            AppStoreFaultRule(.refused(.badRequest), on: .notificationHistory, times: nil)
        )
        let report = try await backEnd.backfill()
        #expect(report?["status"]?.string == "stopped")
        #expect(report?["steps"]?["refunds"]?["pages"]?.int64 == 5)
        // Four attempts for each of three purchases, and no more.
        #expect(failing.asked.count == 12)
        await backEnd.close()
    }

    @Test func `a purchase that always fails is requested less and less often`() async throws {
        let (rehearsed, time) = (try RehearsedStore(), TestTime(movesClock: true))
        let failing = FailingPurchases(first: 1)
        let access = failing.access(rehearsed, time, Self.statuses)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: access)
        let names = try await subscribers(1, rehearsed, time, backEnd)
        await rehearsed.store.add(
            AppStoreFaultRule(.refused(.badRequest), on: .notificationHistory, times: nil)
        )
        for _ in 1...60 {
            _ = try await backEnd.backfill()
            time.clock.now = time.clock.now + .minutes(1)
        }
        #expect((9...14).contains(failing.asked.count), "\(failing.asked.count)")
        failing.heal()
        time.clock.now = time.clock.now + .minutes(10)
        _ = try await backEnd.backfill()
        #expect(try await confirmed(names, backEnd) == 1)
        await backEnd.close()
    }

    @Test(arguments: [
        (AppStoreFault.truncated, "malformed-json"), (.unavailable(status: 502), "http-502"),
        (.noAnswer(after: 0), "unreachable"),
    ])
    func `a history that cannot be read does not stop the other steps`(
        fault: AppStoreFault,
        code: String
    ) async throws {
        let (rehearsed, time) = (try RehearsedStore(), TestTime(movesClock: true))
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        let names = try await subscribers(2, rehearsed, time, backEnd)
        await rehearsed.store.add(AppStoreFaultRule(fault, on: .notificationHistory, times: nil))
        let report = try await backEnd.backfill()
        #expect(report?["stopped"]?["code"]?.string == code)
        #expect(try await confirmed(names, backEnd) == 2)
        await backEnd.close()
    }

    @Test func `three failures in a row end a step, and the next purchases are asked first`()
        async throws
    {
        let (rehearsed, time) = (try RehearsedStore(), TestTime(movesClock: true))
        let failing = FailingPurchases(first: 3)
        let access = failing.access(rehearsed, time, Self.statuses)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: access)
        let names = try await subscribers(5, rehearsed, time, backEnd)
        await rehearsed.store.add(
            AppStoreFaultRule(.refused(.badRequest), on: .notificationHistory, times: nil)
        )
        _ = try await backEnd.backfill()
        let first = failing.asked
        #expect(first.count == 3)
        #expect(try await confirmed(names, backEnd) == 0)
        failing.forget()
        _ = try await backEnd.backfill()
        #expect(failing.asked.count == 5)
        #expect(Set(failing.asked.prefix(2)).isDisjoint(with: first))
        #expect(try await confirmed(names, backEnd) == 2)
        await backEnd.close()
    }

    @Test func `a purchase with a failed query of its refunds is reported and queried again`()
        async throws
    {
        let (rehearsed, time) = (try RehearsedStore(), TestTime(movesClock: true))
        let failing = FailingPurchases(first: 1)
        let access = failing.access(rehearsed, time, Self.refunds)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: access)
        _ = try await subscribers(3, rehearsed, time, backEnd)
        let report = try await backEnd.backfill()
        #expect(report?["stopped"]?["code"]?.string == "store-5000000")
        #expect(failing.asked.count == 3)
        #expect(report?["steps"]?["refunds"]?["pages"]?.int64 == 2)
        let failed = try #require(failing.failing.first)
        failing.heal()
        failing.forget()
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(failing.asked == [failed])
        await backEnd.close()
    }

    @Test func `a purchase without an answer does not delay scheduled runs`() async throws {
        let (rehearsed, time) = (try RehearsedStore(), TestTime(movesClock: true))
        let failing = FailingPurchases(first: 1)
        let backEnd = try RehearsedBackEnd(
            rehearsed,
            time,
            access: failing.access(rehearsed, time, Self.refunds),
            schedule: BackfillSchedule(interval: .hours(1))
        )
        _ = try await subscribers(2, rehearsed, time, backEnd)
        time.end(at: time.clock.now + .hours(10))
        await backEnd.service.work(on: [.backfills])
        // After 0, 1, 3, 7, 15, 31 and 63 minutes, and then each hour.
        let runs = backEnd.logged.count { $0.contains("backfill stopped") }
        #expect((14...16).contains(runs))
        await backEnd.close()
    }

    private func inquiry(_ fact: String) throws -> String? {
        try JSONDocument(Array(fact.utf8)).root["inquiry"]?["outcome"]?.string
    }

    @Test func `a backfill finds a refund that is no longer in a history`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        let store = rehearsed.store
        try await store.subscribe(token: TestServer.anna)
        try await store.pass(.days(1), on: time) { body in
            try await backEnd.post(body)
        }
        try await store.perform(.refund(product: nil, reason: .other), by: "anna")
        try await store.pass(.days(200), on: time) { _ in 500 }
        #expect(try await backEnd.backfill()?["status"]?.string == "completed")
        #expect(try facts(backEnd).contains { $0.contains("\"revocation\"") })
        let premium = try await backEnd.answer(TestServer.anna)["entitlements"]?["premium"]
        #expect(premium?["reason"]?.string == "refunded")
        await backEnd.close()
    }

    @Test func `a backfill runs at the start and then every six hours`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: following(rehearsed, time))
        let begun = time.clock.now
        time.end(at: begun + .hours(13))
        await backEnd.service.work(on: [.backfills])
        let calls = await rehearsed.store.calls
        let hours = Set(calls.map { ($0.at - begun.millisecondsSince1970) / 3_600_000 })
        #expect(hours.isSuperset(of: [0, 6, 12]))
        #expect(hours.isDisjoint(with: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11]))
        await backEnd.close()
    }

    /// Returns the hours since the start in which the store was queried, while a service ran until
    /// `end`.
    private func hoursOfAsking(
        _ schedule: BackfillSchedule,
        until end: Milliseconds,
        faults: SQLiteFaults = SQLiteFaults(),
        _ meanwhile: (RehearsedStore, TestTime, RehearsedBackEnd) async throws -> Void = {
            _,
            _,
            _ in
        }
    ) async throws -> Set<Int64> {
        let rehearsed = try RehearsedStore()
        let time = TestTime(movesClock: true)
        let backEnd = try RehearsedBackEnd(
            rehearsed,
            time,
            access: following(rehearsed, time),
            schedule: schedule,
            faults: faults
        )
        let begun = time.clock.now
        // What is done meanwhile happens after the first backfill, however long it takes.
        let completed = "backfill completed"
        time.stand(fromLogging: completed)
        let asking = Task { await backEnd.service.work(on: [.backfills]) }
        while !backEnd.logged.contains(where: { $0.contains(completed) }) {
            try await Task.sleep(for: .milliseconds(1))
        }
        try await meanwhile(rehearsed, time, backEnd)
        // Waiting for the clock here could take so long that the worker continues to its next run.
        time.end(at: begun + end)
        time.pass()
        await asking.value
        let calls = await rehearsed.store.calls
        await backEnd.close()
        return Set(calls.map { ($0.at - begun.millisecondsSince1970) / 3_600_000 })
    }

    @Test func `the operator configures the interval of backfills`() async throws {
        let often = BackfillSchedule(interval: .hours(2))
        #expect(try await hoursOfAsking(often, until: .minutes(270)) == [0, 2, 4])
        let never = BackfillSchedule(interval: .zero)
        #expect(try await hoursOfAsking(never, until: .hours(8)) == [0])
    }

    @Test func `a backfill follows a gap after the configured delay`() async throws {
        let schedule = BackfillSchedule(interval: .zero, gap: .minutes(30), afterGap: .hours(3))
        let leapt = try await hoursOfAsking(schedule, until: .hours(6)) { _, time, _ in
            time.clock.now = time.clock.now + .hours(2)
        }
        #expect(leapt == [0, 5])
        let short = try await hoursOfAsking(schedule, until: .hours(4)) { _, time, _ in
            time.clock.now = time.clock.now + .minutes(20)
        }
        #expect(short == [0])
    }

    @Test func `a notification that fails to be stored counts as a gap`() async throws {
        let isFailing = Locked(false)
        let faults = SQLiteFaults { _ throws(StorageError) in
            if isFailing.withLock({ $0 }) { throw StorageError(.full, place: "disk") }
        }
        let schedule = BackfillSchedule(interval: .zero, afterGap: .hours(2))
        let hours = try await hoursOfAsking(schedule, until: .hours(3), faults: faults) {
            rehearsed,
            _,
            backEnd in
            let said = try await rehearsed.store.subscribe("a")
            let body = try rehearsed.authority.body(of: try #require(said.first))
            isFailing.withLock { $0 = true }
            #expect(try await backEnd.post(body) == 503)
            isFailing.withLock { $0 = false }
        }
        #expect(hours == [0, 2])
    }

    /// Returns the store's notification about an action of Anna, changed to an unknown type.
    private func oddly(
        _ action: AppStoreAction,
        _ rehearsed: RehearsedStore
    ) async throws -> [UInt8] {
        let said = try await rehearsed.store.perform(action, by: "anna")
        return try rehearsed.authority.body(of: try #require(said.first)) { payload in
            payload["notificationType"] = "SPLENDID_NEWS"
            payload["subtype"] = nil
        }
    }

    @Test func `a notification of an unknown type states no facts and starts a backfill`()
        async throws
    {
        let schedule = BackfillSchedule(interval: .zero, afterGap: .hours(2))
        let hours = try await hoursOfAsking(schedule, until: .hours(3)) { rehearsed, _, backEnd in
            try await rehearsed.store.register(StoreCustomer(name: "anna", appAccountToken: nil))
            let body = try await oddly(
                .subscribe(product: "cards.pro.monthly", trial: .declined),
                rehearsed
            )
            #expect(try await backEnd.post(body) == 200)
        }
        #expect(hours == [0, 2])
    }

    @Test func `the purchase in a notification of an unknown type is requested once`() async throws
    {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try RehearsedBackEnd(rehearsed, time, access: rehearsed.following(time))
        let store = rehearsed.store
        try await store.subscribe(token: TestServer.anna)
        func pass() async throws {
            try await store.pass(.hours(2), on: time) { _ in 200 }
        }
        func willRenew() async throws -> Bool? {
            let answer = try await backEnd.answer(TestServer.anna)
            return answer["entitlements"]?["premium"]?["willRenew"]?.bool
        }
        func statusQuestions() async throws -> Int {
            let before = await store.calls.count
            _ = try await backEnd.backfill()
            let calls = await store.calls.dropFirst(before)
            return calls.filter { $0.operation == .subscriptionStatuses }.count
        }
        try await pass()
        _ = try await backEnd.backfill()
        #expect(try await willRenew() == true)
        let body = try await oddly(.cancel(product: nil), rehearsed)
        try await pass()
        #expect(try await backEnd.post(body) == 200)
        #expect(try await willRenew() == true)
        time.clock.now = time.clock.now + .minutes(1)
        #expect(try await statusQuestions() == 1)
        #expect(try await willRenew() == false)
        #expect(try await statusQuestions() == 0)
        await backEnd.close()
    }

    @Test func `the renewal info of a shared purchase is no question for the store`() async throws {
        let product = AppStoreProduct(
            id: "cards.family",
            group: "pro",
            period: try #require(StorePeriod(iso: "P1M")),
            price: try #require(StorePrice("9.99 USD")),
            grace: .sixteenDays,
            isFamilyShareable: true
        )
        let rehearsed = try RehearsedStore(alsoSelling: [product])
        let (store, time) = (rehearsed.store, TestTime())
        let backEnd = try RehearsedBackEnd(
            rehearsed,
            time,
            access: rehearsed.following(time),
            catalogue: Catalogue(products: ["cards.family": Product(entitlements: ["premium"])])
        )
        for name in ["anna", "ben"] {
            try await store.register(StoreCustomer(name: name, appAccountToken: nil))
        }
        try await store.perform(.subscribe(product: product.id, trial: .declined), by: "anna")
        try await store.perform(.share(product: nil, with: "ben"), by: "anna")
        try await store.pass(.hours(2), on: time) { _ in 200 }
        let shared = try #require(try await store.device(of: "ben").first)
        let evidence: JSONValue = [
            "transactions": [shared.signedTransaction],
            "renewalInfos": [try #require(shared.signedRenewalInfo)],
        ]
        let presented = Request(
            method: "POST",
            path: "/v1/apps/cards/customers/ben/reconcile",
            headers: TestServer.credentials,
            body: evidence.encoded()
        )
        let answer = try JSONDocument(try await backEnd.service.handler(presented).body).root
        let rulings = answer["items"]?.elements.map { $0["ownership"]?.string }
        #expect(rulings == ["claimed", "claimed"])
        #expect(answer["entitlements"]?["premium"]?["willRenew"]?.bool == true)
        time.clock.now = time.clock.now + .minutes(2)
        _ = try await backEnd.backfill()
        let calls = await store.calls
        #expect(!calls.isEmpty)
        #expect(calls.count { $0.operation == .subscriptionStatuses } == 0)
        await backEnd.close()
    }

    /// Returns access to a store with the clock of the test, which advances during waits.
    private func following(_ rehearsed: RehearsedStore, _ time: TestTime) -> StoreAccess {
        rehearsed.access { _ in
            let now = time.clock.now.millisecondsSince1970
            try await rehearsed.store.advance(to: now) { _ in 200 }
        }
    }
}

/// Records the queries that a store received, and the report at each.
private actor AskedLog {
    struct Question: Sendable {
        let question: String
        /// The response of `GET .../backfill` at that moment.
        let told: JSONValue
    }

    private(set) var asked: [Question] = []
    /// Weak, because its store access contains this log.
    private weak var backEnd: RehearsedBackEnd?

    func follow(_ backEnd: RehearsedBackEnd) { self.backEnd = backEnd }

    func note(_ request: Request) async {
        let target = "/v1/apps/cards/backfill?environment=simulated"
        let told = try? await backEnd?.get(target)["last"]
        let isHistory = request.path.hasSuffix("/notifications/history")
        let onlyFailures = (try? JSONDocument(request.body))?.root["onlyFailures"]?.bool == true
        let question = isHistory ? (onlyFailures ? "failures" : "all") : "refunds"
        asked.append(Question(question: question, told: told ?? .null))
    }
}
