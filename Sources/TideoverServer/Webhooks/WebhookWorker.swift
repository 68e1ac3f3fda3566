import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverLocks
import TideoverStorage

/// Delivers events to the webhooks of all apps.
///
/// Each webhook has its own task while it has work, so that a slow receiver delays only itself. A
/// claim with a fence protects it from a second worker. Results are stored after the attempts, as
/// soon as the storage accepts them: an interruption repeats a delivery under the same id, and
/// never loses one.
struct WebhookWorker: Sendable {
    let book: WebhookBook
    let sending: WebhookSending
    let revenueCat: RevenueCatMessages
    let storage: any Storage
    let random: @Sendable () -> UInt64
    let metrics: Metrics
    let log: Log

    /// The pause between two searches for work.
    static let rest = Duration.seconds(1)
    /// How long a claim is valid.
    static let lease = Milliseconds.minutes(5)
    /// How long a batch begins deliveries. The last ones end well before the lease: one takes three
    /// messages of 15 seconds at most.
    static let sendingTime = Milliseconds.seconds(150)
    /// The maximum number of deliveries in a batch.
    static let batch = 16
    /// The maximum number of concurrent requests to one receiver.
    static let width = 4
    /// The maximum number of waiting deliveries; with more, new events wait in the outbox.
    static let mostWaiting = 1_000
    /// The number of outbox events that are examined at once.
    static let page = 256
    /// A webhook that failed for so long raises an alarm.
    static let alarmAfter = Milliseconds.minutes(15)

    var worker: Worker { Worker(.webhooks) { try await run(sleep: $0) } }

    /// Runs until `sleep` throws; this cancels the deliveries.
    private func run(sleep: Sleep) async throws {
        let turns = Locked(WebhookTurns())
        try await withThrowingDiscardingTaskGroup(returning: Void.self) { group in
            while true {
                for entry in nextEntries(turns) {
                    group.addTask {
                        let last = await deliver(entry, isPaced: true)
                        turns.withLock {
                            $0.end(
                                entry.endpoint.key,
                                failingSince: last.failingSince,
                                waitsUntil: last.waitsUntil,
                                attempted: last.attempted,
                                at: sending.clock()
                            )
                        }
                    }
                }
                try await sleep(Self.rest)
            }
        }
    }

    /// Delivers everything that is due now.
    func deliverDue() async {
        for entry in readable() where entry.isActive { _ = await deliver(entry, isPaced: false) }
    }

    /// Returns the webhooks that begin now, the longest paused first.
    private func nextEntries(_ turns: Locked<WebhookTurns>) -> [WebhookBook.Entry] {
        let now = sending.clock()
        let entries = readable()
        return turns.withLock { turns in
            for entry in entries {
                turns.noteState(
                    of: entry.endpoint.key,
                    isActive: entry.isActive,
                    failingSince: entry.record.failingSince,
                    at: now
                )
            }
            let active = entries.filter(\.isActive)
            let ordered = active.map { (entry: $0, pauseEnd: turns.pauseEnd(of: $0.endpoint.key)) }
                .sorted { $0.pauseEnd < $1.pauseEnd }
            return ordered.map(\.entry).filter {
                turns.begin($0.endpoint.key, failingSince: $0.record.failingSince, at: now)
            }
        }
    }

    private func readable() -> [WebhookBook.Entry] {
        do throws(StorageError) {
            return try book.entries()
        } catch {
            tell(error, app: nil)
            return []
        }
    }

    /// Delivers batches until nothing is due; with `isPaced`, one batch while the receiver fails.
    ///
    /// The first batch is one delivery, so that a receiver which does not respond holds one
    /// connection only. Returns since when the receiver fails, until when it wishes to wait, and
    /// whether anything was sent.
    private func deliver(
        _ entry: WebhookBook.Entry,
        isPaced: Bool
    ) async -> (failingSince: Instant?, waitsUntil: Instant?, attempted: Bool) {
        var entry = entry
        var waitsUntil: Instant?
        var attempted = false
        do throws(StorageError) {
            while !Task.isCancelled, entry.isActive, waitsUntil == nil,
                let sent = try await deliverBatch(entry, atMost: attempted ? Self.batch : 1),
                let next = try book.entry(entry.endpoint.key)
            {
                entry = next
                waitsUntil = sent.waitsUntil
                attempted = true
                if isPaced, entry.record.failingSince != nil { break }
            }
        } catch {
            tell(error, app: entry.endpoint.app)
        }
        return (entry.record.failingSince, waitsUntil, attempted)
    }

