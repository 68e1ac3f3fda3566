import Foundation
import Testing
import TideoverTestProcesses

@testable import TideoverTestServer

/// The unit, the image and their page agree with the program.
@Suite struct PackagingTests {
    private func text(_ path: String) throws -> String {
        try ConfigurationDocumentTests.text(path)
    }

    /// Returns the values of a setting of the unit, in order.
    private func unit(_ setting: String) throws -> [String] {
        try text("Packaging/tideover.service").split(separator: "\n")
            .filter { $0.hasPrefix("\(setting)=") }.map { String($0.dropFirst(setting.count + 1)) }
    }

    /// Returns the lines of the Dockerfile, with continuation lines joined.
    private func image() throws -> [String] {
        try text("Packaging/Dockerfile").replacing("\\\n", with: " ").split(separator: "\n")
            .map { $0.split(separator: " ").joined(separator: " ") }
    }

    /// Returns the packages of each `apt-get install` in a text.
    private func packages(_ text: String) -> [[String]] {
        text.replacing("\\\n", with: " ").matches(of: /--no-install-recommends([^\n&]*)/).map {
            $0.output.1.split(separator: " ").map(String.init).sorted()
        }
    }

    private func help(_ command: String) throws -> String {
        let said = try Executable.run([command, "--help"])
        #expect(said.code == 0)
        return said.results
    }

    @Test(.withExecutable)
    func `the unit and the image start a command with existing options`() throws {
        let started = try #require(try unit("ExecStart").first).split(separator: " ").map(
            String.init
        )
        #expect(started.first == "/usr/local/bin/tideover")
        let commands = [Array(started.dropFirst()), try command(of: "CMD")]
        for command in commands {
            let help = try help(try #require(command.first))
            let options = command.filter { $0.hasPrefix("--") }
            #expect(!options.isEmpty)
            for option in options { #expect(help.contains("\(option) ")) }
        }
        #expect(commands[0] == commands[1])
    }

    private func command(of instruction: String) throws -> [String] {
        let line = try #require(try image().last { $0.hasPrefix("\(instruction) [") })
        return line.matches(of: /"([^"]*)"/).map { String($0.output.1) }
    }

