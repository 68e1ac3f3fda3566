import TideoverCore
import TideoverLocks
package import TideoverStorage

/// Learns what other servers on the same storage changed, so that each answers alike.
///
/// A query each second notices every change that a reading connection sees. A notification of the
/// database would be lost with its connection, and does not pass a pooler of transactions.
package struct ChangeFollower: Sendable {
    /// The pause between two looks.
    package static let interval = Duration.seconds(1)

    /// What the service has learned.
    private var known: SharedChanges?

    package init() {}

    /// Learns the keys that other servers added and revoked.
    ///
    /// Returns whether another server, or a worker of this one, recorded a catalogue or policy that
    /// the service lacks. It is to be replaced by a service that adopts them.
    package mutating func look(at service: Service) throws(StorageError) -> Bool {
        if service.recordedRules.withLock({ $0 }) { return try service.hasOutdatedRules() }
        guard let changes = try service.storage.sharedChanges(), changes != known else {
            return false
        }
        // Read after the numbers: what changes meanwhile has other numbers at the next look.
        let keys = try service.storage.keys()
        service.keys.withLock { $0.learn(keys) }
        switch try service.ruleState() {
        case .current:
            known = changes
            return false
        case .upcoming: return false
        case .outdated: return true
        }
    }
}

/// How a service's catalogues and policies compare to the recorded ones.
private enum RuleState {
    case current
    /// A version was recorded for a later instant, by a server with a fast clock.
    case upcoming
    case outdated
}

extension Service {
    /// Whether another server recorded a catalogue or policy that this service lacks.
    package func hasOutdatedRules() throws(StorageError) -> Bool { try ruleState() == .outdated }

    fileprivate func ruleState() throws(StorageError) -> RuleState {
        let now = clock()
        var state = RuleState.current
        for app in apps {
            for environment in app.environments {
                let all = try storage.policyVersions(in: AppScope(app.id, environment))
                let reached = all.filter { $0.effectiveAt <= now }
                guard app.policyHistory(in: environment).contains(reached) else {
                    return .outdated
                }
                if reached.count < all.count { state = .upcoming }
            }
        }
        return state
    }
}
