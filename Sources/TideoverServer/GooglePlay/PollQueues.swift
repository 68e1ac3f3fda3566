import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// The agendas of all apps and environments with access to Google Play.
struct PollQueues: Sendable {
    private struct Place: Hashable {
        let app: String
        let environment: Environment
    }

    private let pollQueues: [Place: PollQueue]

    init(of apps: [App]) {
        var pollQueues: [Place: PollQueue] = [:]
        for app in apps {
            for environment in app.environments where app.canAskGooglePlay(in: environment) {
                pollQueues[Place(app: app.id, environment: environment)] = PollQueue()
            }
        }
        self.pollQueues = pollQueues
    }

    subscript(_ app: String, _ environment: Environment) -> PollQueue? {
        pollQueues[Place(app: app, environment: environment)]
    }

    /// Marks the lineages of a commit, so that their plans are computed again, and the owners that
    /// follow from theirs.
    func note(_ commitRequest: CommitRequest) {
        guard let pollQueue = self[commitRequest.app, commitRequest.environment] else { return }
        let claimed = commitRequest.ownership?.claims.map(\.lineage) ?? []
        for lineage in Set(commitRequest.facts.map(\.lineage) + claimed)
        where lineage.store == .googlePlay {
            pollQueue.note(lineage)
        }
    }
}

extension App {
    /// Returns whether Google Play has purchases in an environment and can be queried about them.
    fileprivate func canAskGooglePlay(in environment: Environment) -> Bool {
        guard let trust = googlePlay, trust.api != nil else { return false }
        return trust.identity.environments.contains(environment)
            && trust.identity.isSimulated == (environment == .simulated)
    }
}