    @Test func `images and commits exclude keys and databases`() throws {
        let secrets = ["*.p8", "*.pem", "*.key", "*service-account*.json"]
        let ignored = try text(".gitignore").split(separator: "\n").map(String.init)
        for pattern in secrets + ["*.db", "*.db-wal"] { #expect(ignored.contains(pattern)) }
        let images = try ["Packaging/Dockerfile.dockerignore", ".dockerignore"].map(text)
        #expect(images[0] == images[1])
        let left = images[0].split(separator: "\n").map(String.init)
        for pattern in secrets + ["*.db*"] { #expect(left.contains("**/\(pattern)")) }
    }

    /// Checks the same as `readelf -lW` and `readelf -dW`, without binutils.
    @Test(.withExecutable)
    func `the program binds all symbols at its start and has read-only code`() throws {
        let program = try ProgramImage(FileHandle(forReadingFrom: Executable.url))
        #expect(program.isPositionIndependent)
        #expect(program.hasRelocationReadOnly)
        #expect(program.bindsNow)
        #expect(!program.hasExecutableStack)
    }

    @Test func `the unit allows the time to stop that the operating page requires`() throws {
        let seconds = try #require(try unit("TimeoutStopSec").first)
        #expect(try text("docs/operating.md").contains("Give it \(seconds) seconds"))
        #expect(try text("docs/deploying.md").contains("--stop-timeout \(seconds) "))
        #expect(try text("docs/deploying.md").contains("\(seconds) seconds to stop"))
    }

    @Test func `the unit allows as many open files as the doctor requires`() throws {
        let limit = try #require(try unit("LimitNOFILE").first.flatMap { Int($0) })
        #expect(limit >= 1_024 + 256)
    }

    @Test func `the unit does not restart after a usage or configuration error`() throws {
        #expect(try unit("RestartPreventExitStatus") == ["2 78"])
    }

    @Test func `the unit writes to one folder, which the page names`() throws {
        let folder = "/var/lib/\(try #require(try unit("StateDirectory").first))"
        #expect(try unit("WorkingDirectory") == [folder])
        #expect(try unit("ProtectSystem") == ["strict"])
        let page = try text("docs/deploying.md")
        #expect(page.contains("`sqlite:\(folder)/tideover.db`"))
        #expect(try image().contains("VOLUME \(folder)"))
        #expect(
            try image().contains { $0.contains("TIDEOVER_STORAGE=sqlite:\(folder)/tideover.db") }
        )
    }

    @Test func `the image exposes its port and checks its readiness there`() throws {
        let lines = try image()
        #expect(lines.contains("EXPOSE 8080"))
        #expect(lines.contains { $0.contains("TIDEOVER_SERVER_LISTEN=0.0.0.0:8080") })
        let check = try #require(lines.first { $0.hasPrefix("HEALTHCHECK") })
        #expect(check.contains("/dev/tcp/127.0.0.1/8080"))
        #expect(check.contains("GET /readyz HTTP/1.0"))
        #expect(lines.contains("USER tideover"))
        let user = try #require(lines.first { $0.contains("useradd") })
        let number = try #require(user.firstMatch(of: /--uid (\d+)/)).output.1
        #expect(try text("docs/deploying.md").contains("number \(number),"))
    }

    @Test func `the image and the page install the same packages`() throws {
        let image = packages(try text("Packaging/Dockerfile"))
        let page = packages(try text("docs/deploying.md"))
        #expect(image.count == 2)
        #expect(image == page)
        let needed = try text("scripts/require.sh").matches(of: /\|\| echo (lib[a-z0-9+-]+-dev)/)
            .map { String($0.output.1) }
        // The image of the toolchain contains the packages that every program links with.
        let inToolchain: Set = ["libc6-dev", "libgcc-12-dev"]
        for package in Set(needed).subtracting(inToolchain) {
            #expect(image[0].contains(package), "\(package)")
        }
    }

    @Test(
        .enabled(
            if: SystemdAnalyze.path != nil,
            "systemd-analyze is missing (Debian package systemd)"
        )
    )
    func `systemd finds no problem in the unit`() throws {
        let path = try #require(SystemdAnalyze.path)
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tideover-unit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // The check also requires the program, which is not installed here.
        let unit = try text("Packaging/tideover.service")
            .replacing("/usr/local/bin/tideover", with: "/bin/true")
        let file = folder.appending(path: "tideover.service")
        try Data(unit.utf8).write(to: file)
        #expect(try SystemdAnalyze.verify(file.path, path) == "0")
        try Data(unit.replacing("UMask", with: "UMsak").utf8).write(to: file)
        #expect(try SystemdAnalyze.verify(file.path, path) != "0")
    }
}

/// The check of a unit by systemd.
private enum SystemdAnalyze {
    static let path: String? = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Returns `0`, or the exit code and the output.
    static func verify(_ unit: String, _ path: String) throws -> String {
        let said = try ChildProcess.run([path, "verify", unit])
        return "\(said.code)\(said.results)\(said.messages)"
    }
}

/// The load options in the header of a 64-bit ELF file.
/// https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
private struct ProgramImage {
    private(set) var isPositionIndependent = false
    private(set) var hasRelocationReadOnly = false
    private(set) var bindsNow = false
    private(set) var hasExecutableStack = true

    init(_ file: FileHandle) throws {
        func read(_ count: Int, at offset: UInt64) throws -> [UInt8] {
            try file.seek(toOffset: offset)
            return Array(try #require(try file.read(upToCount: count)))
        }
        func number(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> UInt64 {
            bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let head = try read(64, at: 0)
        try #require(head.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]))
        isPositionIndependent = number(head, 16, 2) == 3
        let size = Int(number(head, 54, 2))
        for index in 0..<Int(number(head, 56, 2)) {
            let segment = try read(size, at: number(head, 32, 8) + UInt64(index * size))
            switch number(segment, 0, 4) {
            case 0x6474_E552: hasRelocationReadOnly = true
            case 0x6474_E551: hasExecutableStack = number(segment, 4, 4) & 1 == 1
            case 2:
                let entries = try read(
                    Int(number(segment, 32, 8)),
                    at: number(segment, 8, 8)
                )
                for entry in stride(from: 0, to: entries.count - 15, by: 16) {
                    let value = number(entries, entry + 8, 8)
                    switch number(entries, entry, 8) {
                    case 24: bindsNow = true
                    case 30 where value & 8 != 0: bindsNow = true
                    case 0x6FFF_FFFB where value & 1 != 0: bindsNow = true
                    default: break
                    }
                }
            default: break
            }
        }
    }
}
