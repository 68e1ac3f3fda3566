import Foundation
import TideoverHTTP
import TideoverHTTPClient

/// The program itself, as it was built beside the tests.
enum Executable {
    struct Said {
        var code: Int32
        var results: String
        var messages: String
    }

    fileprivate static let url = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "tideover")

    static var isPresent: Bool { FileManager.default.isExecutableFile(atPath: url.path) }

    /// Runs it to its end, with variables beside those of this process.
    static func run(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Said {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.executableURL = url
        process.arguments = arguments
        let results = Pipe()
        let messages = Pipe()
        process.standardOutput = results
        process.standardError = messages
        try process.run()
        // Both fit into a pipe, so that neither waits for the other.
        let said = results.fileHandleForReading.readDataToEndOfFile()
        let told = messages.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Said(
            code: process.terminationStatus,
            results: String(decoding: said, as: UTF8.self),
            messages: String(decoding: told, as: UTF8.self)
        )
    }
}

/// The program serving, as it was built beside the tests, on a free port of loopback.
final class ServingExecutable {
    /// Where it answers.
    let url: HTTPURL
    private let process = Process()
    private let pipe = Pipe()
    private var messages: String

    /// Starts it and waits until it listens; the configuration leaves it the port.
    init(_ configuration: String) throws {
        process.executableURL = Executable.url
        process.arguments = ["serve", "--config", configuration]
        process.standardError = pipe
        try process.run()
        messages = ""
        while !messages.contains("listening on ") || messages.last != "\n" {
            let data = pipe.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Ended(messages: messages) }
            messages += String(decoding: data, as: UTF8.self)
        }
        let line = messages.split(separator: "\n").first { $0.contains("listening on ") }
        url = try HTTPURL(String(line?.split(separator: " ").last ?? ""))
    }

    /// It ended before it listened.
    struct Ended: Error {
        let messages: String
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    /// Asks it, with a key or without.
    func get(_ path: String, key: String? = nil) async throws -> Response {
        let client = try HTTPClient(userAgent: "tests")
        let query = [QueryItem(name: "environment", value: "sandbox")]
        let headers: Headers = key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try await client.handler(under: Destination(url, addresses: .any))(
            Request(path: path, query: query, headers: headers)
        )
    }

    /// Stops it in order; everything it said on standard error.
    func stop() -> String {
        process.terminate()
        messages += String(
            decoding: pipe.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        return messages
    }
}
