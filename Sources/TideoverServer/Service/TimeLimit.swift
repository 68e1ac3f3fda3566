/// Returns the result of some work, or nil if it has none by an instant. Its task is then cancelled,
/// and awaited.
///
/// The time is the real one, also where a test moves the clocks: it bounds how long a client waits.
func result<Value: Sendable>(
    by deadline: ContinuousClock.Instant,
    of work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(until: deadline, clock: .continuous)
            return nil
        }
        return try await group.next() ?? nil
    }
}
