package import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON

/// The configuration that a server runs with, and the source of each value.
package struct EffectiveConfiguration: Sendable {
    let configuration: Configuration
    let settings: [Configuration.Setting]

    package init(_ configuration: Configuration, settings: [Configuration.Setting]) {
        self.configuration = configuration
        self.settings = settings
    }
}

/// Answers `GET /v1/apps/{app}/configuration`: the effective settings, and the findings of the
/// doctor that need neither the machine nor a store.
struct ConfigurationRoute: Sendable {
    let app: App
    /// Nil for a server that no file configured.
    let effective: EffectiveConfiguration?
    /// Whether to include what concerns the whole server.
    let isWhole: Bool
    /// The server's metrics, as `/metrics` writes them.
    let metrics: String
    let now: Instant

    func respond() -> Response {
        .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("fingerprint", effective?.configuration.fingerprint)
            writer.field("isWhole", isWhole)
            writer.field("settings", each: settings) { $0.write(to: &$1) }
            writer.field("findings", each: findings) { $0.write(to: &$1) }
        }
    }

    private var place: Int? {
        effective?.configuration.apps.firstIndex { $0.id == app.id }
    }

    /// The settings of the app; of the whole server too, but never of another app.
    private var settings: [Configuration.Setting] {
        guard let effective, let place else { return [] }
        return effective.settings.filter { setting in
            setting.path.hasPrefix("apps[\(place)].")
                || (isWhole && !setting.path.hasPrefix("apps["))
        }
    }

    private var findings: [Finding] {
        guard let effective, let place else { return [] }
        let own = effective.configuration.apps[place]
        let publicURL = effective.configuration.server.publicURL
        let ofApp = [
            Finding.products(of: own), Finding.offerings(of: own),
            Finding.notificationURL(of: own, under: publicURL),
            Finding.pushEndpoint(of: own, under: publicURL),
            Finding.simulatedRoot(of: own, at: now),
        ]
        let metrics = MetricsReading(metrics)
        let ofServer = [
            Finding.publicURL(effective.configuration), Finding.clientAddresses(metrics),
            Finding.revocation(metrics), Finding.workers(metrics),
            Finding.sdkRequests(metrics),
        ]
        return ofApp.compactMap(\.self)
            + (isWhole
                ? Finding.allowedNetworks(effective.settings) + ofServer.compactMap(\.self) : [])
    }
}

extension Configuration.Setting {
    /// Writes the setting as `tideover config --json` does, without the file's name.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("path", path)
            writer.key("value")
            writer.raw(value.encoded())
            switch place {
            case .file(_, let line, _):
                writer.field("source", "file")
                writer.field("line", line)
            case .variable:
                writer.field("source", "variable")
                writer.field("line", Int?.none)
            case nil:
                writer.field("source", "default")
                writer.field("line", Int?.none)
            }
            writer.field("variable", variable)
        }
    }
}

extension Finding {
    /// Writes the finding as `tideover doctor --json` does.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("check", check.rawValue)
            writer.field("subject", subject)
            writer.field("verdict", verdict.rawValue)
            writer.field("detail", detail)
            writer.field("advice", advice)
        }
    }
}
