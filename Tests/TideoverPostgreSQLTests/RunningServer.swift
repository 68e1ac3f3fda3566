import Foundation
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverTestProcesses

/// The program, built beside the tests, as one of several servers on a database.
final class RunningServer {
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "tideover").path

    /// Its URL, without a path.
    let url: String
    private let process: ChildProcess
    private let client: Handler
    private var messages = ""

    /// Starts it and waits until it listens; the configuration does not fix the port.
    init(_ configuration: String) throws {
        process = try ChildProcess([Self.program, "serve", "--config", configuration])
        var url: String?
        while url == nil {
            let bytes = process.messages.next()
            guard !bytes.isEmpty else { throw Ended(messages: messages) }
            messages += String(decoding: bytes, as: UTF8.self)
            url = Self.address(in: messages)
        }
        self.url = url ?? ""
        let place = Destination(try HTTPURL(self.url), addresses: .any)
        client = try HTTPClient(userAgent: "tests").handler(under: place)
    }

    /// It exited before it listened.
    struct Ended: Error {
        let messages: String
    }

    /// Returns the address in the line that says where a server listens; nil before it.
    private static func address(in messages: String) -> String? {
        let lines = messages.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let line = lines.first { $0.contains("\"event\":\"listening\"") }
        return line.flatMap { try? JSONDocument(Array($0.utf8)).root["detail"]?.string }
    }

    /// Runs a command of the program, and returns its output without the last line end.
    static func run(_ arguments: String...) throws -> String { try run(arguments) }

    /// Runs a command of the program, and returns its output without the last line end.
    static func run(_ arguments: [String]) throws -> String {
        let said = try ChildProcess.run([program] + arguments)
        guard said.code == 0 else { throw Ended(messages: said.messages) }
        return String(said.results.dropLast())
    }

    func ask(
        _ path: String,
        _ method: String = "GET",
        key: String,
        body: String = ""
    ) async throws -> Response {
        try await client(
            Request(
                method: method,
                path: path,
                query: path.contains("/customers/")
                    ? [QueryItem(name: "environment", value: "sandbox")] : [],
                headers: ["Authorization": "Bearer \(key)"],
                body: Array(body.utf8)
            )
        )
    }

    /// Stops it normally, and returns its log.
    func stop() -> String {
        process.terminate()
        messages += String(decoding: process.messages.rest(), as: UTF8.self)
        _ = process.wait()
        return messages
    }

    /// Ends it at once.
    func kill() {
        process.destroy()
        _ = process.wait()
    }
}
