import Synchronization
import TideoverLocks

/// A fixed number of places where work may go on at the same time, each with state of its own.
///
/// Two uses: libcrypto contexts are not safe for two threads at once, so each lane keeps one; and
/// costly work is kept to as many threads as there are lanes. Whoever finds every lane busy waits
/// for one of them; a lane is held only while its body runs, so the wait ends when that body does.
package final class Lanes<State: ~Copyable>: Sendable {
    private let lanes: [Locked<State>]
    private let turn = Atomic<Int>(0)

    /// `count` lanes, at least one, each with the state that `make` returns.
    package init(count: Int, _ make: () -> sending State) {
        precondition(count > 0, "work without a lane would never be done")
        lanes = (0..<count).map { _ in Locked(make()) }
    }

    /// Runs `body` alone in one lane: the first free one, so that few threads share warm state.
    package func withOne<Answer, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Answer
    ) throws(Failure) -> sending Answer {
        for lane in lanes {
            if let answer = try lane.withLockIfAvailable(body) {
                return answer
            }
        }
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return try lanes[Int(turn.magnitude % UInt(lanes.count))].withLock(body)
    }
}
