import TideoverCommandLine
import TideoverCore
import TideoverHTTPClient
import TideoverServer

/// The clocks of the simulated stores that a configuration names: a simulated store refuses what is
/// dated by another.
struct SimulatedClocks {
    private let stores: [String: FollowedClock]
    /// Whether every app is simulated and nothing else, so that one store's time is everyone's.
    let isRehearsal: Bool

    /// Looks at each clock once; a store that does not answer has none.
    init(of configuration: Configuration) async {
        var stores: [String: FollowedClock] = [:]
        for app in configuration.apps {
            guard let text = app.simulatedStore?.url,
                let url = (try? HTTPURL(text))?.appending(path: "/clock"),
                let clock = try? await FollowedClock(at: url, pace: .milliseconds(200))
            else { continue }
            stores[app.id] = clock
        }
        self.stores = stores
        isRehearsal =
            !stores.isEmpty && configuration.apps.allSatisfy { $0.environments == [.simulated] }
    }

    /// The time of an app's simulated store; this machine's where it does not answer.
    subscript(app: Configuration.App) -> Clock { stores[app.id]?.now ?? SystemClock.now }

    /// The time that a rehearsal goes by, otherwise this machine's.
    var rehearsal: Clock {
        guard isRehearsal, let first = stores.min(by: { $0.key < $1.key }) else {
            return SystemClock.now
        }
        return first.value.now
    }

    /// Follows the clocks until cancelled.
    func follow(telling output: Output) async {
        await withTaskGroup { group in
            for clock in stores.values {
                group.addTask {
                    await clock.run { line in
                        guard line.level != .info, let detail = line.detail else { return }
                        output.message("tideover: \(line.event): \(detail)")
                    }
                }
            }
        }
    }
}
