/// Runs long work on a thread of Swift's own pool.
///
/// To mark a function `@concurrent` is not enough. The thread that reads sockets starts a request's
/// task itself and without an actor, as the pool does; so the runtime sees nothing to switch to, and
/// stays. A task that has yielded goes on in the pool.
@concurrent
package func onPool<Answer: Sendable>(
    _ work: @Sendable () throws -> Answer
) async throws -> Answer {
    await Task.yield()
    return try work()
}
