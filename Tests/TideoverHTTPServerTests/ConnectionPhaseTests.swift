import Testing
import TideoverHTTPServer

@Suite struct ConnectionPhaseTests {
    private static let start = ContinuousClock.now

    @Test(arguments: [
        (ConnectionPhase.Kind.idle, 60), (.head, 10), (.body, 15), (.replying, 60), (.joining, 5),
    ])
    func `each wait has its limit`(kind: ConnectionPhase.Kind, seconds: Int) {
        let phase = ConnectionPhase(kind, at: Self.start)
        let limit = Self.start + .seconds(seconds)
        #expect(!phase.isOverdue(at: limit, HTTPServerLimits()))
        #expect(phase.isOverdue(at: limit + .nanoseconds(1), HTTPServerLimits()))
    }

    @Test(arguments: [ConnectionPhase.Kind.answering, .closing])
    func `a handler's time is its own`(kind: ConnectionPhase.Kind) {
        let phase = ConnectionPhase(kind, at: Self.start)
        #expect(!phase.isOverdue(at: Self.start + .seconds(1_000_000), HTTPServerLimits()))
    }
}
