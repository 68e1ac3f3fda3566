extension Configuration {
    /// Returns the changed keys that take effect only at startup, when the socket and the database
    /// are opened.
    package func keysNeedingRestart(since former: Configuration) -> [String] {
        let changes = [
            ("server.listen", server.listen != former.server.listen),
            ("server.sdkListen", server.sdkListen != former.server.sdkListen),
            ("server.trustedProxies", server.trustedProxies != former.server.trustedProxies),
            (
                "server.limits.connectionsPerAddress",
                server.limits.connectionsPerAddress != former.server.limits.connectionsPerAddress
            ),
            ("server.drain", server.drain != former.server.drain),
            ("storage", storage != former.storage),
            ("storageReplica", replica != former.replica),
        ]
        return changes.filter(\.1).map(\.0)
    }
}
