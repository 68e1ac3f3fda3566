import TideoverCore
import TideoverDashboard
import TideoverSandbox

@testable import tideover

/// Sixty days of anna, with every kind of phase, and of ben, with one bad day; written by hand.
enum SampleRehearsalReport {
    static func day(_ number: Int64) -> Instant {
        // 1 January 2026.
        Instant(millisecondsSince1970: 1_767_225_600_000) + .days(number)
    }

    /// Creates consecutive stretches, each from its value and the day on which it ends.
    static func intervals<Value>(_ parts: [(Value, Int64)]) -> [ValueInterval<Value>] {
        zip([0] + parts.map(\.1), parts).map { start, part in
            ValueInterval(value: part.0, from: day(start), until: day(part.1))
        }
    }

    static let anna = CustomerTrack(
        name: "anna",
        note: "meets it all",
        person: "t-anna",
        stores: .appStore,
        phases: intervals([
            (.never, 10), (.trial, 14), (.active, 34), (.grace, 44), (.hold, 50), (.refunded, 54),
            (.ended, 60),
        ]),
        mistakes: [
            ValueInterval(value: .lockedOut, from: day(34), until: day(44)),
            ValueInterval(value: .servedUnpaid, from: day(50), until: day(54)),
        ],
        savedInGrace: 0,
        savedFromHold: 1
    )

    static let ben = CustomerTrack(
        name: "ben",
        note: nil,
        person: "t-ben",
        stores: .googlePlay,
        phases: intervals([(.active, 30), (.grace, 31), (.active, 40), (.paused, 60)]),
        mistakes: [ValueInterval(value: .lockedOut, from: day(30), until: day(31))],
        savedInGrace: 1,
        savedFromHold: 0
    )

    static let whole = RehearsalReport(
        name: "Two <lives> & \"more\"",
        from: day(0),
        until: day(60),
        tracks: [anna, ben],
        messages: 12,
        answers: 20,
        wrongAnswers: 0,
        took: .milliseconds(1260)
    )
}
