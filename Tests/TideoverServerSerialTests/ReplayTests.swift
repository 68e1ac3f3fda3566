import Foundation
import Testing
import TideoverAppStore
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Replays of stored evidence by the rules of this version.
@Suite struct ReplayTests {
    /// Creates a back end with half a year of Anna's notifications and a query about her.
    private func lived(
        _ rehearsed: RehearsedStore,
        _ time: TestTime
    ) async throws -> RehearsedBackEnd {
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        let store = rehearsed.store
        try await store.subscribe(token: TestServer.anna)
        try await store.pass(.days(130), on: time) { body in
            try await backEnd.post(body)
        }
        try await store.pass(.days(40), on: time) { _ in 500 }
        await store.add(
            AppStoreFaultRule(.refused(.badRequest), on: .notificationHistory, times: nil)
        )
        _ = try await backEnd.backfill()
        return backEnd
    }

    private func replay(_ backEnd: RehearsedBackEnd, apply: Bool = false) async throws -> JSONValue
    {
        let response = await backEnd.service.replayNow(
            app: "cards",
            environment: .simulated,
            apply: apply
        )
        #expect(response.status == 200)
        let answer = JSONValue(try JSONDocument(response.body).root)
        #expect(answer["last"]?["status"] == "completed")
        return try #require(answer["last"])
    }

    private static let target = "/v1/apps/cards/replay?environment=simulated"
    private static let nothing: JSONValue = ["wanted": false, "setAside": false, "last": nil]

