import TideoverCore

/// SplitMix64: the same numbers for the same seed on every machine.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A legal life of one subscription as the App Store would tell it, with the store's own truth
/// beside it: at these instants the customer was entitled, or was not.
struct GeneratedLife {
    var life: Life
    /// When the store's own truth changed, and to what.
    var truth: [(from: Instant, access: Bool)] = []
    private var now: Instant = "2026-01-31"
    private var number = 0

    init(_ random: inout SeededRandom) {
        life = Life("\(random.next() % 1_000_000)")
        buy(&random)
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            guard live(&random) else { return }
        }
    }

    private var end: Instant { now + Period(months: 1) }

    private mutating func buy(_ random: inout SeededRandom) {
        number += 1
        let token = Bool.random(using: &random) ? "anna" : nil
        life.term("\(number)", from: now, to: end, origin: .purchase, token: token)
        life.outlook(end: end, signed: now)
        life.condition(.active, end: end, signed: now)
        truth.append((now, true))
    }

    /// One term's end; false when the life is over.
    private mutating func live(_ random: inout SeededRandom) -> Bool {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return cancel()
        case 1: return refund(reversed: false)
        case 2: return refund(reversed: true)
        case 3: return failInGrace(recovering: true, &random)
        case 4: return failInGrace(recovering: false, &random)
        case 5: return failWithoutGrace(&random)
        default:
            renew(from: end, signed: end - .hours(Int64.random(in: 0...7, using: &random)))
            return true
        }
    }

    private mutating func renew(from start: Instant, signed: Instant) {
        number += 1
        now = start
        life.term("\(number)", from: start, to: end, signed: signed)
        life.outlook(end: end, signed: signed)
        life.condition(.active, end: end, signed: signed)
    }

    private mutating func cancel() -> Bool {
        life.outlook(end: end, signed: now + .days(9), renews: false)
        life.condition(.active, end: end, signed: now + .days(9))
        life.outlook(end: end, signed: end, renews: false, lapse: .cancelled)
        life.condition(.expired, notice: .expired, end: end, signed: end)
        truth.append((end, false))
        return false
    }

    private mutating func refund(reversed: Bool) -> Bool {
        // What was recovered in grace cannot be refunded before it was paid.
        let paid = life.facts.map(\.assertedAt).max() ?? now
        let refunded = max(now, paid) + .days(5)
        life.term("\(number)", from: now, to: end, signed: refunded, revoked: true)
        life.revoke("\(number)", at: refunded)
        life.outlook(end: end, signed: refunded, renews: false)
        truth.append((refunded, false))
        guard reversed else { return false }
        life.reverse("\(number)", at: refunded + .days(4))
        life.outlook(end: end, signed: refunded + .days(4), renews: true)
        truth.append((refunded + .days(4), true))
        renew(from: end, signed: end)
        return true
    }

    private mutating func failInGrace(
        recovering: Bool,
        _ random: inout SeededRandom
    ) -> Bool {
        let failed = end
        let grace = failed + .days(16)
        fail(at: failed, grace: grace)
        let back = failed + .days(Int64.random(in: 1...15, using: &random))
        if recovering {
            // Back-dated: the term starts at the old end, before the failure was announced.
            renew(from: failed, signed: back)
            return true
        }
        life.condition(.retry, notice: .graceExpired, end: failed, signed: grace)
        life.outlook(end: failed, signed: grace, retrying: true, grace: grace)
        truth.append((grace, false))
        return recoverLate(after: grace, ended: failed, &random)
    }

    private mutating func failWithoutGrace(_ random: inout SeededRandom) -> Bool {
        let failed = end
        fail(at: failed, grace: nil)
        truth.append((failed, false))
        return recoverLate(after: failed, ended: failed, &random)
    }

    /// Two words with the same date: they must not depend on the order we hear them in.
    private mutating func fail(at failed: Instant, grace: Instant?) {
        life.outlook(end: failed, signed: failed, retrying: true, grace: grace)
        life.condition(
            grace == nil ? .retry : .grace,
            notice: grace == nil ? .failedToRenew : .failedToRenewInGrace,
            end: failed,
            signed: failed
        )
    }

    private mutating func recoverLate(
        after over: Instant,
        ended: Instant,
        _ random: inout SeededRandom
    ) -> Bool {
        guard Bool.random(using: &random) else {
            life.outlook(
                end: ended,
                signed: ended + .days(60),
                renews: false,
                lapse: .billingError
            )
            life.condition(.expired, notice: .expired, end: ended, signed: ended + .days(60))
            return false
        }
        let back = over + .days(Int64.random(in: 1...30, using: &random))
        renew(from: back, signed: back)
        truth.append((back, true))
        return true
    }

    /// Whether the customer was entitled, by the store's own truth; nil before the first purchase.
    func wasEntitled(_ instant: Instant) -> Bool? {
        truth.filter { $0.from <= instant }.max { $0.from < $1.from }?.access
    }

    /// Every instant at which something happened, and the last millisecond before it.
    var probes: [Instant] {
        let instants = life.facts.flatMap { fact -> [Instant] in
            guard case .term(let term) = fact.assertion else { return [fact.assertedAt] }
            return [fact.assertedAt, term.start, term.end ?? term.start]
        }
        return Set(instants).sorted().flatMap { [$0.justBefore, $0, $0 + Milliseconds(1)] }
    }
}
