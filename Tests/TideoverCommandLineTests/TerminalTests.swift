import Glibc
import Testing

@testable import TideoverCommandLine

@Suite struct TerminalTests {
    private func terminal(
        isTTY: Bool = true,
        columns: Int? = nil,
        _ environment: [String: String] = [:]
    ) -> Terminal {
        Terminal(isTTY: isTTY, columns: columns) { environment[$0] }
    }

    @Test func `colours are used only on terminals`() {
        #expect(terminal().usesColour)
        #expect(!terminal(isTTY: false).usesColour)
        #expect(!terminal(["TERM": "dumb"]).usesColour)
        #expect(terminal(["TERM": "xterm-256color"]).usesColour)
    }

    @Test func `NO_COLOR removes the colours and nothing else`() {
        let terminal = terminal(["NO_COLOR": "1"])
        #expect(!terminal.usesColour)
        #expect(terminal.isInteractive)
        #expect(terminal.styled("refused", .bad) == "refused")
    }

    @Test func `an empty NO_COLOR counts as absent`() {
        #expect(terminal(["NO_COLOR": ""]).usesColour)
    }

    @Test func `a style is omitted where it cannot be shown`() {
        #expect(Terminal.plain.styled("refused", .bad) == "refused")
        #expect(terminal().styled("refused", .bad) == "\u{1B}[31mrefused\u{1B}[0m")
        #expect(terminal().styled("", .bad) == "")
        #expect(terminal().styled("refused", nil) == "refused")
    }

    @Test func `the width from the system comes before that of the environment`() {
        #expect(terminal(columns: 120, ["COLUMNS": "60"]).width == 120)
        #expect(terminal(["COLUMNS": "60"]).width == 60)
        #expect(terminal(["COLUMNS": "wide"]).width == 80)
        #expect(terminal(["COLUMNS": "0"]).width == 80)
        #expect(terminal().width == 80)
    }

    @Test(
        arguments: [
            (["LANG": "en_US.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "C"], false),
            ([:], false), (["LANG": "de_DE"], false), (["LANG": "UTF-8"], false),
            (["LANG": "C", "LC_ALL": "de_DE.UTF-8"], true),
            (["LANG": "de_DE.UTF-8", "LC_CTYPE": "C"], false),
            (["LANG": "de_DE.UTF-8@euro", "LC_ALL": ""], true),
            (["LANG": "en_US.UTF-8", "TERM": "dumb"], false),
        ] as [([String: String], Bool)]
    )
    func `the locale decides whether characters beyond ASCII are used`(
        environment: [String: String],
        usesUnicode: Bool
    ) {
        #expect(terminal(environment).usesUnicode == usesUnicode)
        #expect(terminal(isTTY: false, environment).usesUnicode == usesUnicode)
    }

    @Test func `a pipe is not a terminal`() throws {
        let pipe = try Pipe()
        #expect(!Terminal(descriptor: pipe.writing).isInteractive)
        #expect(!Terminal(descriptor: pipe.writing).usesColour)
    }
}

@Suite(.enabled(if: PseudoTerminal.isPossible, "the system has no pseudo-terminals"))
struct PseudoTerminalTests {
    @Test func `a terminal reports its own width`() throws {
        let terminal = try PseudoTerminal(columns: 132)
        #expect(Terminal(descriptor: terminal.descriptor).width == 132)
    }

    @Test func `a terminal is interactive unless TERM is dumb`() throws {
        let terminal = try PseudoTerminal(columns: 80)
        let isDumb = Terminal.variable("TERM") == "dumb"
        #expect(Terminal(descriptor: terminal.descriptor).isInteractive == !isDumb)
    }
}

/// A pseudo-terminal of a given width.
final class PseudoTerminal {
    static let isPossible = (try? PseudoTerminal(columns: 80)) != nil

    /// `TIOCSPTLCK` and `TIOCGPTN`, which Swift cannot import as macros.
    private static let unlock: UInt = 0x4004_5431
    private static let number: UInt = 0x8004_5430

    let descriptor: Int32
    private let controller: Int32

    init(columns: UInt16) throws {
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var lock: Int32 = 0
        var number: Int32 = 0
        controller = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard ioctl(controller, Self.unlock, &lock) == 0,
            ioctl(controller, Self.number, &number) == 0
        else { throw Unavailable() }
        descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        guard ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0 else { throw Unavailable() }
    }

    private struct Unavailable: Error {}

    deinit {
        close(descriptor)
        close(controller)
    }
}

/// A pipe that closes both ends when it is released.
struct Pipe: ~Copyable {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }
}
