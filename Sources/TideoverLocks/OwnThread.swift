import Glibc

/// Runs `body` on a new thread, which ends with it.
///
/// - Parameters:
///   - niceness: How far the thread stands back behind others for a processor, from 0 to 19.
///   - body: What it runs.
/// - Returns: 0, or the `errno` for which the system started none; `body` then never runs.
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

/// Carries what a thread runs into it.
private final class ThreadBody {
    private let niceness: Int32
    private let run: @Sendable () -> Void

    init(niceness: Int32, run: @escaping @Sendable () -> Void) {
        self.niceness = niceness
        self.run = run
    }

    func start() {
        // On Linux 0 is the calling thread, not the process. Where it is refused, the thread still
        // works, only less politely.
        if niceness > 0 { setpriority(Int32(PRIO_PROCESS.rawValue), 0, niceness) }
        run()
    }
}