    /// Returns what was sent if more may be due, else nil.
    private func deliverBatch(
        _ entry: WebhookBook.Entry,
        atMost limit: Int
    ) async throws(StorageError) -> WebhookSent? {
        let now = sending.clock()
        let key = entry.endpoint.key
        if let results = book.takeResults(of: key) { return try await store(results, entry) }
        guard try hasWork(entry, now) else { return nil }
        guard let fence = try await storage.claim(key, now: now, until: now + Self.lease) else {
            return nil
        }
        guard let (entry, collected) = try read(entry, fence, now, atMost: limit) else {
            return nil
        }
        guard let batch = collected else {
            return try await store(results(under: fence, entry), entry)
        }
        var sent = await send(batch, to: entry.endpoint, until: now + Self.sendingTime)
        if Task.isCancelled {
            // A cancelled request is no attempt; the next worker repeats it.
            sent.postponeUnanswered()
            guard !sent.trials.isEmpty else {
                return try await store(results(under: fence, entry), entry)
            }
        }
        return try await store(results(under: fence, entry, batch, sent), entry)
    }

    /// Reads a claimed webhook and its batch, which is nil if the webhook is disabled. Returns nil
    /// if the webhook was removed, and its claim with it.
    private func read(
        _ entry: WebhookBook.Entry,
        _ fence: Int64,
        _ now: Instant,
        atMost limit: Int
    ) throws(StorageError) -> (entry: WebhookBook.Entry, batch: WebhookBatch?)? {
        do {
            // Another worker may have finished a batch before this claim.
            guard let latest = try book.entry(entry.endpoint.key) else { return nil }
            guard latest.isActive else { return (latest, nil) }
            return (latest, try collect(latest, now, atMost: limit))
        } catch {
            book.keep(results(under: fence, entry))
            throw error
        }
    }

    /// Returns the results of a claim under which nothing was sent.
    private func results(under fence: Int64, _ entry: WebhookBook.Entry) -> BatchResults {
        let settlement = WebhookSettlement(
            entry.endpoint.key,
            fence: fence,
            position: entry.record.position,
            failingSince: entry.record.failingSince,
            now: sending.clock()
        )
        return BatchResults(settlement: settlement, sent: WebhookSent(), mayBeMore: false)
    }

    private func results(
        under fence: Int64,
        _ entry: WebhookBook.Entry,
        _ batch: WebhookBatch,
        _ sent: WebhookSent
    ) -> BatchResults {
        let settlement = WebhookSettlement(
            entry.endpoint.key,
            fence: fence,
            batch,
            sent,
            failingSince: entry.record.failingSince,
            now: sending.clock()
        )
        let mayBeMore =
            settlement.disabled == nil && batch.position != entry.record.position
            || !batch.isEmpty
        return BatchResults(settlement: settlement, sent: sent, mayBeMore: mayBeMore)
    }

    /// Stores the results of a batch, and returns what was sent if more may be due, else nil.
    ///
    /// If the storage fails, the webhook's next turn repeats it. Without this, nothing would be
    /// sent until the claim ends, and then every event of the batch again.
    private func store(
        _ results: BatchResults,
        _ entry: WebhookBook.Entry
    ) async throws(StorageError) -> WebhookSent? {
        do {
            guard try await storage.settle(results.settlement) else { return nil }
        } catch {
            book.keep(results)
            throw error
        }
        report(results.settlement, entry, waitsUntil: results.sent.waitsUntil)
        return results.mayBeMore ? results.sent : nil
    }

    private func hasWork(_ entry: WebhookBook.Entry, _ now: Instant) throws(StorageError) -> Bool {
        let key = entry.endpoint.key
        let queue = try storage.webhookQueue(of: key, now: now, limit: 1)
        if !queue.due.isEmpty { return true }
        guard queue.count < Self.mostWaiting else { return false }
        let position = entry.record.position
        return try !storage.outbox(app: key.app, after: position, limit: 1).isEmpty
    }

    /// Collects waiting deliveries, then new events. A failing receiver gets one at a time.
    private func collect(
        _ entry: WebhookBook.Entry,
        _ now: Instant,
        atMost limit: Int
    ) throws(StorageError) -> WebhookBatch {
        let key = entry.endpoint.key
        let most = entry.record.failingSince == nil ? limit : 1
        var batch = WebhookBatch(position: entry.record.position)
        let queue = try storage.webhookQueue(of: key, now: now, limit: most)
        for delivery in queue.due {
            let before = delivery.event.predecessor
            let found = try storage.outbox(app: key.app, after: before, limit: 1).first
            if let found, found.id == delivery.event {
                batch.items.append(.init(event: found, failures: delivery.attempts))
            } else {
                batch.vanished.append(delivery.event)
            }
        }
        guard batch.items.count < most, queue.count < Self.mostWaiting else { return batch }
        let fresh = try storage.outbox(app: key.app, after: batch.position, limit: Self.page)
        for event in fresh {
            guard batch.items.count < most else { break }
            batch.position = event.id
            guard entry.endpoint.receives(event) else { continue }
            batch.items.append(.init(event: event, failures: 0))
        }
        return batch
    }

