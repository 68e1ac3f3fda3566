import Testing
import TideoverHTTPServer

@Suite struct ConnectionPhaseTests {
    private static let start = ContinuousClock.now

    @Test(arguments: [
        (ConnectionPhase.Kind.idle, 60), (.head, 10), (.body, 15), (.replying, 60), (.joining, 5),
    ])
    func `each phase has its time limit`(kind: ConnectionPhase.Kind, seconds: Int) {
        let phase = ConnectionPhase(kind, at: Self.start)
        let limit = Self.start + .seconds(seconds)
        #expect(!phase.isOverdue(at: limit, HTTPServerLimits()))
        #expect(phase.isOverdue(at: limit + .nanoseconds(1), HTTPServerLimits()))
    }

    @Test(arguments: [ConnectionPhase.Kind.answering, .closing])
    func `a handler has no time limit`(kind: ConnectionPhase.Kind) {
        let phase = ConnectionPhase(kind, at: Self.start)
        #expect(!phase.isOverdue(at: Self.start + .seconds(1_000_000), HTTPServerLimits()))
    }

    @Test(arguments: [
        (ConnectionPhase.Kind.idle, 100 as Int?), (.head, 1_000), (.body, 1_000), (.joining, nil),
        (.answering, nil), (.replying, nil), (.closing, nil),
    ])
    func `a full server closes connections that wait for a client, after a moment`(
        kind: ConnectionPhase.Kind,
        milliseconds: Int?
    ) {
        let phase = ConnectionPhase(kind, at: Self.start)
        let first = Self.start + .milliseconds(milliseconds ?? 1_000_000_000)
        let moment = first - .nanoseconds(1)
        #expect(phase.evictionRank(at: moment, afterRefusal: false) == nil)
        #expect(
            (phase.evictionRank(at: first, afterRefusal: false) != nil) == (milliseconds != nil)
        )
        #expect(
            (phase.evictionRank(at: Self.start, afterRefusal: true) != nil) == (milliseconds != nil)
        )
    }

    @Test func `refused clients are closed first, then idle, then slow, the oldest first`() {
        let later = Self.start + .seconds(5)
        let phases = [
            ConnectionPhase(.idle, at: Self.start), ConnectionPhase(.idle, at: later),
            ConnectionPhase(.body, at: Self.start), ConnectionPhase(.head, at: later),
        ]
        let refused = ConnectionPhase(.head, at: later)
            .evictionRank(at: later, afterRefusal: true)
        let ranks =
            [refused].compactMap(\.self)
            + phases.compactMap {
                $0.evictionRank(at: later + .seconds(5), afterRefusal: false)
            }
        #expect(ranks.count == 5)
        #expect(ranks == ranks.sorted())
    }
}
