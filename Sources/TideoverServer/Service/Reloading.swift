package import TideoverHTTP
import TideoverJSON

/// Reloads the configuration, or keeps the previous one if the new one is invalid.
package typealias Reload = @Sendable () async -> Reloading

/// The result of reloading the configuration.
package enum Reloading: Hashable, Sendable {
    /// The new configuration is in effect, except these keys, which need a restart.
    case applied(needRestart: [String], notices: [String])
    /// The new configuration is invalid for this reason; the previous one stays in effect.
    case refused(String)

    /// Returns the HTTP response to the reload request.
    package func response() throws(Problem) -> Response {
        switch self {
        case .refused(let reason): throw .unusableConfiguration(reason)
        case .applied(let needRestart, let notices):
            return .json([
                "needRestart": .array(needRestart.map(JSONValue.string)),
                "notices": .array(notices.map(JSONValue.string)),
            ])
        }
    }
}