    /// Sends the items: each customer's in order, those of different customers concurrently. Begins
    /// none after `end`, and none once the receiver answered that it is gone or wishes to wait.
    private func send(
        _ batch: WebhookBatch,
        to endpoint: WebhookEndpoint,
        until end: Instant
    ) async -> WebhookSent {
        await withTaskGroup(of: WebhookSent.self) { group in
            var rest = batch.byCustomer[...]
            var sent = WebhookSent()
            // Shared, as the other customers' deliveries run at the same time.
            let isStopped = Locked(false)
            for items in rest.prefix(Self.width) {
                group.addTask { await send(items, to: endpoint, until: end, isStopped) }
            }
            rest = rest.dropFirst(Self.width)
            for await done in group {
                sent.add(done)
                guard !sent.isStopped, let items = rest.popFirst() else { continue }
                group.addTask { await send(items, to: endpoint, until: end, isStopped) }
            }
            sent.postponed += rest.joined()
            return sent
        }
    }

    private func send(
        _ items: [WebhookBatch.Item],
        to endpoint: WebhookEndpoint,
        until end: Instant,
        _ isStopped: Locked<Bool>
    ) async -> WebhookSent {
        var sent = WebhookSent()
        for (index, item) in items.enumerated() {
            guard sending.clock() < end, !isStopped.withLock({ $0 }) else {
                sent.postponed += items[index...]
                break
            }
            guard let result = await send(item.event, to: endpoint) else { continue }
            sent.trials.append(WebhookTrial(item, result, at: sending.clock(), random: random()))
            if sent.isStopped { isStopped.withLock { $0 = true } }
        }
        return sent
    }

    /// Sends the messages of an event, up to the first that fails; nil if it has none. A repetition
    /// sends all of them under the same ids.
    private func send(_ event: OutboxEvent, to endpoint: WebhookEndpoint) async -> WebhookResult? {
        let messages: [WebhookMessage]
        do {
            messages = try await self.messages(of: event, to: endpoint)
        } catch {
            return .failure("the event could not be read: \(error)")
        }
        var result: WebhookResult?
        for message in messages {
            let request = endpoint.request(
                id: message.id,
                body: message.body,
                at: sending.clock()
            )
            let answer = await sending.send(endpoint.url, endpoint.allowNetworks, request)
            result = answer
            guard WebhookVerdict(answer, at: sending.clock()) == .delivered else { break }
        }
        return result
    }

    private func messages(
        of event: OutboxEvent,
        to endpoint: WebhookEndpoint
    ) async throws -> [WebhookMessage] {
        switch endpoint.format {
        case .tideover:
            [WebhookMessage(id: event.id.description, body: WebhookPayload.body(of: event))]
        case .revenueCat: try await revenueCat.messages(of: event)
        }
    }

    // MARK: Reporting

    private func report(
        _ settlement: WebhookSettlement,
        _ entry: WebhookBook.Entry,
        waitsUntil: Instant?
    ) {
        let app = settlement.key.app
        for attempt in settlement.attempts {
            metrics.count(.webhookAttempts, app, attempt.outcome)
            guard attempt.outcome == "abandoned" else { continue }
            let detail = "\(settlement.key.id): \(attempt.event), after \(attempt.ordinal) attempts"
            log(LogLine(.error, "webhook delivery abandoned", app: app, detail: detail))
        }
        if let reason = settlement.disabled {
            metrics.count(.webhookAlarms, app, "disabled")
            let detail =
                "\(settlement.key.id): fix the receiver, then `tideover webhooks enable "
                + "\(settlement.key.id) --app \(app)`"
            log(LogLine(.error, "webhook disabled", app: app, code: reason, detail: detail))
        } else if book.raisesAlarm(settlement, after: Self.alarmAfter, waitsUntil: waitsUntil) {
            metrics.count(.webhookAlarms, app, "failing")
            let since = settlement.failingSince?.rfc3339 ?? ""
            let detail =
                "\(settlement.key.id): every delivery failed since \(since); see `tideover "
                + "webhooks attempts \(settlement.key.id) --app \(app)`"
            log(LogLine(.error, "webhook failing", app: app, detail: detail))
        }
    }

    private func tell(_ error: StorageError, app: String?) {
        log(
            LogLine(
                .error,
                "webhooks not delivered",
                app: app,
                code: "storage",
                detail: error.description
            )
        )
    }
}
