import TideoverLocks

/// Runs the due work of one poller.
struct PlayPollWorker: Sendable {
    let poller: PlayPoller
    /// Whether all purchases are scheduled, which a restart need not repeat.
    private let hasBegun = Locked(false)

    init(poller: PlayPoller) { self.poller = poller }

    /// The interval of the checks for due work.
    private static let look = Duration.seconds(1)

    var worker: Worker {
        Worker(.playPolls, app: poller.app.id, environment: poller.environment) { sleep in
            if !hasBegun.withLock({ $0 }) {
                try await poller.begin()
                hasBegun.withLock { $0 = true }
            }
            while true { try await sleep(try await poller.look() ? .zero : Self.look) }
        }
    }
}
