package import TideoverCore

/// The id of an event: a UUID of version 7 (RFC 9562), made by the server and not by the database.
///
/// Ids of one app rise in the order of the commits, as numbers and as text.
package struct EventID: Hashable, Sendable, Comparable {
    private let high: UInt64
    private let low: UInt64

    /// Returns the id after the app's latest one, however the clock moved since. It includes 62
    /// bits of `random`, so that ids cannot be guessed.
    package static func next(after latest: EventID?, at now: Instant, random: UInt64) -> EventID {
        let range = 0...Int64(maximumMilliseconds)
        let clock = UInt64(min(max(now.millisecondsSince1970, range.lowerBound), range.upperBound))
        guard let latest, latest.milliseconds >= clock else {
            return EventID(milliseconds: clock, counter: 0, random: random)
        }
        guard latest.counter < maximumCounter else {
            return EventID(milliseconds: latest.milliseconds + 1, counter: 0, random: random)
        }
        return EventID(
            milliseconds: latest.milliseconds,
            counter: latest.counter + 1,
            random: random
        )
    }

    /// Precedes every id made at an instant or later, if the clock was never set back.
    package static func earliest(at instant: Instant) -> EventID {
        let clock = min(max(instant.millisecondsSince1970, 0), Int64(maximumMilliseconds))
        return EventID(milliseconds: UInt64(clock), counter: 0, random: 0)
    }

    /// The greatest id before this one, so that events after it begin with this one; itself if there
    /// is none.
    package var predecessor: EventID {
        guard low <= 1 << 63 else { return EventID(high: high, low: low - 1) }
        return high > 0 ? EventID(high: high - 1, low: .max) : self
    }

    /// The smallest id after this one; itself if there is none.
    package var successor: EventID {
        guard low == .max else { return EventID(high: high, low: low + 1) }
        return high < .max ? EventID(high: high + 1, low: 1 << 63) : self
    }

    /// Whether further ids can be made after this one.
    package var isCountable: Bool { milliseconds <= Self.maximumMilliseconds }

    /// A number that rises with the ids of an app: JavaScript reads it exactly until 2089.
    package var sequence: Int64 {
        (Int64(milliseconds) - Self.sequenceStart) << 12 | Int64(counter)
    }

    /// 2020-01-01T00:00:00Z.
    private static let sequenceStart: Int64 = 1_577_836_800_000

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Half of the range of 48 bits (the year 6429), so that counting never overflows.
    private static let maximumMilliseconds: UInt64 = 1 << 47
    private static let maximumCounter: UInt64 = 0xFFF

    private init(milliseconds: UInt64, counter: UInt64, random: UInt64) {
        high = milliseconds << 16 | 0x7000 | counter
        low = 1 << 63 | random >> 2
    }

    private var milliseconds: UInt64 { high >> 16 }
    private var counter: UInt64 { high & Self.maximumCounter }

    package static func < (a: EventID, b: EventID) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension EventID: FormText {
    package init?(formText: String) { self.init(formText) }

    package var formText: String { description }
}

extension EventID: CustomStringConvertible {
    /// Parses a UUID in lower case; nil for any other text.
    package init?(_ text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = groups.joined()
        guard digits.utf8.allSatisfy({ Self.digits.contains($0) }),
            let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.dropFirst(16), radix: 16)
        else { return nil }
        self.high = high
        self.low = low
    }

    package var description: String {
        String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let half = digit < 16 ? high : low
                text[place] = Self.digits[Int(half >> UInt64(60 - digit % 16 * 4) & 0xF)]
                place += 1
            }
            return place
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
