import TideoverLocks

/// Reports the progress of long work on standard error. It redraws one line on a terminal, and
/// writes a line at intervals elsewhere. Short work reports nothing.
package final class Progress: Sendable {
    private let output: Output
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Locked<ProgressState>

    /// Creates the progress of the work `label`, such as "verifying". `total` has the units of
    /// `advance`; nil if unknown.
    package init(
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

    /// Adds completed work.
    package func advance(by count: Int = 1) {
        guard let line = state.withLock({ $0.advanced(by: count, at: now()) }) else { return }
        if output.messageTerminal.isInteractive {
            output.showStatus(line)
        } else {
            output.message(line)
        }
    }

    /// Ends the reports. Removes a redrawn line, or writes a last line after earlier ones.
    package func finish() {
        let last = state.withLock { $0.finished() }
        if output.messageTerminal.isInteractive {
            output.eraseStatus()
        } else if let last {
            output.message(last)
        }
    }
}

extension Progress {
    /// Counts the seconds of work of unknown length.
    ///
    /// - Parameters:
    ///   - label: The work, such as "waiting".
    ///   - output: Its standard error receives the reports.
    ///   - second: The pause between two counts.
    ///   - work: The work.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work.
    package static func timing<Result>(
        _ label: String,
        on output: Output,
        every second: Duration = .seconds(1),
        _ work: () async throws -> Result
    ) async throws -> Result {
        let progress = Progress("\(label), seconds", on: output)
        let ticks = Task {
            while (try? await Task.sleep(for: second)) != nil { progress.advance() }
        }
        do {
            let result = try await work()
            await end(ticks, of: progress)
            return result
        } catch {
            await end(ticks, of: progress)
            throw error
        }
    }

    /// A count after the end would leave its line on the terminal.
    private static func end(_ ticks: Task<Void, Never>, of progress: Progress) async {
        ticks.cancel()
        await ticks.value
        progress.finish()
    }
}

/// The completed work, and the time of the last report.
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

    /// Returns the next line if it is due.
    mutating func advanced(by count: Int, at now: ContinuousClock.Instant) -> String? {
        done += count
        guard now - lastTold >= interval else { return nil }
        lastTold = now
        wasTold = true
        return line
    }

    /// Returns the last line if any was reported before.
    mutating func finished() -> String? {
        defer { wasTold = false }
        return wasTold ? line : nil
    }

    var line: String {
        guard let total, total > 0 else { return "\(label): \(done)" }
        return "\(label): \(done) of \(total) (\(min(100, done * 100 / total)) %)"
    }
}
