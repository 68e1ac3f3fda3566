import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Export of all data, line by line, and its import.
@Suite struct ExportTests {
    private static let ben = "ben"
    private static let customers = [TestServer.anna, ben, "anna-at-home", "unknown"]

    /// Creates a back end with half a year of Anna's notifications. Anna has two ids, Ben has a
    /// grant, and a device presented a purchase.
    private func lived(
        _ rehearsed: RehearsedStore,
        _ time: TestTime
    ) async throws -> RehearsedBackEnd {
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        let store = rehearsed.store
        try await store.subscribe(token: TestServer.anna)
        for days in [40, 90, 130] {
            time.clock.now = RehearsedStore.start + .days(Int64(days))
            try await store.advance(to: time.clock.now.millisecondsSince1970) { body in
                try await backEnd.post(body)
            }
        }
        let requests = [
            (
                "\(Self.ben)/grants?environment=simulated",
                #"{"entitlement": "premium", "days": 7, "why": "sorry"}"#
            ),
            ("\(TestServer.anna)/aliases", #"{"alias": "anna-at-home", "why": "one person"}"#),
            (
                "\(Self.ben)/reconcile?environment=simulated",
                #"{"transactions": [], "nothing": true}"#
            ),
        ]
        for (subject, body) in requests {
            let response = try await send(
                backEnd,
                "POST",
                "/v1/apps/cards/customers/\(subject)",
                Array(body.utf8)
            )
            #expect((200..<300).contains(response.status), "\(subject)")
        }
        let action = BookmarkKey(app: "cards", environment: .simulated, name: "storeAction:01")
        try await backEnd.storage.keep(Array(#"{"value":"done"}"#.utf8), as: action)
        return backEnd
    }

    private func send(
        _ backEnd: RehearsedBackEnd,
        _ method: String,
        _ target: String,
        _ body: [UInt8] = []
    ) async throws -> Response {
        let request = Request(
            method: method,
            target: target,
            headers: TestServer.credentials,
            body: body
        )
        return try await backEnd.service.handler(try #require(request))
    }

    /// Returns the lines of an export, starting with the header.
    private func export(
        _ backEnd: RehearsedBackEnd,
        answers: Bool = false
    ) async throws -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var after: String?
        repeat {
            let place = after.map { "&after=\($0)" } ?? ""
            let target = "/v1/apps/cards/export?environment=simulated&answers=\(answers)\(place)"
            let response = try await send(backEnd, "GET", target)
            #expect(response.status == 200)
            let page = try JSONDocument(response.body, limits: .local).root
            if lines.isEmpty { lines.append(Array(try #require(page["header"]).source)) }
            lines += try #require(page["lines"]).elements.map { Array($0.source) }
            after = page["next"]?.string
        } while after != nil
        return lines
    }

    private func bring(
        _ lines: [[UInt8]],
        into backEnd: RehearsedBackEnd
    ) async throws -> JSONValue {
        let body = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        let response = try await send(backEnd, "POST", "/v1/apps/cards/import", body)
        #expect(response.status == 200)
        return JSONValue(try JSONDocument(response.body, limits: .local).root)
    }

    /// Returns all answers about a customer, at several instants and as known at others.
    private func answers(
        _ backEnd: RehearsedBackEnd,
        _ customer: String
    ) async throws -> [JSONValue] {
        let path = "/v1/apps/cards/customers/\(customer)"
        var targets = ["\(path)?", "\(path)/timeline?", "\(path)/grants?", "\(path)/audit?"]
        for day in [10, 35, 100, 131] {
            let instant = (RehearsedStore.start + .days(Int64(day))).rfc3339
            targets.append("\(path)/explain?at=\(instant)&")
            targets.append("\(path)/explain?at=\(instant)&asKnownAt=\(instant)&")
            targets.append("\(path)/timeline?asKnownAt=\(instant)&")
        }
        var answers: [JSONValue] = []
        for target in targets {
            answers.append(try await backEnd.get("\(target)environment=simulated"))
        }
        return answers
    }

    // MARK: Round trip

    @Test func `an import restores the answers, explanations and events of the export`()
        async throws
    {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let lines = try await export(backEnd)
        let other = try RehearsedBackEnd(rehearsed, time)
        let told = try await bring(lines, into: other)
        #expect(told["refused"] == [])
        #expect(told["known"] == [:])
        #expect(told["lines"]?.int64 == Int64(lines.count))
        #expect(try #require(told["added"]?["fact"]?.int64) > 10)
        #expect(try await export(other) == lines)
        for customer in Self.customers {
            #expect(try await answers(other, customer) == answers(backEnd, customer), "\(customer)")
        }
        let events = "/v1/apps/cards/events?limit=1000"
        let heard = try await backEnd.get(events)
        #expect(try #require(heard["events"]?.array).count > 5)
        #expect(try await other.get(events) == heard)
        #expect(try await other.get("/v1/apps/cards/audit") == backEnd.get("/v1/apps/cards/audit"))
        await other.close()
        await backEnd.close()
    }

    @Test func `the original and the import raise the same later events once`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let other = try RehearsedBackEnd(rehearsed, time)
        _ = try await bring(try await export(backEnd), into: other)
        let count = try other.storage.outbox(app: "cards", after: nil, limit: 1_000).count
        time.clock.now = time.clock.now + .days(60)
        for one in [backEnd, other] { #expect(await one.service.meetDueDeadlines()) }
        let ids = [backEnd, other].map { one in
            ((try? one.storage.outbox(app: "cards", after: nil, limit: 1_000)) ?? []).map {
                "\($0.customer.customer.text) \($0.event.kind) \($0.event.at.rfc3339)"
            }
        }
        #expect(ids[0] == ids[1])
        #expect(ids[0].count > count)
        for customer in Self.customers {
            #expect(try await answers(other, customer) == answers(backEnd, customer), "\(customer)")
        }
        await other.close()
        await backEnd.close()
    }

    @Test func `an interrupted import can be repeated, and a repetition adds nothing`() async throws
    {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let lines = try await export(backEnd)
        let other = try RehearsedBackEnd(rehearsed, time)
        for end in stride(from: 1, to: lines.count, by: 7) {
            let told = try await bring([lines[0]] + lines[1...end], into: other)
            #expect(told["refused"] == [], "up to \(end)")
        }
        _ = try await bring(lines, into: other)
        let again = try await bring(lines, into: other)
        #expect(again["added"] == [:])
        #expect(again["refused"] == [])
        #expect(try await export(other) == lines)
        await other.close()
        await backEnd.close()
    }

    @Test func `an import can be repeated after a bookmark changed, which stays`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let lines = try await export(backEnd)
        let other = try RehearsedBackEnd(rehearsed, time)
        _ = try await bring(lines, into: other)
        let action = BookmarkKey(app: "cards", environment: .simulated, name: "storeAction:01")
        let later = Array(#"{"value":"failed"}"#.utf8)
        try await other.storage.keep(later, as: action)
        let again = try await bring(lines, into: other)
        #expect(again["added"] == [:])
        #expect(again["refused"] == [])
        #expect(try other.storage.bookmark(action) == later)
        await other.close()
        await backEnd.close()
    }

    // MARK: Rejections

    /// Returns the code of the only rejected line after one line is changed.
    private func refusal(
        _ lines: [[UInt8]],
        of kind: String,
        in rehearsed: RehearsedStore,
        _ time: TestTime,
        change: (String) -> String
    ) async throws -> [String] {
        let other = try RehearsedBackEnd(rehearsed, time)
        var lines = lines
        let start = Array("{\"kind\":\"\(kind)\"".utf8)
        let index = try #require(lines.firstIndex { $0.starts(with: start) })
        let text = String(decoding: lines[index], as: UTF8.self)
        let changed = change(text)
        #expect(changed != text)
        lines[index] = Array(changed.utf8)
        let told = try await bring(lines, into: other)
        await other.close()
        let refused = told["refused"]?.array ?? []
        #expect(refused.first?["line"]?.int64 == Int64(index + 1))
        #expect(refused.first?["detail"]?.string?.isEmpty == false)
        return refused.compactMap { $0["code"]?.string }
    }

    @Test
    func `a malformed or false line is rejected with its number, and the others are imported`()
        async throws
    {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let lines = try await export(backEnd)
        await backEnd.close()
        func codes(_ kind: String, _ change: (String) -> String) async throws -> [String] {
            try await refusal(lines, of: kind, in: rehearsed, time, change: change)
        }
        #expect(try await codes("audit") { $0 + "}" } == ["not-json"])
        #expect(
            try await codes("audit") { $0.replacing("\"audit\"", with: "\"x\"") } == [
                "unknown-kind"
            ]
        )
        #expect(
            try await codes("alias") { $0.replacing("\"from\":\"2026", with: "\"from\":\"x2026") }
                == ["malformed"]
        )
        #expect(
            try await codes("told") { $0.replacing("\"name\"", with: "\"nome\"") }
                == ["missing-member"]
        )
        #expect(
            try await codes("customer") { $0.replacing("simulated", with: "sandbox") }
                == ["environment-not-served"]
        )
        #expect(
            try await codes("bookmark") { $0.replacing("storeAction:", with: "silence:") }
                == ["malformed"]
        )
        // What could not be counted further.
        for kind in ["customer", "event"] {
            let found = try await codes(kind) {
                $0.replacing(/"customerVersion":\d+/, with: "\"customerVersion\":\(Int64.max)")
            }
            #expect(found.first == "malformed", "\(kind)")
        }
        // No route would accept the id.
        let long = String(repeating: "a", count: 257)
        for kind in ["customer", "event", "alias", "told", "audit"] {
            let found = try await codes(kind) {
                $0.replacing(/"customer":"[^"]+"/, with: "\"customer\":\"\(long)\"")
            }
            #expect(found.first == "malformed", "\(kind)")
        }
        let last = "ffffffff-ffff-7fff-bfff-ffffffffffff"
        #expect(
            try await codes("audit") { $0.replacing(/"id":"[^"]+"/, with: "\"id\":\"\(last)\"") }
                == ["malformed"]
        )
        // The fact's evidence is missing too, or does not contain the fact.
        let digest = try await codes("evidence") {
            $0.replacing("\"text\":\"{", with: "\"text\":\" {")
        }
        #expect(digest.first == "digest")
        #expect(Set(digest.dropFirst()) == ["evidence-missing"])
        #expect(
            try await codes("fact") {
                $0.replacing("\"productId\":\"cards.pro.monthly\"", with: "\"productId\":\"x\"")
            } == ["not-stated"]
        )
    }

    @Test func `an export of another app, of answers or of another version is rejected as a whole`()
        async throws
    {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let lines = try await export(backEnd)
        let answers = try await export(backEnd, answers: true)
        #expect(answers.count == 3)
        await backEnd.close()
        let header = String(decoding: lines[0], as: UTF8.self)
        #expect(
            header
                == #"{"format":"tideover-export","version":1,"app":"cards","holds":"everything"}"#
        )
        let other = try RehearsedBackEnd(rehearsed, time)
        let wrong = [
            ("other-app", header.replacing("cards", with: "chess")),
            ("other-version", header.replacing("\"version\":1", with: "\"version\":2")),
            ("answers-only", String(decoding: answers[0], as: UTF8.self)),
            ("not-an-export", String(decoding: lines[1], as: UTF8.self)),
            ("not-an-export", ""),
        ]
        for (code, first) in wrong {
            let rest = first.isEmpty ? [] : lines.dropFirst()
            let told = try await bring([Array(first.utf8)] + rest, into: other)
            #expect(told["refused"]?.array?.compactMap { $0["code"]?.string } == [code])
            #expect(told["added"] == [:])
        }
        let nothing = try await export(other)
        #expect(nothing == [lines[0]])
        await other.close()
    }

    @Test func `facts that another store signed are rejected`() async throws {
        let rehearsed = try RehearsedStore()
        let time = TestTime()
        let backEnd = try await lived(rehearsed, time)
        let lines = try await export(backEnd)
        await backEnd.close()
        // The same configuration except for the pinned root.
        let stranger = try RehearsedBackEnd(try RehearsedStore(seed: 8), time)
        let told = try await bring(lines, into: stranger)
        let codes = Set(told["refused"]?.array?.compactMap { $0["code"]?.string } ?? [])
        #expect(codes == ["evidence-refused"])
        let answer = try await stranger.answer(TestServer.anna)
        #expect(answer["entitlements"]?["premium"]?["state"] != "active")
        await stranger.close()
    }
}