    /// Requests a replay from a server.
    private func want(_ backEnd: RehearsedBackEnd, apply: Bool) async throws {
        let request = try #require(
            Request(
                method: "POST",
                target: "\(Self.target)&apply=\(apply)",
                headers: TestServer.credentials,
                body: []
            )
        )
        let response = try await backEnd.service.handler(request)
        #expect(response.status == 202)
        #expect(try JSONDocument(response.body).root["wanted"]?.bool == true)
    }

    /// Runs a server until the requested replay has ended.
    private func work(_ backEnd: RehearsedBackEnd) async throws -> JSONValue {
        let working = Task { await backEnd.service.work(on: [.replays]) }
        var answer = try await backEnd.get(Self.target)
        while answer["wanted"] == true || answer["last"]?["endedAt"]?.string == nil {
            try await Task.sleep(for: .milliseconds(5))
            answer = try await backEnd.get(Self.target)
        }
        working.cancel()
        await working.value
        return try #require(answer["last"])
    }

    /// Copies the evidence of another database, as an older version would have left it, without any
    /// facts.
    private func older(
        _ backEnd: RehearsedBackEnd,
        _ rehearsed: RehearsedStore,
        _ time: TestTime,
        faults: SQLiteFaults = SQLiteFaults()
    ) async throws -> RehearsedBackEnd {
        let older = try RehearsedBackEnd(rehearsed, time, faults: faults)
        for piece in try evidence(backEnd) {
            let commitRequest = CommitRequest(
                app: "cards",
                environment: .simulated,
                evidence: piece,
                now: time.clock.now
            )
            _ = try await older.storage.commit(commitRequest) { _ in
                preconditionFailure("no customer is known")
            }
        }
        return older
    }

    private func evidence(_ backEnd: RehearsedBackEnd) throws -> [Evidence] {
        try backEnd.storage.evidence(
            in: AppScope("cards", .simulated),
            after: nil,
            limit: 1_000
        )
    }

    @Test func `the same rules change nothing, also in responses of the store`() async throws {
        let rehearsed = try RehearsedStore()
        let backEnd = try await lived(rehearsed, TestTime())
        let report = try await replay(backEnd)
        #expect(try #require(report["evidence"]?.int64) > 5)
        #expect(report["unreadable"] == [:])
        for list in ["added", "unread", "changed"] { #expect(report[list]?["count"] == 0) }
        #expect(report["applied"] == false)
        await backEnd.close()
    }

    @Test func `newly readable evidence is reported, then added, and corrects the answer`()
        async throws
    {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let older = try await older(backEnd, rehearsed, time)
        let report = try await replay(older)
        #expect(try #require(report["added"]?["count"]?.int64) > 5)
        #expect(report["changed"]?["count"] == 1)
        let change = report["changed"]?["first"]?.array?.first
        #expect(change?["customer"]?.string == TestServer.anna)
        #expect(change?["to"]?.string == "active paid confirmed")
        // A report changes nothing.
        #expect(try await replay(older) == report)
        #expect(try await replay(older, apply: true)["applied"] == true)
        let again = try await replay(older)
        for list in ["added", "unread", "changed"] { #expect(again[list]?["count"] == 0) }
        #expect(try await older.answer(TestServer.anna) == backEnd.answer(TestServer.anna))
        await older.close()
        await backEnd.close()
    }

    @Test func `an answer by other rules is reported with its customer and cause`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        try await store(
            #"{"entitlements":{"premium":{"state":"hold","reason":"paused","confidence":"presumed"}}}"#,
            in: backEnd,
            time
        )
        let report = try await replay(backEnd)
        #expect(report["added"]?["count"] == 0)
        let changes = try #require(report["changed"]?["first"]?.array)
        let change = try #require(changes.first { $0["entitlement"] == "premium" })
        #expect(change["customer"]?.string == TestServer.anna)
        #expect(change["from"] == "hold paused presumed")
        #expect(change["to"] == "active paid confirmed")
        #expect(changes.allSatisfy { $0["cause"] == "rules" })
        #expect(try await replay(backEnd, apply: true)["changed"]?["count"] == 1)
        #expect(try await replay(backEnd)["changed"]?["count"] == 0)
        await backEnd.close()
    }

    /// Stores an answer of Anna's that another version of the program derived.
    private func store(
        _ answer: String,
        in backEnd: RehearsedBackEnd,
        _ time: TestTime
    ) async throws {
        let anna = try #require(CustomerID(TestServer.anna))
        let commitRequest = CommitRequest(
            app: "cards",
            environment: .simulated,
            customers: [CustomerKey(app: "cards", environment: .simulated, customer: anna)],
            now: time.clock.now
        )
        _ = try await backEnd.storage.commit(commitRequest) { _ in
            Derivation(answer: Array(answer.utf8), validUntil: nil, fingerprint: "older")
        }
    }

    @Test func `a server continues the replay after the response`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let older = try await older(backEnd, rehearsed, time)
        #expect(try await older.get(Self.target) == Self.nothing)
        try await want(older, apply: false)
        let told = try await work(older)
        #expect(told["status"] == "completed")
        #expect(told["applied"] == false)
        #expect(told == (try await replay(older)))
        try await want(older, apply: true)
        let applied = try await work(older)
        #expect(applied["applied"] == true)
        #expect(applied["changed"] == told["changed"])
        #expect(try await older.answer(TestServer.anna) == backEnd.answer(TestServer.anna))
        await older.close()
        await backEnd.close()
    }

    /// Creates most of a year of fourteen customers: more than a page of evidence.
    private func crowded(
        _ rehearsed: RehearsedStore,
        _ time: TestTime
    ) async throws -> RehearsedBackEnd {
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        let store = rehearsed.store
        for number in 0..<14 {
            let name = "customer-\(number)"
            let token = "7e3fb20b-4cdb-47cc-936d-99d65f6081\(10 + number)"
            try await store.subscribe(name, token: token)
        }
        try await store.pass(.days(300), on: time) { body in
            try await backEnd.post(body)
        }
        #expect(try evidence(backEnd).count > 120)
        return backEnd
    }

    private func facts(_ backEnd: RehearsedBackEnd) throws -> Int {
        let lineageRecords = try backEnd.storage.lineages(
            in: AppScope("cards", .simulated),
            after: nil,
            limit: 1_000
        )
        return lineageRecords.reduce(0) { $0 + $1.facts.count }
    }

    @Test
    func `a server killed during a replay resumes after the last page`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await crowded(rehearsed, time)
        let all = try evidence(backEnd).count
        // The disk fails permanently in the second page, like a killed process. The first page
        // takes a commit for each customer, and one before and after them for the bookmark.
        let (isFailing, commits) = (Locked(false), Locked(0))
        let dying = try await older(
            backEnd,
            rehearsed,
            time,
            faults: SQLiteFaults { _ throws(StorageError) in
                guard isFailing.withLock({ $0 }) else { return }
                let number = commits.withLock { commits in
                    commits += 1
                    return commits
                }
                if number > 20 { throw StorageError(.io, place: "killed") }
            }
        )
        isFailing.withLock { $0 = true }
        try await want(dying, apply: true)
        let stopped = try await work(dying)
        #expect(stopped["stopped"]?["code"] == "storage")
        #expect(stopped["resumed"] == false)
        await dying.storage.close()
        let read = try #require(stopped["evidence"]?.int64)
        #expect((1..<Int64(all)).contains(read))

        let next = try RehearsedBackEnd(rehearsed, time, folder: dying.folder)
        let resumed = try await work(next)
        #expect(resumed["status"] == "completed")
        #expect(resumed["resumed"] == true)
        #expect(resumed["applied"] == true)
        #expect(resumed["unread"] == .null)
        // It does not start from the beginning.
        #expect(try #require(resumed["evidence"]?.int64) < Int64(all))
        #expect(try facts(next) == facts(backEnd))
        let again = try await replay(next)
        for list in ["added", "unread", "changed"] { #expect(again[list]?["count"] == 0) }
        await next.storage.close()

        // No run remains to be resumed.
        let last = try RehearsedBackEnd(rehearsed, time, folder: dying.folder)
        let working = Task { await last.service.work(on: [.replays]) }
        try await Task.sleep(for: .milliseconds(50))
        #expect(try await last.get(Self.target) == Self.nothing)
        working.cancel()
        await working.value
        await last.close()
        await backEnd.close()
    }

    /// Runs a server on the database in a folder. Its storage fails at the second commit, after the
    /// bookmark of the resumed replay: the process crashes there.
    private func crash(
        in folder: URL,
        _ rehearsed: RehearsedStore,
        _ time: TestTime
    ) async throws {
        let commits = Locked(0)
        let crashing = try RehearsedBackEnd(
            rehearsed,
            time,
            folder: folder,
            faults: SQLiteFaults { _ throws(StorageError) in
                let number = commits.withLock { commits in
                    commits += 1
                    return commits
                }
                if number > 1 { throw StorageError(.io, place: "crashed") }
            }
        )
        #expect(try await work(crashing)["stopped"]?["code"] == "storage")
        await crashing.storage.close()
    }

    @Test func `a replay that crashed twice at one page waits for a request`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let older = try await older(backEnd, rehearsed, time)
        let bookmark = BookmarkKey(app: "cards", environment: .simulated, name: "replay")
        let version = older.service.version
        let wanted = #"{"applies":"yes","version":"\#(version)"}"#
        try await older.storage.keep(Array(wanted.utf8), as: bookmark)
        await older.storage.close()
        for _ in 0..<2 { try await crash(in: older.folder, rehearsed, time) }

        let next = try RehearsedBackEnd(rehearsed, time, folder: older.folder)
        let working = Task { await next.service.work(on: [.replays]) }
        var answer = try await next.get(Self.target)
        while answer["setAside"] != true {
            await Task.yield()
            answer = try await next.get(Self.target)
        }
        #expect(answer["wanted"] == false)
        let alarm = #"tideover_replay_set_aside{app="cards",environment="simulated"} 1"#
        #expect(try await next.samples().contains(alarm))
        let stored = try #require(try next.storage.bookmark(bookmark))
        #expect(ReplayBookmark.isSetAside(stored, by: version))
        let reading = StorageReading.read(faults: [], newestEvidence: [:], setAside: [bookmark])
        let findings = Finding.replays(reading)
        #expect(findings.map(\.verdict) == [.problem])
        #expect(findings.map(\.subject) == ["cards simulated"])
        // Another version may have fixed the crash.
        #expect(!ReplayBookmark.isSetAside(stored, by: version + "-next"))

        try await want(next, apply: true)
        while answer["last"]?["endedAt"]?.string == nil {
            await Task.yield()
            answer = try await next.get(Self.target)
        }
        #expect(answer["setAside"] == false)
        #expect(answer["last"]?["applied"] == true)
        #expect(try facts(next) == facts(backEnd))
        working.cancel()
        await working.value
        await next.close()
        await backEnd.close()
    }

    @Test func `a server waits while another one on the storage replays`() async throws {
        let first = try TestServer()
        #expect(try await first.post(.purchase()).status == 200)
        let others = Locked<Set<String>>(["a"])
        let second = try TestServer(
            probes: Probes(servers: {
                let others = others.withLock { $0 }
                return ServersReading(
                    running: 1 + others.count,
                    differing: 0,
                    id: "b",
                    others: others
                )
            }),
            sleep: { _ in { _ in try await Task.sleep(for: .milliseconds(1)) } },
            sharing: first
        )
        let bookmark = BookmarkKey(app: "cards", environment: .sandbox, name: "replay")
        let version = second.service.version
        let mark = Array(#"{"applies":"yes","version":"\#(version)","runs":"1","server":"a"}"#.utf8)
        try await first.storage.keep(mark, as: bookmark)

        let working = Task { await second.service.work(on: [.replays]) }
        try await Task.sleep(for: .milliseconds(50))
        let target = "/v1/apps/cards/replay?environment=sandbox"
        func answer() async throws -> JSONValue {
            JSONValue(try JSONDocument(try await second.get(target).body).root)
        }
        #expect(try await answer() == Self.nothing)
        // A request waits too.
        #expect(try await second.send("POST", target, body: []).status == 202)
        try await Task.sleep(for: .milliseconds(50))
        #expect(try await answer()["wanted"] == true)
        #expect(try first.storage.bookmark(bookmark) == mark)

        // The other server was killed. Its run continues, and counts as one that crashed once.
        others.withLock { $0 = [] }
        while try await answer()["last"]?["status"] != "completed" { await Task.yield() }
        #expect(try await answer()["setAside"] == false)
        working.cancel()
        await working.value
        await first.close()
    }

    @Test func `a stored fact without evidence is reported and remains`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let lineageRecords = try backEnd.storage.lineages(
            in: AppScope("cards", .simulated),
            after: nil,
            limit: 1
        )
        var fact = try #require(lineageRecords.first?.facts.first)
        fact.assertedAt = fact.assertedAt + .seconds(1)
        let commitRequest = CommitRequest(
            app: "cards",
            environment: .simulated,
            facts: [fact],
            now: time.clock.now
        )
        _ = try await backEnd.storage.commit(commitRequest) { lineages in
            Derivation(
                answer: lineages.answer?.answer ?? [],
                validUntil: nil,
                fingerprint: lineages.answer?.fingerprint ?? ""
            )
        }
        let report = try await replay(backEnd, apply: true)
        #expect(report["unread"]?["count"] == 1)
        #expect(report["added"]?["count"] == 0)
        #expect(try await replay(backEnd)["unread"]?["count"] == 1)
        await backEnd.close()
    }
}
