import Foundation
import Glibc
import Testing
import TideoverJSON
import TideoverLocks
import TideoverTestProcesses

@testable import TideoverTestServer

/// Runs the commands of the guides as written.
@Suite(
    .withExecutable,
    .enabled(
        if: ShellTools.arePresent(["bash", "curl", "python3", "timeout"]),
        "bash, curl, python3 or timeout is missing"
    ),
    .timeLimit(.minutes(20))
)
final class GuideProgramTests: SuiteWithFolder {
    /// Copies the files that the guides use, with free ports instead of those in the text.
    private func prepare(_ ports: [String: String]) throws {
        for name in ["Scenarios", "Examples"] {
            let copy = folder.appending(path: name)
            try FileManager.default.copyItem(at: Guide.project.appending(path: name), to: copy)
        }
        for name in ["rehearsed.json5", "store.json5"] {
            let file = folder.appending(path: "Examples/\(name)")
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(Guide.replace(ports, in: text).utf8).write(to: file)
        }
    }

    private func run(_ script: String) throws -> ChildProcess.Said {
        try ChildProcess.run(
            ["/usr/bin/env", "timeout", "--kill-after=5s", "180s", "bash", "-c", script],
            variables: [
                "PATH": Executable.url.deletingLastPathComponent().path + ":" + ShellTools.path
            ]
        )
    }

    @Test(arguments: try Guide.all())
    func `the commands of a guide have the described results`(_ guide: Guide) throws {
        let ports = try Guide.freePorts()
        try prepare(ports)
        let said = try run(Guide.replace(ports, in: guide.script(in: folder.path)))
        #expect(said.code == 0, "\(said.results)")
        for line in guide.expectedLines {
            #expect(said.results.contains(line), "\(said.results)")
        }
    }

    @Test func `a command with another result fails its guide`() throws {
        let guide = Guide(name: "made up", text: "```sh\nfalse\n```\n```sh exit=1\nfalse\n```\n")
        #expect(try run(guide.script(in: folder.path)).code == 1)
        let other = Guide(name: "made up", text: "```sh exit=1\ntrue\n```\n")
        #expect(try run(other.script(in: folder.path)).code == 1)
        let expected = Guide(name: "made up", text: "```sh exit=1\nfalse\n```\n")
        #expect(try run(expected.script(in: folder.path)).code == 0)
    }

    @Test(.enabled(if: ShellTools.arePresent(["swiftc"]), "swiftc is not on the PATH"))
    func `Swift code in a guide can be parsed`() throws {
        let sources = try Guide.all().flatMap { $0.blocks("swift") }
        #expect(!sources.isEmpty)
        for (index, source) in sources.enumerated() {
            let file = try write(source, to: "block\(index).swift")
            let said = try ChildProcess.run(["/usr/bin/env", "swiftc", "-parse", file])
            #expect(said.code == 0, "\(said.messages)")
        }
    }

    @Test(.enabled(if: ShellTools.arePresent(["swiftc"]), "swiftc is not on the PATH"))
    func `the example app can be parsed`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let app = root.appending(path: "Examples/KitApp")
        let names = try FileManager.default.contentsOfDirectory(atPath: app.path)
        let sources = names.filter { $0.hasSuffix(".swift") }.map { app.appending(path: $0).path }
        #expect(sources.count == 4)
        let said = try ChildProcess.run(["/usr/bin/env", "swiftc", "-parse"] + sources)
        #expect(said.code == 0, "\(said.messages)")
    }
}

/// A page under `docs/guides`.
struct Guide: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String

    var testDescription: String { name }

    static let project = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func all() throws -> [Guide] {
        let folder = project.appending(path: "docs/guides")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".md") }
            .map { name in
                let file = folder.appending(path: name)
                return Guide(name: name, text: try String(contentsOf: file, encoding: .utf8))
            }
    }

    /// The code blocks, each with the text after its fence.
    private var fences: [(words: String, code: String)] {
        var fences: [(words: String, code: String)] = []
        var isInside = false
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isInside.toggle()
                if isInside { fences.append((String(line.dropFirst(3)), "")) }
            } else if isInside {
                fences[fences.count - 1].code += line + "\n"
            }
        }
        return fences
    }

    func blocks(_ language: String) -> [String] {
        fences.filter { $0.words == language }.map(\.code)
    }

    /// Returns all shell blocks as one script, which ends the processes it started. A block marked
    /// `exit=1` must fail.
    func script(in folder: String) -> String {
        let commands = fences.compactMap { words, code -> String? in
            switch words {
            case "sh": code
            case "sh exit=1": "code=0\n(\n\(code)) || code=$?\ntest \"$code\" = 1\n"
            default: nil
            }
        }
        return """
            set -euo pipefail
            exec 2>&1
            cd '\(folder)'
            trap 'code=$?; kill $(jobs -p) 2>/dev/null || true; wait; exit $code' EXIT
            \(commands.joined(separator: "\n"))
            """
    }

    /// The expected output, from blocks marked `text`.
    var expectedLines: [String] {
        blocks("text").flatMap { $0.split(separator: "\n").map(String.init) }
    }

    /// Returns the ports in the guides, each with a free replacement.
    static func freePorts() throws -> [String: String] {
        let ports = try ShellTools.freePorts(4)
        return Dictionary(uniqueKeysWithValues: zip(["8080", "8090", "8091", "9090"], ports))
    }

    static func replace(_ ports: [String: String], in text: String) -> String {
        ports.reduce(text) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
    }
}

/// The script tools on this machine.
enum ShellTools {
    static let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"

    static func arePresent(_ names: [String]) -> Bool {
        names.allSatisfy { name in
            path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
        }
    }

    /// Whether Python is installed with its YAML package.
    static let canReadYAML: Bool = {
        let words = ["/usr/bin/env", "python3", "-c", "import yaml"]
        return arePresent(["bash", "python3"]) && (try? ChildProcess.run(words).code) == 0
    }()

    struct NoPort: Error {}

    private static let nextPort = Locked(Int.random(in: portRange))
    private static let portRange = 22_000..<28_000

    /// Returns loopback ports that are free now, and stay so: this process returns each only once,
    /// and the system assigns ports from 32768 to other connections and listeners. None contains a
    /// port of the guides, which would be replaced in it too.
    static func freePorts(_ count: Int) throws -> [String] {
        try nextPort.withLock { next in
            var ports: [String] = []
            for _ in portRange where ports.count < count {
                next = next + 1 < portRange.upperBound ? next + 1 : portRange.lowerBound
                if isFree(next) { ports.append(String(next)) }
            }
            guard ports.count == count else { throw NoPort() }
            return ports
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(file, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
