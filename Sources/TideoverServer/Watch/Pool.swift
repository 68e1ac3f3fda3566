/// Runs long work on a thread of Swift's own pool.
///
/// To mark a function `@concurrent` is not enough. The thread that reads sockets starts a request's
/// task itself and without an actor, as the pool does; so the runtime sees nothing to switch to, and
/// stays. Nor is it enough to yield: if the pool is quick, the task is told to go on before it has
/// stopped, and stays as well. A child task begins in the pool whatever happens.
package func onPool<Answer: Sendable>(
    _ work: @escaping @Sendable () throws -> Answer
) async throws -> Answer {
    async let answer = work()
    return try await answer
}
