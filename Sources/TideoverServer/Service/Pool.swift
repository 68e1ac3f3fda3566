/// Runs long work on a thread of Swift's own pool, or of the executor on which the task runs.
///
/// Marking a function `@concurrent` is not enough. The thread that reads sockets starts a request's
/// task itself and without an actor, as the pool does. The runtime therefore sees no need to
/// switch, and stays on that thread. Yielding is not enough either: if the pool is quick, it
/// resumes the task before it has stopped, and the task stays as well. A child task always starts
/// in the pool.
package func onPool<Answer: Sendable>(
    _ work: @escaping @Sendable () throws -> Answer
) async throws -> Answer {
    async let answer = work()
    return try await answer
}
