import TideoverCommandLine
import TideoverHTTP
import TideoverHTTPServer
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

extension Rehearsal {
    /// In a folder of the caller's, as this version of Tideover.
    init(_ scenario: Scenario, in folder: TemporaryFolder) throws {
        try self.init(scenario, in: folder.path, version: Tideover.version)
    }

    /// Answers on loopback with the story's clock, which stands still at its end.
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
