import TideoverCore
import TideoverGooglePlay
import TideoverHTTP

/// Pulls the notifications of Google Play for one app that cannot receive pushes. They are
/// processed like pushes, with the same evidence and dedupe keys. A message is acknowledged once it
/// is stored; otherwise it is delivered again.
struct PlayPuller: Sendable {
    let context: AppContext
    let trust: PlayTrust
    let pubSub: PubSubAPI
    let pollers: [PlayPoller]
    let refusals: RefusalLog

    private var app: App { context.app }

    /// The number of messages processed at once.
    private static let batch = 16

    /// The pause after an empty pull.
    private static let rest = Duration.seconds(1)

    /// The action for a message at Pub/Sub.
    private enum Verdict: Hashable, Sendable {
        case done
        case again(Milliseconds)
    }

    var worker: Worker {
        Worker(.pulls, app: app.id, store: .googlePlay) { sleep in
            while true { try await sleep(try await pull() ? .zero : Self.rest) }
        }
    }

    /// Pulls once; false if there were no messages.
    ///
    /// - Throws: `PubSubFailure` or `CancellationError`.
    private func pull() async throws -> Bool {
        let messages = try await pubSub.pull(atMost: Self.batch)
        guard !messages.isEmpty else { return false }
        try await settle(await take(messages))
        return true
    }

    // MARK: Processing

    private func take(_ messages: [PulledMessage]) async -> [(ackId: String, verdict: Verdict)] {
        await withTaskGroup(of: (String, Verdict).self) { group in
            for message in messages {
                group.addTask { (message.ackId, await take(message)) }
            }
            return await group.reduce(into: []) { $0.append(($1.0, $1.1)) }
        }
    }

    private func take(_ pulled: PulledMessage) async -> Verdict {
        do {
            let message = try PlayIntake.Message(
                try pulled.message.get(),
                trust,
                at: context.clock()
            )
            let commitRequest = PlayIntake(context: context, trust: trust, pollers: pollers)
            _ = try await commitRequest.take(message)
            return .done
        } catch {
            guard let problem = error as? Problem ?? (error as? any Refusal)?.problem else {
                context.failed()
                return .again(.seconds(10))
            }
            context.refused(problem.slug)
            note(problem, error as? any Refusal)
            return .again(wait(after: problem))
        }
    }

    /// Logs why a message is not processed. A push has the line of its request for this.
    private func note(_ problem: Problem, _ refusal: (any Refusal)?) {
        guard refusals.admits(problem.slug, app: app.id) else { return }
        context.log(
            LogLine(
                problem.status >= 500 ? .error : .warning,
                "pulled message not processed",
                app: app.id,
                code: problem.slug,
                detail: refusal?.logged
            )
        )
    }

    /// Returns the delay until the message is delivered again. A rejected message stays invalid;
    /// the subscription's own rules apply to it.
    private func wait(after problem: Problem) -> Milliseconds {
        guard problem.status >= 500 else { return PubSubAPI.longestDelay }
        return min(.seconds(Int64(problem.retryAfter ?? 10)), PubSubAPI.longestDelay)
    }

    private func settle(_ verdicts: [(ackId: String, verdict: Verdict)]) async throws {
        var done: [String] = []
        var again: [Milliseconds: [String]] = [:]
        for (ackId, verdict) in verdicts {
            switch verdict {
            case .done: done.append(ackId)
            case .again(let wait): again[wait, default: []].append(ackId)
            }
        }
        try await pubSub.acknowledge(done)
        for (wait, ackIds) in again { try await pubSub.putOff(ackIds, by: wait) }
    }
}

extension Service {
    /// Those of the apps that are configured to pull.
    var pullers: [PlayPuller] {
        contexts.values.compactMap { context in
            guard let trust = context.app.googlePlay, let pubSub = trust.pubSub else { return nil }
            return PlayPuller(
                context: context,
                trust: trust,
                pubSub: pubSub,
                pollers: clients.pollers,
                refusals: refusals
            )
        }
    }
}
