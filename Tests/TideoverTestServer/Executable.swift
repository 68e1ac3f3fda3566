import Foundation
import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON
import TideoverTestProcesses

/// The program, built beside the tests.
enum Executable {
    static let url = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "tideover")

    static var isPresent: Bool { FileManager.default.isExecutableFile(atPath: url.path) }

    /// Runs it until it exits, with additional variables.
    static func run(
        _ arguments: [String],
        _ variables: [String: String] = [:]
    ) throws -> ChildProcess.Said {
        try ChildProcess.run([url.path] + arguments, variables: variables)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, visibly, where the program was not built beside it.
    static var withExecutable: Self {
        .enabled(if: Executable.isPresent, "the executable is not beside the tests")
    }
}

/// The program running as a server on a free loopback port.
final class ServingExecutable {
    /// The server's URL.
    let url: HTTPURL
    private let process: ChildProcess
    private var messages = ""

    /// Starts it and waits until it listens; the configuration does not fix the port.
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

    /// The address for RevenueCat's SDKs; nil if they have none of their own.
    var sdkURL: HTTPURL? {
        let line = messages.split(separator: "\n").first { $0.contains("listening for SDKs") }
        let detail = line.flatMap { try? JSONDocument(Array($0.utf8)).root["detail"]?.string }
        return detail.flatMap { try? HTTPURL($0) }
    }

    /// It exited before it listened.
    struct Ended: Error {
        let messages: String
    }

    /// Sends a GET request, with or without a key.
    func get(
        _ path: String,
        key: String? = nil,
        query: [QueryItem] = [QueryItem(name: "environment", value: "sandbox")]
    ) async throws -> Response {
        try await Self.get(path, from: url, key: key, query: query)
    }

    /// Sends a GET request to a server at a URL.
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

    /// Sends a stop signal, and waits until the server logs it.
    func askToStop() throws {
        process.terminate()
        while !messages.contains("\"event\":\"stopping\"") || messages.last != "\n" {
            let bytes = process.messages.next()
            guard !bytes.isEmpty else { throw Ended(messages: messages) }
            messages += String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Kills it.
    func destroy() {
        process.destroy()
        _ = process.wait()
    }

    /// Stops it normally without reading its output, and returns its exit code.
    func stopUnread() -> Int32 {
        process.terminate()
        return process.wait()
    }

    /// Stops it normally, and returns its standard error.
    func stop() -> String {
        process.terminate()
        messages += String(decoding: process.messages.rest(), as: UTF8.self)
        _ = process.wait()
        return messages
    }
}

extension Data {
    /// Writes a file with owner-only permissions: the server rejects secrets that others can open.
    func writeSecret(to url: URL, rights: Int = 0o600) throws {
        try write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: url.path)
    }
}
