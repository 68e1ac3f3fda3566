import Testing
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox
import TideoverSignatures

/// The conversion of the store's time to another clock.
@Suite struct StoreTimeScaleTests {
    /// A month of the store takes three seconds, so that a millisecond is 14 min 24 s of it.
    private static let dial = StoreTimeScale(
        from: 1_000_000_000_000,
        at: 5_000_000_000,
        month: 3000
    )

    @Test func `a month takes the chosen time from the start on`() {
        #expect(Self.dial.shown(1_000_000_000_000) == 5_000_000_000)
        #expect(Self.dial.shown(1_000_000_000_000 + 30 * 86_400_000) == 5_000_003_000)
        #expect(Self.dial.shown(1_000_000_000_000 - 30 * 86_400_000) == 4_999_997_000)
        // 14 min 24 s are a millisecond; shorter times are not reached yet.
        #expect(Self.dial.shown(1_000_000_000_000 + 864_000) == 5_000_000_001)
        #expect(Self.dial.shown(1_000_000_000_000 + 863_999) == 5_000_000_000)
        #expect(Self.dial.shown(1_000_000_000_000 - 1) == 4_999_999_999)
    }

    @Test func `the first and the last instant of a displayed time differ`() {
        let third: Int64 = 5_000_000_003
        #expect(Self.dial.first(at: third) == 1_000_000_000_000 + 3 * 864_000)
        #expect(Self.dial.last(at: third) == 1_000_000_000_000 + 4 * 864_000 - 1)
    }

    @Test func `instants beyond the range are shown at its ends`() {
        let dial = StoreTimeScale(from: 0, at: 1_800_000_000_000, month: 1)
        #expect(dial.last(at: .min) == .min)
        #expect(dial.last(at: 0) == .min)
        #expect(dial.last(at: .max) == .max - 1)
    }

    @Test func `later instants are never shown earlier, and convert back exactly`() {
        var random = SeededRandom(seed: 11)
        let months: [Int64] = [1, 3000, 300_000, StoreTimeScale.month, 3 * StoreTimeScale.month]
        for _ in 0..<500 {
            let dial = StoreTimeScale(
                from: 1_000_000_000_000,
                at: 2_000_000_000_000,
                month: months[Int(random.number(in: 0...4))]
            )
            let one = random.number(in: 0...2_000_000_000_000)
            let other = one + random.number(in: 0...10_000_000_000)
            #expect(dial.shown(one) <= dial.shown(other))
            let shown = dial.shown(one)
            #expect(dial.first(at: shown) <= one && one <= dial.last(at: shown))
            #expect(dial.shown(dial.first(at: shown)) == shown)
            #expect(dial.shown(dial.last(at: shown)) == shown)
        }
    }

    @Test func `without a scale time is unchanged, and nothing overflows`() {
        for instant in [Int64.min, -1, 0, 1_777_629_600_123, .max] {
            #expect(StoreTimeScale.identity.shown(instant) == instant)
            #expect(StoreTimeScale.identity.first(at: instant) == instant)
            #expect(StoreTimeScale.identity.last(at: instant) == instant)
        }
        #expect(Self.dial.first(at: .max) == .max)
        #expect(Self.dial.shown(.min) < 0)
    }

    @Test func `only the instants of both stores are changed in documents`() {
        let written: JSONValue = [
            "expiresDate": 1_002_592_000_000, "price": 1_002_592_000_000,
            "eventTimeMillis": "1002592000000", "orderId": "1002592000000",
            "lineItems": [["expiryTime": "2001-10-09T01:46:40Z", "productId": "2001-10-09"]],
        ]
        #expect(
            Self.dial.dated(written) == [
                "expiresDate": 5_000_003_000, "price": 1_002_592_000_000,
                "eventTimeMillis": "5000003000", "orderId": "1002592000000",
                "lineItems": [
                    ["expiryTime": "1970-02-27T20:53:23.000Z", "productId": "2001-10-09"]
                ],
            ]
        )
    }
}
