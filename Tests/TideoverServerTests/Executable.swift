import Foundation
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverTestProcesses

/// The program itself, as it was built beside the tests.
enum Executable {
    static let url = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "tideover")

    static var isPresent: Bool { FileManager.default.isExecutableFile(atPath: url.path) }

    /// Runs it to its end, with variables beside those of this process.
    static func run(
        _ arguments: [String],
        _ variables: [String: String] = [:]
    ) throws -> ChildProcess.Said {
        try ChildProcess.run([url.path] + arguments, variables: variables)
    }
}

/// The program serving, as it was built beside the tests, on a free port of loopback.
final class ServingExecutable {
    /// Where it answers.
    let url: HTTPURL
    private let process: ChildProcess
    private var messages = ""

    /// Starts it and waits until it listens; the configuration leaves it the port.
    init(_ configuration: String) throws {
        process = try ChildProcess([Executable.url.path, "serve", "--config", configuration])
        while !messages.contains(Self.listening) || messages.last != "\n" {
            let bytes = process.messages.next()
            guard !bytes.isEmpty else { throw Ended(messages: messages) }
            messages += String(decoding: bytes, as: UTF8.self)
        }
        let line = messages.split(separator: "\n").first { $0.contains(Self.listening) } ?? ""
        url = try HTTPURL(try JSONDocument(Array(line.utf8)).root["detail"]?.string ?? "")
    }

    private static let listening = "\"event\":\"listening\""

    /// It ended before it listened.
    struct Ended: Error {
        let messages: String
    }

    /// Asks it, with a key or without.
    func get(
        _ path: String,
        key: String? = nil,
        query: [QueryItem] = [QueryItem(name: "environment", value: "sandbox")]
    ) async throws -> Response {
        try await Self.get(path, from: url, key: key, query: query)
    }

    /// Asks a server at a URL.
    static func get(
        _ path: String,
        from url: HTTPURL,
        key: String? = nil,
        query: [QueryItem]
    ) async throws -> Response {
        let client = try HTTPClient(userAgent: "tests")
        let headers: Headers = key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try await client.handler(under: Destination(url, addresses: .any))(
            Request(path: path, query: query, headers: headers)
        )
    }

    /// Asks it to stop, and waits until it has heard.
    func askToStop() throws {
        process.terminate()
        while !messages.contains("\"event\":\"stopping\"") || messages.last != "\n" {
            let bytes = process.messages.next()
            guard !bytes.isEmpty else { throw Ended(messages: messages) }
            messages += String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Ends it at once.
    func destroy() {
        process.destroy()
        _ = process.wait()
    }

    /// Stops it in order while nobody reads what it writes; its exit code.
    func stopUnread() -> Int32 {
        process.terminate()
        return process.wait()
    }

    /// Stops it in order; everything it said on standard error.
    func stop() -> String {
        process.terminate()
        messages += String(decoding: process.messages.rest(), as: UTF8.self)
        _ = process.wait()
        return messages
    }
}

extension Data {
    /// Writes a file as a secret is kept: the server refuses one that others may open.
    func writeSecret(to url: URL, rights: Int = 0o600) throws {
        try write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: url.path)
    }
}
