import Testing
import TideoverCore
import TideoverStorage

extension StorageLaw {
    static let webhookLaws: [StorageLaw] = [
        StorageLaw(
            "a webhook keeps its position and state when its form changes, and after reopening",
            reopening: webhooksKept
        ),
        StorageLaw("a webhook has one claim at a time, until it expires or is settled", claims),
        StorageLaw("results of an expired claim that was issued again change nothing", fence),
        StorageLaw("deliveries wait for their instant, the earliest first", waiting),
        StorageLaw("a disabled webhook keeps its first reason until it is enabled", disabling),
        StorageLaw("attempts are listed newest first, and pruned by age", attempts),
        StorageLaw("a webhook is added with its state", addedWithState),
        StorageLaw("a removed webhook has no deliveries, attempts or claim", removed),
    ]

    private static let key = WebhookKey(app: Sample.app, id: "hooks")

    private static func event(_ number: UInt64) -> EventID {
        EventID.next(after: nil, at: Sample.day(1) + .seconds(Int64(number)), random: number)
    }

    private static func record(_ key: WebhookKey = key, form: String = "{}") -> WebhookRecord {
        WebhookRecord(key, form: Array(form.utf8), position: event(0))
    }

    /// Claims the webhook, and settles with a result.
    private static func settle(
        _ storage: any Storage,
        position: EventID = event(0),
        attempts: [WebhookAttempt] = [],
        waiting: [WebhookDelivery] = [],
        finished: [EventID] = [],
        failingSince: Instant? = nil,
        disabled: String? = nil
    ) async throws {
        let now = Sample.day(2)
        let fence = try #require(
            try await storage.claim(key, now: now, until: now + .minutes(1))
        )
        let settlement = WebhookSettlement(
            key,
            fence: fence,
            position: position,
            attempts: attempts,
            waiting: waiting,
            finished: finished,
            failingSince: failingSince,
            disabled: disabled,
            now: now
        )
        #expect(try await storage.settle(settlement))
    }

    private static func webhooksKept(at site: any StorageSite) async throws {
        try await site.withStorage { storage in
            try await storage.put(record())
            try await storage.put(record(WebhookKey(app: "other", id: "hooks")))
            try await storage.put(record(WebhookKey(app: Sample.app, id: "a")))
            try await settle(storage, position: event(7))
            try await settle(storage, position: event(6), failingSince: Sample.day(1))
            try await storage.put(record(form: #"{"b": 1}"#))
        }
        try await site.withStorage { storage in
            let found = try storage.webhooks(app: Sample.app)
            #expect(found.map(\.key.id) == ["a", "hooks"])
            #expect(found.last?.form == Array(#"{"b": 1}"#.utf8))
            #expect(found.last?.position == event(7))
            #expect(found.last?.failingSince == Sample.day(1))
        }
    }

    private static func claims(_ storage: any Storage) async throws {
        let (now, end) = (Sample.day(1), Sample.day(1) + .minutes(1))
        #expect(try await storage.claim(key, now: now, until: end) == nil)
        try await storage.put(record())
        let first = try #require(try await storage.claim(key, now: now, until: end))
        #expect(try await storage.claim(key, now: now, until: end) == nil)
        let second = try #require(
            try await storage.claim(key, now: end, until: end + .minutes(1))
        )
        #expect(second > first)
    }

    private static func fence(_ storage: any Storage) async throws {
        try await storage.put(record())
        let (now, end) = (Sample.day(1), Sample.day(1) + .minutes(1))
        let first = try #require(try await storage.claim(key, now: now, until: end))
        _ = try await storage.claim(key, now: end, until: end + .minutes(1))
        let late = WebhookSettlement(
            key,
            fence: first,
            position: event(5),
            waiting: [WebhookDelivery(event: event(1), attempts: 1, nextAt: now)],
            now: end
        )
        #expect(try await !storage.settle(late))
        #expect(try storage.webhooks(app: Sample.app).first?.position == event(0))
        #expect(try storage.webhookQueue(of: key, now: end, limit: 9).count == 0)
    }

    private static func waiting(_ storage: any Storage) async throws {
        try await storage.put(record())
        let deliveries = [UInt64(3), 1, 2].map { number in
            WebhookDelivery(
                event: event(number),
                attempts: 2,
                nextAt: Sample.day(Int64(number))
            )
        }
        try await settle(storage, waiting: deliveries)
        let due = try storage.webhookQueue(of: key, now: Sample.day(2), limit: 9)
        #expect(due.due == [deliveries[1], deliveries[2]])
        #expect(due.count == 3)
        #expect(try storage.webhookQueue(of: key, now: Sample.day(2), limit: 1).due.count == 1)
        try await settle(storage, finished: [event(1)])
        try await storage.queue([event(3)], to: key, at: Sample.day(0))
        let rest = try storage.webhookQueue(of: key, now: Sample.day(2), limit: 9)
        #expect(rest.due.map(\.event) == [event(3), event(2)])
        #expect(rest.due.map(\.attempts) == [0, 2])
    }

    private static func disabling(_ storage: any Storage) async throws {
        try await storage.put(record())
        try await settle(storage, failingSince: Sample.day(1), disabled: "gone")
        #expect(try await storage.setWebhook(key, disabled: "operator", at: Sample.day(9)))
        var found = try #require(try storage.webhooks(app: Sample.app).first)
        #expect(found.disabled == "gone")
        #expect(found.disabledAt == Sample.day(2))
        #expect(try await storage.setWebhook(key, disabled: nil, at: Sample.day(9)))
        found = try #require(try storage.webhooks(app: Sample.app).first)
        #expect(found.disabled == nil)
        #expect(found.disabledAt == nil)
        #expect(found.failingSince == nil)
        let other = WebhookKey(app: Sample.app, id: "other")
        #expect(try await !storage.setWebhook(other, disabled: "operator", at: Sample.day(9)))
    }

    private static func attempts(_ storage: any Storage) async throws {
        try await storage.put(record())
        let made = (1...3).map { number in
            WebhookAttempt(
                event: event(1),
                at: Sample.day(Int64(number)),
                ordinal: number,
                outcome: number == 3 ? "delivered" : "failed",
                status: number == 1 ? nil : 200,
                detail: number == 1 ? "no connection" : nil
            )
        }
        try await settle(storage, attempts: made)
        let all = try storage.webhookAttempts(of: key, before: nil, limit: 9)
        #expect(all.map(\.ordinal) == [3, 2, 1])
        #expect(all.map(\.status) == [200, 200, nil])
        #expect(all.last?.detail == "no connection")
        let before = try #require(all.first?.number)
        let rest = try storage.webhookAttempts(of: key, before: before, limit: 1)
        #expect(rest.map(\.ordinal) == [2])
        let pruned = try await storage.prune(
            PruneOrder(
                .webhookAttempts,
                app: Sample.app,
                environment: .production,
                before: Sample.day(3),
                limit: 9
            )
        )
        #expect(pruned.count == 2)
        #expect(try storage.webhookAttempts(of: key, before: nil, limit: 9).map(\.ordinal) == [3])
    }

    private static func addedWithState(_ storage: any Storage) async throws {
        let webhook = WebhookRecord(
            key,
            form: Array("{}".utf8),
            position: event(3),
            failingSince: Sample.day(1),
            disabled: "gone",
            disabledAt: Sample.day(2)
        )
        try await storage.put(webhook)
        #expect(try storage.webhooks(app: Sample.app) == [webhook])
    }

    private static func removed(_ storage: any Storage) async throws {
        let other = WebhookKey(app: Sample.app, id: "other")
        for webhook in [record(), record(other)] {
            try await storage.put(webhook)
            try await storage.queue([event(1)], to: webhook.key, at: Sample.day(0))
        }
        let attempt = WebhookAttempt(
            event: event(1),
            at: Sample.day(1),
            ordinal: 1,
            outcome: "failed",
            status: 500,
            detail: nil
        )
        try await settle(storage, position: event(7), attempts: [attempt])
        let (now, end) = (Sample.day(3), Sample.day(3) + .minutes(1))
        #expect(try await storage.claim(key, now: now, until: end) != nil)
        try await storage.remove(key)
        #expect(try storage.webhooks(app: Sample.app).map(\.key) == [other])
        #expect(try storage.webhookQueue(of: other, now: now, limit: 9).count == 1)
        try await storage.put(record())
        #expect(try storage.webhook(key)?.position == event(0))
        #expect(try storage.webhookQueue(of: key, now: now, limit: 9).count == 0)
        #expect(try storage.webhookAttempts(of: key, before: nil, limit: 9) == [])
        #expect(try await storage.claim(key, now: now, until: end) != nil)
    }
}
