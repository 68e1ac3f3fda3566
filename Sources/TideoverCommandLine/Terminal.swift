import Glibc

/// The capabilities of one output stream: interactivity, width, colour and characters.
package struct Terminal: Hashable, Sendable {
    /// The stream is a terminal that can move its cursor.
    package var isInteractive: Bool
    /// Colours are used: the stream is interactive, and `NO_COLOR` is not set.
    package var usesColour: Bool
    /// The width of a line in columns.
    package var width: Int
    /// The stream shows characters beyond ASCII correctly.
    package var usesUnicode: Bool

    /// The default width if it is unknown.
    package static let assumedWidth = 80

    /// The capabilities of a file or a pipe: text of any width, no colour.
    package static let plain = Terminal(
        isInteractive: false,
        usesColour: false,
        width: assumedWidth
    )

    /// Creates a stream's capabilities from given values, for tests.
    package init(isInteractive: Bool, usesColour: Bool, width: Int, usesUnicode: Bool = false) {
        self.isInteractive = isInteractive
        self.usesColour = usesColour
        self.width = width
        self.usesUnicode = usesUnicode
    }

    /// Derives a stream's capabilities from the system and the environment.
    ///
    /// `NO_COLOR` applies if it is not empty (no-color.org). `TERM=dumb` means a terminal without
    /// colours and cursor movement. `COLUMNS` gives the width if the system does not. The locale
    /// gives the characters: `LC_ALL` before `LC_CTYPE` before `LANG` (POSIX, Environment
    /// Variables).
    package init(isTTY: Bool, columns: Int?, environment: (String) -> String?) {
        let isCapable = isTTY && environment("TERM") != "dumb"
        let stated = environment("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        isInteractive = isCapable
        usesColour = isCapable && (environment("NO_COLOR") ?? "").isEmpty
        width = columns ?? stated ?? Self.assumedWidth
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment)
            .first { !$0.isEmpty }
        let characters = (locale ?? "").lowercased().filter { $0 != "-" }
        usesUnicode = characters.contains(".utf8") && environment("TERM") != "dumb"
    }

    /// Derives the capabilities of a file descriptor's stream.
    package init(descriptor: Int32) {
        let isTTY = isatty(descriptor) == 1
        self.init(
            isTTY: isTTY,
            columns: isTTY ? Self.columns(of: descriptor) : nil,
            environment: Self.variable
        )
    }

    private static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        let status = withUnsafeMutablePointer(to: &size) {
            ioctl(descriptor, UInt(TIOCGWINSZ), UnsafeMutableRawPointer($0))
        }
        return status == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
    }

    /// Returns the value of an environment variable of this process.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Returns a text in a style, or the plain text if colours are not used.
    package func styled(_ text: String, _ style: Style?) -> String {
        guard usesColour, let style, !text.isEmpty else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }
}

/// The meaning of a text. Terminals show it by weight or colour; files do not show it.
package enum Style: String, Sendable, Hashable, CaseIterable {
    /// The most important text.
    case strong = "1"
    /// Less important text.
    case quiet = "2"
    /// A success.
    case good = "32"
    /// A warning.
    case caution = "33"
    /// A failure.
    case bad = "31"
    /// A critical warning.
    case alarm = "1;37;41"
}
