import Synchronization
import TideoverLocks

/// A fixed number of slots for concurrent work, each with separate state.
///
/// There are two uses. libcrypto contexts are not thread-safe, so each lane keeps one. Expensive
/// work is limited to as many threads as there are lanes. A caller that finds every lane busy waits
/// for one; a lane is occupied only while its body runs.
package final class ObjectPool<State: ~Copyable>: Sendable {
    private let objects: [Locked<State>]
    private let turn = Atomic<Int>(0)

    /// Creates `count` lanes, at least one, each with a state from `make`.
    package init(count: Int, _ make: () -> sending State) {
        precondition(count > 0, "work without a lane would never be done")
        objects = (0..<count).map { _ in Locked(make()) }
    }

    /// Runs `body` alone in the first free lane, so that few threads share warm state.
    package func withOne<Answer, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Answer
    ) throws(Failure) -> sending Answer {
        for object in objects {
            if let answer = try object.withLockIfAvailable(body) {
                return answer
            }
        }
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return try objects[Int(turn.magnitude % UInt(objects.count))].withLock(body)
    }
}
