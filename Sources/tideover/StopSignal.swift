import Dispatch
import Glibc
import Synchronization

/// SIGTERM and SIGINT, taken as a wish to stop instead of an end.
enum StopSignal {
    /// Returns when one of them arrives; until then both no longer end the process.
    static func arrival() async {
        let sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        let isWaiting = Atomic(true)
        await withCheckedContinuation { continuation in
            for source in sources {
                source.setEventHandler {
                    let isFirst = isWaiting.exchange(false, ordering: .relaxed)
                    if isFirst { continuation.resume() }
                }
                source.resume()
            }
        }
        for source in sources { source.cancel() }
    }
}
