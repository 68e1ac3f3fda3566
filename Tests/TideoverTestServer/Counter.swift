import Synchronization

/// Counts from one.
final class Counter: Sendable {
    private let latest = Atomic<Int64>(0)

    func next() -> Int64 { latest.wrappingAdd(1, ordering: .relaxed).newValue }
}
