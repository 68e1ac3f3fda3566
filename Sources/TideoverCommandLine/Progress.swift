import TideoverLocks

/// Tells on standard error how far long work has come: one line redrawn on a terminal, elsewhere a
/// line every so often, and nothing at all when the work is short.
public final class Progress: Sendable {
    private let output: Output
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Locked<ProgressState>

    /// Progress of work that `label` names, such as "verifying"; `total` in the units of `advance`,
    /// nil when it is not known.
    public init(
        _ label: String,
        total: Int? = nil,
        on output: Output,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.output = output
        self.now = now
        state = Locked(
            ProgressState(
                label: label,
                total: total,
                start: now(),
                interval: output.messageTerminal.isInteractive ? .milliseconds(100) : .seconds(10)
            )
        )
    }

    /// Counts work as done.
    public func advance(by count: Int = 1) {
        guard let line = state.withLock({ $0.advanced(by: count, at: now()) }) else { return }
        if output.messageTerminal.isInteractive {
            output.showStatus(line)
        } else {
            output.message(line)
        }
    }

    /// Ends the telling: a redrawn line goes away, told lines get a last one.
    public func finish() {
        let last = state.withLock { $0.finished() }
        if output.messageTerminal.isInteractive {
            output.eraseStatus()
        } else if let last {
            output.message(last)
        }
    }
}

/// What was done and when it was last told.
struct ProgressState {
    let label: String
    let total: Int?
    let interval: Duration
    private var done = 0
    private var lastTold: ContinuousClock.Instant
    private var wasTold = false

    init(label: String, total: Int?, start: ContinuousClock.Instant, interval: Duration) {
        self.label = label
        self.total = total
        self.interval = interval
        lastTold = start
    }

    /// The line to tell, if it is time to tell one.
    mutating func advanced(by count: Int, at now: ContinuousClock.Instant) -> String? {
        done += count
        guard now - lastTold >= interval else { return nil }
        lastTold = now
        wasTold = true
        return line
    }

    /// The last line, if any was told before.
    mutating func finished() -> String? {
        defer { wasTold = false }
        return wasTold ? line : nil
    }

    var line: String {
        guard let total, total > 0 else { return "\(label): \(done)" }
        return "\(label): \(done) of \(total) (\(min(100, done * 100 / total)) %)"
    }
}
