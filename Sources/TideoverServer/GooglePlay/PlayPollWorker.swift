import TideoverCore
import TideoverStorage

/// Runs the due work of one poller until cancelled.
struct PlayPollWorker: Sendable {
    let poller: PlayPoller

    /// The interval of the checks for due work.
    private static let look = Duration.seconds(1)
    /// The pause after a storage failure.
    private static let rest = Duration.seconds(10)

    func run() async {
        let timing = poller.timing
        var hasBegun = false
        while !Task.isCancelled {
            var rest = Self.look
            do {
                if !hasBegun {
                    try await poller.begin()
                    hasBegun = true
                }
                while try await poller.look() { await Task.yield() }
            } catch {
                guard !Task.isCancelled else { return }
                tell(error)
                rest = Self.rest
            }
            do { try await timing.sleep(rest) } catch { return }
        }
    }

    private func tell(_ error: any Error) {
        poller.ingest.log(
            LogLine(
                .error,
                "Google Play is not kept up with",
                app: poller.app.id,
                environment: poller.environment,
                code: error is StorageError ? "storage" : "internal",
                detail: (error as? StorageError)?.description ?? "\(type(of: error))"
            )
        )
    }
}
