package import TideoverCore

/// A valid life of one subscription as Google Play reports it in reads, with the store's own truth.
/// The truth is the product that the customer was entitled to at each instant, if any. The store is
/// read at every event, and occasionally in between.
package struct GeneratedPlayLife {
    package var life = Life.play()
    /// The bare notifications of the life, for an app that cannot read.
    package private(set) var notices:
        [(kind: PlayNotice.Kind, at: Instant, token: String, product: String)] =
            []
    /// When the store's own truth changed, and to which product.
    private var truth: [(from: Instant, product: String?)] = []
    private var now: Instant = "2026-01-31"
    private var end: Instant = "2026-01-31"
    private var started: Instant = "2026-01-31"
    private var product = "play"
    private var plan = PlayItem.Plan.autoRenewing(isOn: true)
    private var token = "t1"
    private var replaces: String?
    private var tokens = 1
    private var orders = 0

    package init(_ random: inout SeededRandom) {
        life = Life.play("\(random.next() % 1_000_000)")
        buy(&random)
        for _ in 0..<Int.random(in: 1...10, using: &random) {
            guard live(&random) || resubscribe(&random) else { return }
        }
        // Cancels, so that the truth is known for all later time.
        cancel(&random)
    }

    private var order: String { "GPA.\(token)..\(orders)" }

    private mutating func ask(
        _ state: PlaySubscription.State,
        at instant: Instant,
        until expiry: Instant?,
        resumes: Instant? = nil,
        by cancellation: PlaySubscription.Cancellation? = nil,
        becomes replacement: String? = nil
    ) {
        life.read(
            state,
            token,
            until: expiry,
            at: instant,
            product: product,
            plan: plan,
            order: order,
            started: state == .pending ? nil : started,
            replaces: replaces,
            resumes: resumes,
            by: cancellation,
            becomes: replacement
        )
        now = max(now, instant)
    }

    private mutating func announce(_ kind: PlayNotice.Kind, at instant: Instant) {
        notices.append((kind, instant, token, product))
    }

    private mutating func buy(_ random: inout SeededRandom) {
        if Int.random(in: 0..<4, using: &random) == 0 {
            ask(.pending, at: now, until: nil)
            now = now + .hours(Int64.random(in: 1...60, using: &random))
        }
        plan =
            Int.random(in: 0..<5, using: &random) == 0
            ? .prepaid(extendableFrom: nil) : .autoRenewing(isOn: true)
        begin(at: now)
    }

    /// Starts a period that begins a token.
    private mutating func begin(at instant: Instant) {
        orders = 0
        started = instant
        end = instant + Period(months: 1)
        ask(.active, at: instant, until: end)
        announce(.purchased, at: instant)
        truth.append((instant, product))
    }

    private mutating func newToken(linked: Bool) {
        replaces = linked ? token : nil
        tokens += 1
        token = "t\(tokens)"
    }

    private var isPrepaid: Bool {
        if case .prepaid = plan { true } else { false }
    }

    // MARK: Events

    /// Generates one event of a subscription; returns false when it has lapsed.
    private mutating func live(_ random: inout SeededRandom) -> Bool {
        if isPrepaid { return Bool.random(using: &random) ? topUp(&random) : runOut() }
        switch Int.random(in: 0..<13, using: &random) {
        case 0: return cancel(&random)
        case 1: return restart(&random)
        case 2: return fail(recovering: true, &random)
        case 3: return fail(recovering: false, &random)
        case 4: return renewSilently(&random)
        case 5: return pause(&random)
        case 6: return upgrade(&random)
        case 7: return changeLater(&random)
        case 8: return extend(&random)
        case 9: return refund(&random)
        case 10: return askAgain(&random)
        default: return renew(at: end - .hours(Int64.random(in: 0...6, using: &random)))
        }
    }

    /// Returns an instant inside the period after all earlier reports, if there is one.
    private func later(_ random: inout SeededRandom) -> Instant? {
        let instant = now + .hours(Int64.random(in: 24...240, using: &random))
        return instant < end - .days(2) ? instant : nil
    }

    private mutating func renew(at instant: Instant) -> Bool {
        orders += 1
        end = end + Period(months: 1)
        ask(.active, at: max(instant, now), until: end)
        announce(.renewed, at: max(instant, now))
        return true
    }

    /// The payment succeeds only hours after the expiry, and the failure is not reported.
    private mutating func renewSilently(_ random: inout SeededRandom) -> Bool {
        renew(at: end + .hours(Int64.random(in: 1...47, using: &random)))
    }

    private mutating func askAgain(_ random: inout SeededRandom) -> Bool {
        if let instant = later(&random) { ask(.active, at: instant, until: end) }
        return true
    }

    private mutating func extend(_ random: inout SeededRandom) -> Bool {
        guard let instant = later(&random) else { return renew(at: end) }
        end = end + .days(Int64.random(in: 1...60, using: &random))
        ask(.active, at: instant, until: end)
        announce(.deferred, at: instant)
        return true
    }

    @discardableResult
    private mutating func cancel(_ random: inout SeededRandom) -> Bool {
        guard !isPrepaid else { return runOut() }
        let instant = later(&random) ?? max(now, end - .hours(2))
        plan = .autoRenewing(isOn: false)
        ask(.cancelled, at: instant, until: end, by: .customer)
        announce(.cancelled, at: instant)
        return runOut()
    }

    private mutating func runOut() -> Bool {
        ask(.expired, at: max(now, end), until: end, by: isPrepaid ? nil : .customer)
        announce(.expired, at: max(now, end))
        truth.append((end, nil))
        return false
    }

    private mutating func restart(_ random: inout SeededRandom) -> Bool {
        guard let instant = later(&random) else { return renew(at: end) }
        plan = .autoRenewing(isOn: false)
        ask(.cancelled, at: instant, until: end, by: .customer)
        announce(.cancelled, at: instant)
        plan = .autoRenewing(isOn: true)
        ask(.active, at: instant + .hours(5), until: end)
        announce(.restarted, at: instant + .hours(5))
        return true
    }

    private mutating func upgrade(_ random: inout SeededRandom) -> Bool {
        guard product != "play.plus", let instant = later(&random) else { return renew(at: end) }
        let old = (token: token, product: product, started: started, order: order)
        newToken(linked: true)
        product = "play.plus"
        begin(at: instant)
        life.read(
            .expired,
            old.token,
            until: instant,
            at: instant + .minutes(1),
            product: old.product,
            plan: .autoRenewing(isOn: false),
            order: old.order,
            started: old.started,
            by: .replacement
        )
        now = instant + .minutes(1)
        return true
    }

    private mutating func changeLater(_ random: inout SeededRandom) -> Bool {
        guard product != "play", let instant = later(&random) else { return renew(at: end) }
        ask(.active, at: instant, until: end, becomes: "play")
        let changed = end
        product = "play"
        _ = renew(at: changed)
        truth.append((changed, product))
        return true
    }

    private mutating func topUp(_ random: inout SeededRandom) -> Bool {
        guard let instant = later(&random) else { return runOut() }
        let end = end
        newToken(linked: true)
        begin(at: instant)
        self.end = end + Period(months: 1)
        ask(.active, at: instant, until: self.end)
        return true
    }

    private mutating func refund(_ random: inout SeededRandom) -> Bool {
        guard let instant = later(&random) else { return renew(at: end) }
        life.void(order, at: instant, token)
        (end, plan) = (instant, .autoRenewing(isOn: false))
        ask(.expired, at: instant, until: end, by: .developer)
        announce(.revoked, at: instant)
        truth.append((instant, nil))
        return false
    }

    private mutating func pause(_ random: inout SeededRandom) -> Bool {
        let resumed = end + .days(Int64.random(in: 7...60, using: &random))
        ask(.paused, at: end, until: end, resumes: resumed)
        announce(.paused, at: end)
        truth.append((end, nil))
        return comeBack(at: resumed)
    }

    private mutating func comeBack(at instant: Instant) -> Bool {
        orders += 1
        end = instant + Period(months: 1)
        ask(.active, at: instant, until: end)
        announce(.recovered, at: instant)
        truth.append((instant, product))
        return true
    }

    /// Starts a grace of seven days with an expiry that the store moves daily.
    private mutating func fail(recovering: Bool, _ random: inout SeededRandom) -> Bool {
        let failed = end
        if !recovering, Bool.random(using: &random) { return failSilently(&random) }
        let days = recovering ? Int64.random(in: 1...6, using: &random) : 7
        announce(.inGrace, at: failed)
        for day in 0..<days {
            ask(.inGrace, at: failed + .days(day), until: failed + .days(day + 1))
        }
        if recovering {
            return renew(
                at: failed + .days(days) - .hours(Int64.random(in: 0...20, using: &random))
            )
        }
        return hold(from: failed + .days(7), until: failed + .days(7), &random)
    }

    /// Fails without grace: the store keeps access for a day, sends nothing, then holds.
    private mutating func failSilently(_ random: inout SeededRandom) -> Bool {
        let held = end + .days(1)
        return hold(from: held, until: Bool.random(using: &random) ? held : end, &random)
    }

    private mutating func hold(
        from held: Instant,
        until expiry: Instant,
        _ random: inout SeededRandom
    ) -> Bool {
        ask(.onHold, at: held, until: expiry)
        announce(.onHold, at: held)
        truth.append((held, nil))
        if Bool.random(using: &random) {
            return comeBack(at: held + .hours(Int64.random(in: 1...500, using: &random)))
        }
        endHold(since: held, &random)
        return false
    }

    /// Ends a hold unpaid, by itself or by the customer's cancellation. Google moves the expiry
    /// there, and reports the same weeks later.
    private mutating func endHold(since held: Instant, _ random: inout SeededRandom) {
        plan = .autoRenewing(isOn: false)
        let isCancelled = Int.random(in: 0..<4, using: &random) == 0
        let over = held + .days(isCancelled ? Int64.random(in: 1...29, using: &random) : 30)
        let expiry = Int.random(in: 0..<4, using: &random) == 0 ? held : over
        let who: PlaySubscription.Cancellation = isCancelled ? .customer : .system
        if Bool.random(using: &random) { ask(.cancelled, at: over, until: expiry, by: who) }
        ask(.expired, at: over + .seconds(1), until: expiry, by: who)
        announce(.expired, at: over + .seconds(1))
        if Bool.random(using: &random) {
            ask(.expired, at: over + .days(20), until: expiry, by: who)
        }
    }

    private mutating func resubscribe(_ random: inout SeededRandom) -> Bool {
        guard Bool.random(using: &random) else { return false }
        now = now + .hours(Int64.random(in: 1...2000, using: &random))
        newToken(linked: false)
        product = ["play", "play.plus"].randomElement(using: &random) ?? product
        buy(&random)
        return true
    }

    // MARK: Store's truth

    /// Returns the product that the customer was entitled to, by the store's own truth; nil for
    /// none.
    package func product(at instant: Instant) -> String? {
        truth.last { $0.from <= instant }?.product
    }

    /// Every instant with an event, and the last millisecond before it.
    package var probes: [Instant] {
        let instants = life.facts.flatMap { fact -> [Instant] in
            guard case .playSubscription(let read) = fact.assertion else { return [] }
            return [fact.assertedAt] + read.items.compactMap(\.expiresAt)
        }
        return Set(instants).sorted().flatMap { [$0.justBefore, $0, $0 + Milliseconds(1)] }
    }

    /// Returns the same life with late reads: each is delayed up to the limit after its event.
    package func delayed(upTo limit: Milliseconds, _ random: inout SeededRandom) -> Life {
        var late = life
        for position in late.facts.indices {
            let delay = Milliseconds(Int64.random(in: 0...limit.count, using: &random))
            late.facts[position].assertedAt = late.facts[position].assertedAt + delay
        }
        // Reads keep their order: a later one reports the events up to then.
        for position in late.facts.indices.dropFirst() {
            let before = late.facts[position - 1].assertedAt
            late.facts[position].assertedAt = max(late.facts[position].assertedAt, before)
        }
        return late
    }

    /// The same life for an app that cannot read.
    package var unread: Life {
        var unread = life
        unread.facts = []
        for notice in notices {
            unread.notice(notice.kind, at: notice.at, notice.token, product: notice.product)
        }
        return unread
    }
}
