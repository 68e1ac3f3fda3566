import Glibc

/// Runs `body` on a new thread, which ends with it.
///
/// - Parameters:
///   - niceness: The scheduling niceness of the thread, from 0 to 19.
///   - body: The work of the thread.
/// - Returns: 0, or the `errno` of a failed start; `body` then never runs.
package func startThread(niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void) -> Int32 {
    let box = Unmanaged.passRetained(ThreadBody(niceness: niceness, run: body))
    var thread = pthread_t()
    let code = pthread_create(
        &thread,
        nil,
        { context in
            guard let context else { return nil }
            Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().start()
            return nil
        },
        box.toOpaque()
    )
    guard code == 0 else {
        box.release()
        return code
    }
    pthread_detach(thread)
    return 0
}

/// Transfers the body to its thread.
private final class ThreadBody {
    private let niceness: Int32
    private let run: @Sendable () -> Void

    init(niceness: Int32, run: @escaping @Sendable () -> Void) {
        self.niceness = niceness
        self.run = run
    }

    func start() {
        // On Linux 0 is the calling thread, not the process. If the call fails, the thread still
        // runs, at normal priority.
        if niceness > 0 { setpriority(Int32(PRIO_PROCESS.rawValue), 0, niceness) }
        run()
    }
}
