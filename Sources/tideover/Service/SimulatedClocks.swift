import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTPClient
import TideoverServer

/// The clocks of the configured simulated stores. A simulated store rejects requests that are dated
/// by another clock.
struct SimulatedClocks {
    private let stores: [String: FollowedClock]
    /// Whether all apps are only simulated, so that one store's clock serves all of them.
    let isRehearsal: Bool

    /// Reads each clock once. A store that does not answer has no clock here.
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

    /// The clock of an app's simulated store; this machine's if the store did not answer.
    subscript(app: Configuration.App) -> Clock { stores[app.id]?.now ?? SystemClock.now }

    /// The clock of a rehearsal; this machine's otherwise.
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
