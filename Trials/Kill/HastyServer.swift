import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverPostgreSQL
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// `serve-hasty`: a server with a planted fault that the kill trial must find. It acknowledges
/// notifications first and commits them a little later.
enum HastyServer {
    static let name = "serve-hasty"
    private static let configuration = Parameter.requiredOption(
        "--config",
        "FILE",
        "The configuration file"
    )

    static let command = Command(
        name,
        summary: "serve wrongly: acknowledge first, commit later",
        examples: [
            Example("TideoverTrials serve-hasty --config tideover.json", "never in earnest")
        ],
        parameters: [configuration],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let path = arguments[configuration]
        let configuration = try Configuration.load(
            file: path,
            text: FileInput.read(path, atMost: 1 << 20),
            environment: [:],
            readFile: { try FileInput.read($0, atMost: 1 << 20) }
        )
        let service = try Service(
            apps: try configuration.apps.map { try App($0) },
            storage: try storage(configuration.storage),
            version: Trials.program.version,
            clock: { Instant(millisecondsSince1970: systemMilliseconds()) },
            log: { _ in }
        )
        let server = try HTTPServer(port: 0, handler: hasty(service))
        output.message("listening on http://\(server.address)")
        await server.run()
        return .success
    }

    private static func storage(
        _ location: Configuration.StorageLocation
    ) throws -> any Storage {
        switch location {
        case .sqlite(let path): try SQLiteStorage(path: path)
        case .postgres(let address): try PostgreSQLStorage(address: address)
        }
    }
}

/// Answers a notification before it is processed.
private func hasty(_ service: Service) -> Handler {
    { request in
        guard request.method == "POST" else { return try await service.handler(request) }
        Task {
            try await Task.sleep(for: .milliseconds(20))
            _ = try await service.handler(request)
        }
        return Response(body: Array(#"{"status":"committed"}"#.utf8))
    }
}
