package import TideoverHTTP
import TideoverJSON

/// Reads the configuration again and puts it into effect, or leaves the former one in effect.
public typealias Reload = @Sendable () async -> Reloading

/// What became of an attempt to reload the configuration.
public enum Reloading: Hashable, Sendable {
    /// It is in effect, but for these keys, which need a restart.
    case applied(needRestart: [String], notices: [String])
    /// It cannot be used, for this reason; the former one stays in effect.
    case refused(String)

    /// The answer to whoever asked for it.
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
    /// The keys that differ and take effect only at the start, when the socket and the database
    /// are opened.
    public func keysNeedingRestart(since former: Configuration) -> [String] {
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
