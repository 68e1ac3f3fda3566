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

extension Configuration {
    /// Returns the changed keys that take effect only at startup, when the socket and the database
    /// are opened.
    package func keysNeedingRestart(since former: Configuration) -> [String] {
        let changes = [
            ("server.listen", server.listen != former.server.listen),
            ("server.trustedProxies", server.trustedProxies != former.server.trustedProxies),
            (
                "server.limits.connectionsPerAddress",
                server.limits.connectionsPerAddress != former.server.limits.connectionsPerAddress
            ),
            ("server.drain", server.drain != former.server.drain),
            ("storage", storage != former.storage),
        ]
        return changes.filter(\.1).map(\.0)
    }
}
