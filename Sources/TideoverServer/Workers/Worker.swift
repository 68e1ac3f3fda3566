package import TideoverCore

/// A task of the server that works in rounds, with a pause after each, until it is cancelled.
package struct Worker: Sendable {
    /// The kind of work, which is the label of metrics.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case announcements, backfills, clock, consumption, counts, deadlines, experiments, figures
        case pulls, replays, retention, revocation, silences, webhooks
        case otherServers = "other-servers"
        case playPolls = "play-polls"
    }

    /// The work of one worker; no two workers of a server have the same.
    package struct ID: Hashable, Sendable {
        package let kind: Kind
        package var app: String?
        package var environment: Environment?
        package var store: Store?
    }

    package let id: ID
    /// Works until it is cancelled. Each call of the given function ends a round, pauses, and throws
    /// on cancellation. It ends otherwise only by an error.
    let run: @Sendable (Sleep) async throws -> Void
    /// The longest pause after failures.
    let longestPause: Duration

    package init(
        _ kind: Kind,
        app: String? = nil,
        environment: Environment? = nil,
        store: Store? = nil,
        longestPause: Duration = .seconds(60),
        run: @escaping @Sendable (Sleep) async throws -> Void
    ) {
        id = ID(kind: kind, app: app, environment: environment, store: store)
        self.longestPause = longestPause
        self.run = run
    }

    /// Creates a worker with the same pause after each round. A round once an hour may read all
    /// purchases, so after failures it is not repeated each minute for long.
    package init(
        _ kind: Kind,
        app: String? = nil,
        environment: Environment? = nil,
        store: Store? = nil,
        every pause: Duration,
        round: @escaping @Sendable () async throws -> Void
    ) {
        self.init(
            kind,
            app: app,
            environment: environment,
            store: store,
            longestPause: max(.seconds(60), pause)
        ) { sleep in
            while true {
                try await round()
                try await sleep(pause)
            }
        }
    }
}

extension Worker.Kind {
    /// How long a round may take, in nanoseconds, until the worker counts as stuck: several times
    /// as long as a round of a large app takes.
    package var longestRound: Int64 {
        let minute: Int64 = 60_000_000_000
        return switch self {
        case .announcements, .clock, .counts, .deadlines, .otherServers, .webhooks: 5 * minute
        // They read all purchases, or wait for a store.
        case .consumption, .experiments, .figures, .playPolls, .pulls, .retention, .revocation,
            .silences:
            60 * minute
        // A run reads all that the store or the storage has.
        case .backfills, .replays: 24 * 60 * minute
        }
    }
}
