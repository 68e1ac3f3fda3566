import Foundation

/// The program itself, as it was built beside the tests.
enum Executable {
    struct Said {
        var code: Int32
        var results: String
        var messages: String
    }

    private static let url = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
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
