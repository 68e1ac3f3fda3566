import TideoverCore
import TideoverLives

/// Lives of a known shape for measurements.
enum Subscriptions {
    private static let start = Instant(millisecondsSince1970: 1_577_836_800_000)
    private static let month = Period(months: 1)

    /// A subscription with a monthly renewal of three facts each. One payment a year fails, and
    /// recovers in grace on the fifth day.
    static func monthly(months: Int) -> Life {
        var life = Life("monthly")
        var begin = start
        for number in 1...max(1, months) {
            let end = begin + month
            let isRecovery = number % 12 == 0
            let said = isRecovery ? begin + .days(5) : begin
            if isRecovery { fail(begin, &life) }
            pay(number, from: begin, to: end, said: said, &life)
            begin = end
        }
        return life
    }

    /// A subscription of two months with a failed second payment. By its number it recovers in
    /// grace, recovers in retry, or ends.
    static func failing(number: Int) -> Life {
        var life = Life("\(number)")
        let begin = start + .minutes(Int64(number % 500_000))
        let end = begin + month
        pay(1, from: begin, to: end, said: begin, &life)
        fail(end, &life)
        switch number % 3 {
        case 0: pay(2, from: end, to: end + month, said: end + .days(Int64(1 + number % 15)), &life)
        case 1:
            let back = end + .days(Int64(20 + number % 39))
            pay(2, from: back, to: back + month, said: back, &life)
        default:
            life.outlook(end: end, signed: end + .days(60), renews: false, lapse: .billingError)
            life.condition(.expired, notice: .expired, end: end, signed: end + .days(60))
        }
        return life
    }

    /// A subscription with IDs as long as real ones: two months are paid, the next payment fails
    /// and recovers in grace, and then renewal is switched off.
    static var customer: Life {
        var life = Life("2000000123456789")
        let ends = (1...3).map { start + Period(months: $0) }
        message(of: &life) { pay(1, from: start, to: ends[0], said: start, &$0) }
        message(of: &life) { pay(2, from: ends[0], to: ends[1], said: ends[0], &$0) }
        message(of: &life) { fail(ends[1], &$0) }
        let recovery = ends[1] + .days(5)
        message(of: &life) { pay(3, from: ends[1], to: ends[2], said: recovery, &$0) }
        message(of: &life) { life in
            life.outlook(end: ends[2], signed: recovery + .days(2), renews: false)
        }
        return life
    }

    /// Adds the facts of one message. The ID of its evidence has the length of a real one.
    private static func message(of life: inout Life, _ body: (inout Life) -> Void) {
        let first = life.facts.count
        body(&life)
        let evidence = EvidenceID(
            hex: (0..<8).map { String(0x1000_0000 + first * 7_919 + $0, radix: 16) }.joined()
        )
        for position in first..<life.facts.count { life.facts[position].evidence = evidence }
    }

    private static func pay(
        _ number: Int,
        from begin: Instant,
        to end: Instant,
        said: Instant,
        _ life: inout Life
    ) {
        let origin: Term.Origin = number == 1 ? .purchase : .renewal
        life.term("\(number)", from: begin, to: end, signed: said, origin: origin)
        life.charge("9.99 USD")
        life.outlook(end: end, signed: said)
        life.condition(.active, end: end, signed: said)
    }

    private static func fail(_ end: Instant, _ life: inout Life) {
        life.outlook(end: end, signed: end, retrying: true, grace: end + .days(16))
        life.condition(.grace, notice: .failedToRenewInGrace, end: end, signed: end)
    }
}
