import TideoverCore
import TideoverStorage

/// The clients that ask the stores about the apps, for each app and environment with access.
struct StoreClients: Sendable {
    /// Those of the App Store.
    let backfillers: [Backfiller]
    /// Those of Google Play.
    let pollers: [PlayPoller]

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
