import TideoverCommandLine
import TideoverConfiguration
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover reload`: makes a running server read its configuration again.
enum ReloadCommand {
    static let command = Command(
        "reload",
        summary: "reload the configuration of a running server",
        examples: [Example("tideover reload", "after a change of tideover.json")],
        parameters: [ConfigurationFile.parameter, AdminClient.server],
        notes: [
            "The new configuration takes effect completely or not at all: if it is invalid, "
                + "the server keeps the previous one, and the exit code is 78. SIGHUP to the "
                + "server does the same. storage, storageReplica, storageReplicaStaleness, "
                + "server.listen, server.sdkListen, server.trustedProxies, server.drain and "
                + "server.limits.connectionsPerAddress need a restart.",
            "The server's user and root need no key. --server sends the request to a URL, "
                + "with the admin key in the file that server.adminKeyFile names.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let path = try ConfigurationFile.path(arguments)
        let configuration = try ConfigurationFile.load(path, arguments, telling: output)
        let adminClient = AdminClient(
            configuration,
            path,
            server: arguments[AdminClient.server],
            output
        )
        let answer = try await adminClient.runOnServer(Request(method: "POST", path: "/v1/reload"))
        let needRestart = answer["needRestart"]?.elements.compactMap(\.string) ?? []
        output.print("reloaded")
        if !needRestart.isEmpty {
            output.message(
                "tideover: these need a restart of the server: "
                    + TextLayout.visible(needRestart.joined(separator: ", "))
            )
        }
        return .success
    }
}
