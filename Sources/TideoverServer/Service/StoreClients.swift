import TideoverAppStore
import TideoverCore
import TideoverStorage

/// The clients that ask the stores about the apps, for each app and environment with access.
struct StoreClients: Sendable {
    /// Those of the App Store.
    let backfillers: [Backfiller]
    /// Those of Google Play.
    let pollers: [PlayPoller]

    /// Creates the clients of the apps' environments that have access to a store.
    ///
    /// - Throws: `StorageError` if the progress of an earlier backfill or poll cannot be read.
    init(
        _ contexts: [AppContext],
        _ access: [String: [StoreAccess]],
        _ pollQueues: PollQueues,
        timing: Timing
    ) throws(StorageError) {
        var backfillers: [Backfiller] = []
        var pollers: [PlayPoller] = []
        for context in contexts {
            let app = context.app
            for environment in app.environments {
                guard let queue = pollQueues[app.id, environment] else { continue }
                let poller = try PlayPoller(environment, queue, context: context, timing: timing)
                if let poller { pollers.append(poller) }
            }
            guard let trust = app.appStore else { continue }
            for access in access[app.id] ?? [] where app.environments.contains(access.environment) {
                backfillers.append(try Backfiller(access, trust, context: context, timing: timing))
            }
        }
        self.backfillers = backfillers
        self.pollers = pollers
    }

    /// Asks the store about a purchase without waiting for a notification.
    @discardableResult
    func askAtOnce(
        about lineage: Lineage,
        _ app: String,
        _ environment: Environment
    ) async throws -> UrgentOutcome {
        if lineage.store == .googlePlay {
            try await pollers.first(app, environment)?.askAtOnce(about: lineage) ?? .notConfigured
        } else {
            try await backfillers.first(app, environment)?.askAtOnce(about: lineage)
                ?? .notConfigured
        }
    }

    /// Returns the books of an app's backfills in an environment.
    func books(_ app: String, _ environment: Environment) -> [BackfillBook] {
        [backfillers.first(app, environment)?.book, pollers.first(app, environment)?.book]
            .compactMap(\.self)
    }
}

extension [Backfiller] {
    func first(_ app: String, _ environment: Environment) -> Backfiller? {
        first { $0.app.id == app && $0.environment == environment }
    }
}

extension [PlayPoller] {
    func first(_ app: String, _ environment: Environment) -> PlayPoller? {
        first { $0.app.id == app && $0.environment == environment }
    }
}
