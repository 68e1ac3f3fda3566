import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// Requests of `tideover doctor` to Google Play about one app, and to a running server about
/// received pushes.
struct PlayProbe {
    let app: Configuration.App
    let trust: PlayTrust
    /// Whether a server of this configuration runs. Only a server can receive a notification.
    let isServing: Bool
    let patience: Milliseconds
    /// Whether the store's settings are compared with the catalogue.
    let isPreflight: Bool
    let output: Output
    /// Returns the server's record of received notifications in an environment.
    let arrivals: @Sendable (Environment) async throws -> JSONNode

    func findings() async -> [Finding] {
        var (findings, isReached) = await knock()
        if app.environments == [.simulated] {
            // A simulated store has no console to send a test notification from, and its clock is
            // compared with the server's.
            findings.removeAll { $0.check == .storeClock }
        } else if isServing {
            findings += await wait(atMost: isReached ? patience : .zero)
        }
        if isPreflight { findings += await settings() }
        return findings
    }

    private func trial(patience: Milliseconds = .zero) -> PlayTrial {
        PlayTrial(
            trust.api,
            uptime: Probes().uptime,
            sleep: { try await Task.sleep(for: $0) },
            patience: patience
        )
    }

    /// Returns findings about the service account, and whether Google answered.
    private func knock() async -> (findings: [Finding], isReached: Bool) {
        do {
            guard let (knock, skew) = try await trial().knock() else {
                return ([.playKey(missingOf: app)], true)
            }
            let findings = Finding.play(knock, skew: skew, of: app, email: trust.askingEmail)
            return (findings, knock.isReached)
        } catch {
            return ([.storeKey(unusable: "\(app.id): \(error)")], true)
        }
    }

    private func settings() async -> [Finding] {
        do {
            guard let api = trust.api else { return [] }
            return Finding.basePlans(of: app, try await PlaySettings.ask(api))
        } catch {
            return [.storeKey(unusable: "\(app.id): \(error)")]
        }
    }

    /// One topic carries the notifications of all environments.
    private func wait(atMost patience: Milliseconds) async -> [Finding] {
        let environment = app.environments[0]
        do {
            let reading = try await trial(patience: patience).wait(
                arrivals: {
                    guard let told = PlayArrivals(try await arrivals(environment)) else {
                        throw Untold()
                    }
                    return told
                },
                telling: { output.message("tideover: \(app.id) googlePlay: \($0)") }
            )
            // Without waiting, a missing test notification means nothing.
            return Finding.play(reading, of: app)
                .filter { patience > .zero || $0.check != .testNotification }
        } catch {
            let text = (error as? any ReportableFailure)?.message ?? "\(error)"
            let reason = String(text.prefix { $0 != "\n" })
            return [Finding.silence(of: "\(app.id) googlePlay", unknown: reason)]
        }
    }

    /// The server's answer has the format of another version.
    private struct Untold: Error, CustomStringConvertible {
        let description = "its answer cannot be read"
    }
}
