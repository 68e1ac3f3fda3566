import TideoverCore
import TideoverLocks
import TideoverStorage

/// Runs the replays of one app in one environment, one at a time. They run in the background,
/// because a replay of a large storage takes longer than a request may.
///
/// After each page it stores its progress. After a restart a run that adds facts resumes after its
/// last page. A run that only reports starts again, because its findings are lost. A run that ended
/// the process twice at one place is set aside: the server raises an alarm and resumes it only on
/// request. While another server on the storage runs a replay, this one waits.
final class Replayer: Sendable {
    let environment: Environment
    private let context: AppContext
    /// The program's version; another version must read all evidence again.
    private let version: String
    private let cursors: Cursors
    /// Returns the servers on the storage; nil if there can be only one, or before they are known.
    private let servers: @Sendable () -> ServersReading?
    private let state = Locked(State())

    private struct State {
        var report: ReplayReport?
        /// Whether the requested run adds new facts; nil if no run is requested.
        var wish: Bool?
        /// Whether the server set a run aside at startup.
        var isSetAside = false
    }

    init(
        _ environment: Environment,
        context: AppContext,
        version: String,
        servers: @escaping @Sendable () -> ServersReading?
    ) {
        self.environment = environment
        self.context = context
        self.version = version
        self.servers = servers
        cursors = context.cursors(in: environment)
    }

    var app: App { context.app }

    // MARK: State

    /// The current run, or the last one since the process started.
    var report: ReplayReport? { state.withLock { $0.report } }

    var isWanted: Bool { state.withLock { $0.wish != nil } }

    /// Whether a run that crashed twice is waiting for a request to resume it.
    var isSetAside: Bool { state.withLock { $0.isSetAside } }

    /// Requests a run. Has no effect if a run of the same kind is in progress.
    func want(apply: Bool) {
        state.withLock { state in
            guard state.report?.outcome != .running || state.report?.applies != apply else {
                return
            }
            state.wish = apply
        }
    }

    // MARK: Runs

    /// Runs requested replays, and one that an earlier server did not complete.
    var worker: Worker {
        Worker(.replays, app: app.id, environment: environment) { sleep in
            var hasTakenUp = false
            while true {
                if self.isWanted || !hasTakenUp, try !self.isRunningElsewhere() {
                    if !hasTakenUp { try self.takeUp() }
                    hasTakenUp = true
                    if let apply = self.state.withLock({ $0.wish }) {
                        // Another server can begin at the same time; then look for its run again.
                        hasTakenUp = await self.run(apply: apply, isKept: true) != nil
                    }
                }
                try await sleep(.seconds(1))
            }
        }
    }

    /// Returns whether another server on the storage runs a replay. Before the servers are known,
    /// one that began it counts as running.
    private func isRunningElsewhere() throws(StorageError) -> Bool {
        guard let server = try cursors.replay()?.server else { return false }
        guard let servers = servers() else { return try context.storage.sharedChanges() != nil }
        return servers.others.contains(server)
    }

    /// Requests the run that an earlier server did not complete.
    private func takeUp() throws(StorageError) {
        guard let mark = try cursors.replay() else { return }
        guard !mark.isSetAside(by: version) else { return setAside(mark) }
        want(apply: mark.applies)
    }

    private func setAside(_ mark: ReplayBookmark) {
        state.withLock { $0.isSetAside = true }
        tell(
            .error,
            "replay set aside",
            code: "crashed",
            "The server ended \(mark.runs) times while it replayed this evidence. Report the crash, "
                + "or request the replay again to resume it."
        )
    }

    /// Runs once; returns nil if a run is in progress, or if another server began one. With
    /// `isKept` the run resumes after a restart.
    func run(apply: Bool, isKept: Bool) async -> ReplayReport? {
        do {
            let stored = isKept ? try cursors.storedReplay() : Stored()
            let mark = stored.value
            let place = mark.flatMap { $0.goesOn(apply: apply, version) ? $0.after : nil }
            guard let report = begin(apply, isResumed: place != nil) else { return nil }
            let former = mark.map { $0.applies == apply && $0.version == version ? $0.runs : 0 }
            let runs = (former ?? 0) + 1
            let next = self.mark(report, place, runs: runs)
            if isKept, try await !cursors.replace(stored, by: next) {
                state.withLock { $0.report = nil }
                return nil
            }
            let done = try await replay(report, after: place, runs: runs, isKept)
            if isKept { try await cursors.keep(nil as ReplayBookmark?) }
            return end(done, .completed)
        } catch {
            if isKept { await forgetRuns() }
            return end(report, .stopped(stop(for: error)))
        }
    }

    /// Records that a run stopped with an error, which is not a crash, and that this server runs it
    /// no more. If the storage fails, the stop counts as a crash.
    private func forgetRuns() async {
        // Another server may have continued it.
        guard var mark = try? cursors.replay(),
            mark.server == nil || mark.server == servers()?.id
        else { return }
        mark.runs = 0
        mark.server = nil
        do {
            try await cursors.keep(mark)
        } catch {
            tell(.warning, "replay's stop not stored", code: "storage", error.description)
        }
    }

    private func replay(
        _ report: ReplayReport,
        after start: EvidenceID?,
        runs: Int,
        _ isKept: Bool
    ) async throws -> ReplayReport {
        let replay = Replay(context: context, environment: environment, apply: report.applies)
        return try await replay.run(report, after: start) { report, place in
            state.withLock { $0.report = report }
            // Only a run that adds facts advances. At a new place the count of crashes starts
            // again.
            let isNew = report.applies && place != start
            if isKept { try await cursors.keep(mark(report, place, runs: isNew ? 1 : runs)) }
        }
    }

    private func mark(
        _ report: ReplayReport,
        _ place: EvidenceID?,
        runs: Int
    ) -> ReplayBookmark {
        ReplayBookmark(
            applies: report.applies,
            // The findings of a run that only reports are lost on restart: it has no resume point.
            after: report.applies ? place : nil,
            version: version,
            runs: runs,
            server: servers()?.id
        )
    }

    private func begin(_ apply: Bool, isResumed: Bool) -> ReplayReport? {
        let now = context.clock()
        return state.withLock { state in
            guard state.report?.outcome != .running else { return nil }
            state.wish = nil
            state.isSetAside = false
            state.report = ReplayReport(
                app: app.id,
                environment: environment,
                applies: apply,
                startedAt: now,
                isResumed: isResumed
            )
            return state.report
        }
    }

    private func end(
        _ report: ReplayReport?,
        _ outcome: ReplayReport.Outcome
    ) -> ReplayReport? {
        guard var report else { return nil }
        report.outcome = outcome
        report.endedAt = context.clock()
        state.withLock { $0.report = report }
        if case .stopped(let stop) = outcome {
            tell(.warning, "replay stopped", code: stop.code, stop.sentence)
        } else {
            let detail = "evidence \(report.evidence), new facts \(report.added.count)"
            tell(.info, "replay completed", code: nil, detail)
        }
        return report
    }

    private func stop(for error: any Error) -> ReplayReport.Stop {
        switch error {
        case let error as StorageError: .init(code: "storage", sentence: error.description)
        case is CancellationError: .init(code: "cancelled", sentence: "The server stops.")
        default: .init(code: "internal", sentence: String(reflecting: type(of: error)))
        }
    }

    private func tell(_ level: LogLine.Level, _ event: String, code: String?, _ detail: String) {
        context.log(
            level,
            event,
            in: environment,
            code: code,
            detail: detail
        )
    }
}
