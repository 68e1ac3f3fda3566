import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let eventLaws: [StorageLaw] = [
        StorageLaw(
            "events are read once each, in the order of commits, page by page",
            eventsInPages
        ),
        StorageLaw(
            "an event never appears before one already read, however the clock moves",
            reopening: eventsNeverBehind
        ),
        StorageLaw("a reader of one app gets only its events, and no empty signal", eventsOfOneApp),
    ]

    private static func eventsInPages(_ storage: any Storage) async throws {
        for n in 0..<7 {
            let commitRequest = Sample.commitRequest("n\(n)", facts: [Sample.term(Int64(n))])
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        var heard: [OutboxEvent] = []
        while true {
            let page = try storage.outbox(
                app: Sample.app,
                after: heard.last?.id,
                limit: 3
            )
            #expect(page.count <= 3)
            if page.isEmpty { break }
            heard += page
        }
        #expect(heard.map(\.version) == Array(1...7))
        #expect(Set(heard.map(\.id)).count == 7)
        #expect(heard.map(\.customer) == Array(repeating: Sample.key("u_1"), count: 7))
        let row = try storage.row(of: Sample.key("u_1"))
        #expect(heard.last?.event.body == row?.answer)
    }

    private static func eventsNeverBehind(at site: any StorageSite) async throws {
        var latest: EventID?
        for day in [5, 5, 9, 2, 2, 7] {
            try await site.withStorage { storage in
                let now = Sample.day(Int64(day))
                let commitRequest = Sample.commitRequest(customers: [Sample.key("u_1")], now: now)
                _ = try await storage.commit(commitRequest) { _ in Self.threeEvents(at: now) }
                let news = try storage.outbox(app: Sample.app, after: latest, limit: 100)
                #expect(news.map(\.event.kind) == ["began", "changed", "ended"])
                latest = news.last?.id
            }
        }
    }

    private static func eventsOfOneApp(_ storage: any Storage) async throws {
        for app in ["cards", "chess"] {
            let commitRequest = Sample.commitRequest("n1", app: app, facts: [Sample.term(0)])
            _ = try await storage.commit(commitRequest, derive: Sample.derive)
        }
        let heard = try storage.outbox(app: "chess", after: nil, limit: 100)
        #expect(heard.map(\.customer.app) == ["chess"])
        #expect(try storage.outbox(app: "chess", after: nil, limit: 0).isEmpty)
        #expect(try storage.outbox(app: "go", after: nil, limit: 100).isEmpty)
    }

    private static func threeEvents(at now: Instant) -> Derivation {
        let events = ["began", "changed", "ended"].map { Event(kind: $0, at: now, body: []) }
        return Derivation(answer: [], validUntil: nil, fingerprint: "p1", events: events)
    }
}
