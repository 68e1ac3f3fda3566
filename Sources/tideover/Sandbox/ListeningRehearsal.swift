import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPServer
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

extension Rehearsal {
    /// Creates a rehearsal in the caller's folder, with this version of Tideover.
    init(_ scenario: Scenario, in folder: TemporaryFolder, dashboard: Bool = false) throws {
        try self.init(
            scenario,
            in: folder.path,
            version: Tideover.version,
            dashboard: dashboard
        )
    }

    /// Serves on loopback with the story's clock, which has stopped at the story's end.
    func listen(at address: ListenAddress) throws -> HTTPServer {
        do {
            return try HTTPServer(
                address: address.host,
                port: address.port,
                handler: service.handler
            )
        } catch {
            throw CommandFailure(
                .unavailable,
                "cannot serve: \(error)\n"
                    + "Choose another with --listen 127.0.0.1:0, or use --no-serve."
            )
        }
    }
}
