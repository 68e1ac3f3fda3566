package import TideoverCore

/// A valid life of one subscription as the App Store reports it, with the store's own truth. The
/// truth is the product that the customer was entitled to at each instant, if any.
package struct GeneratedLife {
    package var life: Life
    /// When the store's own truth changed, and to which product.
    private var truth: [(from: Instant, product: String?)] = []
    private var now: Instant = "2026-01-31"
    private var end: Instant = "2026-01-31"
    private var product = "monthly"
    /// The product of the next renewal.
    private var next = "monthly"
    private var number = 0
    /// The origin and offer of the running term; every copy of it states them.
    private var origin = Term.Origin.purchase
    private var offer: Offer?
    private var buyer = "anna"

    package init(_ random: inout SeededRandom) {
        let id = "\(random.next() % 1_000_000)"
        let isShared = Int.random(in: 0..<5, using: &random) == 0
        life = Life(id, ownership: isShared ? .familyShared : .purchased)
        buy(&random)
        for _ in 0..<Int.random(in: 1...10, using: &random) {
            guard live(&random) || resubscribe(&random) else { return }
        }
        // Cancels, so that the truth is known for all later time.
        cancel()
    }

    private var latest: Instant { life.facts.map(\.assertedAt).max() ?? now }

    private func length(of product: String) -> Period {
        product == "yearly" ? Period(years: 1) : Period(months: 1)
    }

    private mutating func buy(_ random: inout SeededRandom) {
        buyer = Int.random(in: 0..<4, using: &random) == 0 ? "ben" : "anna"
        start(from: now, signed: now, origin: .purchase, &random)
    }

    private static let trial = Offer(
        kind: .introductory,
        discount: .freeTrial,
        period: Period(days: 3)
    )

    private mutating func start(
        from start: Instant,
        signed: Instant,
        origin: Term.Origin,
        _ random: inout SeededRandom
    ) {
        number += 1
        let isTrial = number == 1 && product == "monthly" && Bool.random(using: &random)
        offer = isTrial ? Self.trial : nil
        (now, end, next) = (start, start + (offer?.period ?? length(of: product)), product)
        self.origin = origin
        let token = Bool.random(using: &random) ? buyer : nil
        life.term(
            "\(number)",
            product,
            from: start,
            to: end,
            signed: signed,
            offer: offer,
            origin: origin,
            token: token
        )
        life.charge(price)
        outlook(signed: signed)
        life.condition(.active, end: end, signed: signed)
        truth.append((start, product))
    }

    /// Reports another copy of the running term.
    private mutating func say(signed: Instant, upgraded: Bool = false, revoked: Bool = false) {
        life.term(
            "\(number)",
            product,
            from: now,
            to: end,
            signed: signed,
            offer: offer,
            upgraded: upgraded,
            revoked: revoked,
            origin: origin
        )
        life.charge(price)
    }

    private var price: String { offer == nil ? "9.99 USD" : "0 USD" }

    private mutating func outlook(
        signed: Instant,
        renews: Bool = true,
        retrying: Bool? = nil,
        grace: Instant? = nil,
        lapse: Outlook.Lapse? = nil
    ) {
        life.outlook(
            end: end,
            signed: signed,
            renews: renews,
            retrying: retrying,
            grace: grace,
            lapse: lapse,
            product: product,
            into: next
        )
    }

    /// Generates one event of a subscription; returns false when it has lapsed.
    private mutating func live(_ random: inout SeededRandom) -> Bool {
        if life.lineage.ownership == .familyShared, Int.random(in: 0..<4, using: &random) == 0 {
            return shareAgain(&random)
        }
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return cancel()
        case 1: return refund(reversed: false, &random)
        case 2: return refund(reversed: true, &random)
        case 3: return failInGrace(recovering: true, &random)
        case 4: return failInGrace(recovering: false, &random)
        case 5: return failWithoutGrace(&random)
        case 6: return cancelInGrace(&random)
        case 7: return cancelInRetry(&random)
        case 8: return upgrade(&random)
        case 9: return downgrade(&random)
        case 10, 11: return extend(&random)
        case 12: return extendCancelled(&random)
        case 13: return recoverFromUndatedGrace(&random)
        default: return renew(early: .hours(Int64.random(in: 0...7, using: &random)), &random)
        }
    }

    // MARK: Running term

    /// Returns an instant inside the term after all earlier reports, if there is one.
    private func later(_ length: Milliseconds) -> Instant? {
        let instant = max(now, latest) + length
        return instant < end - .days(1) ? instant : nil
    }

    private mutating func renew(early: Milliseconds, _ random: inout SeededRandom) -> Bool {
        product = next
        start(from: end, signed: max(end - early, latest), origin: .renewal, &random)
        return true
    }

    private mutating func upgrade(_ random: inout SeededRandom) -> Bool {
        guard product != "yearly", let instant = later(.days(2)) else {
            return renew(early: .zero, &random)
        }
        // A device may present the flagged copy weeks later.
        let flagged = instant + .hours(Int64.random(in: 0...500, using: &random))
        say(signed: flagged, upgraded: true)
        product = "yearly"
        start(from: instant, signed: instant, origin: .purchase, &random)
        return true
    }

    private mutating func downgrade(_ random: inout SeededRandom) -> Bool {
        guard product != "basic", let instant = later(.days(2)) else {
            return renew(early: .zero, &random)
        }
        next = "basic"
        outlook(signed: instant)
        life.condition(.active, end: end, signed: instant)
        return true
    }

    private mutating func extend(_ random: inout SeededRandom) -> Bool {
        guard let instant = later(.days(2)) else { return renew(early: .zero, &random) }
        end = end + .days(Int64.random(in: 1...90, using: &random))
        say(signed: instant)
        outlook(signed: instant)
        life.condition(.active, end: end, signed: instant)
        return true
    }

    /// The store extends a cancelled term. The customer keeps the days and the cancellation stays.
    private mutating func extendCancelled(_ random: inout SeededRandom) -> Bool {
        guard let cancelled = later(.days(2)), cancelled + .days(2) < end else {
            return renew(early: .zero, &random)
        }
        outlook(signed: cancelled, renews: false)
        life.condition(.active, end: end, signed: cancelled)
        end = end + .days(Int64.random(in: 1...30, using: &random))
        say(signed: cancelled + .days(1))
        lapse(at: end, .cancelled)
        truth.append((end, nil))
        return false
    }

    private mutating func refund(reversed: Bool, _ random: inout SeededRandom) -> Bool {
        // A recovery in grace cannot be refunded before it was paid.
        guard let refunded = later(.days(5)), refunded + .days(4) < end else {
            return renew(early: .zero, &random)
        }
        say(signed: refunded, revoked: true)
        life.revoke("\(number)", at: refunded)
        outlook(signed: refunded, renews: false)
        life.condition(.revoked, end: end, signed: refunded)
        truth.append((refunded, nil))
        guard reversed else { return false }
        say(signed: refunded + .days(4))
        life.reverse("\(number)", at: refunded + .days(4))
        outlook(signed: refunded + .days(4))
        life.condition(.active, end: end, signed: refunded + .days(4))
        truth.append((refunded + .days(4), product))
        return renew(early: .zero, &random)
    }

    /// The purchaser stops Family Sharing and starts it again. This is often within the hour in
    /// which a read does not undo a revocation.
    private mutating func shareAgain(_ random: inout SeededRandom) -> Bool {
        guard let removed = later(.days(5)), removed + .days(4) < end else {
            return renew(early: .zero, &random)
        }
        life.beginMessage()
        say(signed: removed, revoked: true)
        life.revoke("\(number)", at: removed, cause: .familyAccessRemoved)
        outlook(signed: removed)
        life.condition(.revoked, end: end, signed: removed)
        life.endMessage()
        truth.append((removed, nil))
        let shared = removed + .minutes(Int64.random(in: 1...2_000, using: &random))
        life.beginMessage()
        say(signed: shared)
        outlook(signed: shared)
        life.condition(.active, end: end, signed: shared)
        life.endMessage()
        truth.append((shared, product))
        return renew(early: .zero, &random)
    }

    // MARK: End of a term

    @discardableResult
    private mutating func cancel() -> Bool {
        if let instant = later(.days(3)) {
            outlook(signed: instant, renews: false)
            life.condition(.active, end: end, signed: instant)
        }
        lapse(at: end, .cancelled)
        truth.append((end, nil))
        return false
    }

    private mutating func lapse(at instant: Instant, _ lapse: Outlook.Lapse) {
        outlook(signed: instant, renews: false, lapse: lapse)
        life.condition(.expired, notice: .expired, end: end, signed: instant)
    }

    private mutating func failInGrace(
        recovering: Bool,
        _ random: inout SeededRandom
    ) -> Bool {
        let (failed, grace) = (end, end + .days(16))
        fail(grace: grace, &random)
        if recovering {
            // Back-dated: the term starts at the old end, before the failure was announced.
            let back = failed + .days(Int64.random(in: 1...15, using: &random))
            start(from: failed, signed: back, origin: .renewal, &random)
            return true
        }
        outlook(signed: grace, retrying: true, grace: grace)
        life.condition(.retry, notice: .graceExpired, end: failed, signed: grace)
        truth.append((grace, nil))
        return recoverLate(after: grace, &random)
    }

    /// The store reports grace without a date. The rules assume three days.
    private mutating func recoverFromUndatedGrace(_ random: inout SeededRandom) -> Bool {
        let failed = end
        next = product
        outlook(signed: failed)
        life.condition(.grace, notice: .failedToRenewInGrace, end: failed, signed: failed)
        let back = failed + .hours(Int64.random(in: 1...60, using: &random))
        start(from: failed, signed: back, origin: .renewal, &random)
        return true
    }

    private mutating func failWithoutGrace(_ random: inout SeededRandom) -> Bool {
        fail(grace: nil, &random)
        truth.append((end, nil))
        return recoverLate(after: end, &random)
    }

    /// Reports a failure by two observations with the same date. The result must not depend on
    /// their order. The store may warn of a failure some hours before the end.
    private mutating func fail(grace: Instant?, _ random: inout SeededRandom) {
        // The product that failed is still the one that ran.
        next = product
        let warned = max(end - .hours(Int64.random(in: 0...20, using: &random)), latest)
        let signed = Bool.random(using: &random) ? min(warned, end) : end
        outlook(signed: signed, retrying: true, grace: grace)
        life.condition(
            grace == nil ? .retry : .grace,
            notice: grace == nil ? .failedToRenew : .failedToRenewInGrace,
            end: end,
            signed: signed
        )
    }

    private mutating func recoverLate(
        after over: Instant,
        _ random: inout SeededRandom
    ) -> Bool {
        guard Bool.random(using: &random) else {
            lapse(at: end + .days(60), .billingError)
            return false
        }
        let back = over + .days(Int64.random(in: 1...30, using: &random))
        start(from: back, signed: back, origin: .renewal, &random)
        return true
    }

    private mutating func cancelInGrace(_ random: inout SeededRandom) -> Bool {
        fail(grace: end + .days(16), &random)
        let instant = end + .hours(Int64.random(in: 1...380, using: &random))
        truth.append((instant, nil))
        guard Bool.random(using: &random) else {
            lapse(at: instant, .cancelled)
            return false
        }
        // The store's older grace status does not preserve it.
        outlook(signed: instant, renews: false, grace: end + .days(16))
        return false
    }

    private mutating func cancelInRetry(_ random: inout SeededRandom) -> Bool {
        fail(grace: nil, &random)
        truth.append((end, nil))
        lapse(at: end + .hours(Int64.random(in: 1...1000, using: &random)), .cancelled)
        return false
    }

    // MARK: After a lapse

    private mutating func resubscribe(_ random: inout SeededRandom) -> Bool {
        guard Bool.random(using: &random) else { return false }
        now = latest + .hours(Int64.random(in: 1...2000, using: &random))
        product = ["monthly", "yearly", "basic"].randomElement(using: &random) ?? product
        buy(&random)
        return true
    }

    // MARK: Store's truth

    /// Returns whether the customer was entitled, by the store's own truth; nil before the first
    /// purchase.
    package func wasEntitled(_ instant: Instant) -> Bool? {
        truth.last { $0.from <= instant }.map { $0.product != nil }
    }

    /// Returns the product that the customer was entitled to, by the store's own truth.
    package func product(at instant: Instant) -> String? {
        truth.last { $0.from <= instant }?.product
    }

    /// Every instant with an event, and the last millisecond before it.
    package var probes: [Instant] {
        let instants = life.facts.flatMap { fact -> [Instant] in
            guard case .term(let term) = fact.assertion else { return [fact.assertedAt] }
            return [fact.assertedAt, term.start, term.end ?? term.start]
        }
        return Set(instants).sorted().flatMap { [$0.justBefore, $0, $0 + Milliseconds(1)] }
    }
}
