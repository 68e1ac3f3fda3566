import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// The agendas of all apps and environments with access to Google Play.
struct PlayAgendas: Sendable {
    private struct Place: Hashable {
        let app: String
        let environment: Environment
    }

    private let agendas: [Place: PlayAgenda]

    init(of apps: [App]) {
        var agendas: [Place: PlayAgenda] = [:]
        for app in apps {
            for environment in app.environments where app.canAskGooglePlay(in: environment) {
                agendas[Place(app: app.id, environment: environment)] = PlayAgenda()
            }
        }
        self.agendas = agendas
    }

    subscript(_ app: String, _ environment: Environment) -> PlayAgenda? {
        agendas[Place(app: app, environment: environment)]
    }

    /// Marks the lineages of a commit, so that their plans are computed again.
    func note(_ intake: Intake) {
        guard let agenda = self[intake.app, intake.environment] else { return }
        for lineage in Set(intake.facts.map(\.lineage)) where lineage.store == .googlePlay {
            agenda.note(lineage)
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
