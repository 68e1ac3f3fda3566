import Foundation
import Glibc
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
        let said = results.fileHandleForReading.rest()
        let told = messages.fileHandleForReading.rest()
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
            let bytes = pipe.fileHandleForReading.next()
            guard !bytes.isEmpty else { throw Ended(messages: messages) }
            messages += String(decoding: bytes, as: UTF8.self)
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
        messages += String(decoding: pipe.fileHandleForReading.rest(), as: UTF8.self)
        process.waitUntilExit()
        return messages
    }
}

/// Foundation's own ways to read end the process when a signal interrupts them.
extension FileHandle {
    /// What comes next, waited for; nothing at the end.
    fileprivate func next() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(fileDescriptor, &bytes, bytes.count)
            if count >= 0 { return Array(bytes[..<count]) }
            guard errno == EINTR else { return [] }
        }
    }

    /// All that comes until the end.
    fileprivate func rest() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = next()
            guard !bytes.isEmpty else { return all }
            all += bytes
        }
    }
}
