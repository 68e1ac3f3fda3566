import Glibc

/// What one output stream can show: who reads it, in which width, with or without colour.
public struct Terminal: Hashable, Sendable {
    /// A person watches: the stream is a terminal that can move its cursor.
    public var isInteractive: Bool
    /// Colours are wanted: interactive, and `NO_COLOR` is not set.
    public var usesColour: Bool
    /// Columns a line may take.
    public var width: Int
    /// Characters beyond ASCII arrive as they are meant.
    public var usesUnicode: Bool

    /// The width assumed where nothing tells it.
    public static let assumedWidth = 80

    /// What a file or a pipe can show: text of any width, no colour.
    public static let plain = Terminal(
        isInteractive: false,
        usesColour: false,
        width: assumedWidth
    )

    /// A stream described by hand, as tests do.
    public init(isInteractive: Bool, usesColour: Bool, width: Int, usesUnicode: Bool = false) {
        self.isInteractive = isInteractive
        self.usesColour = usesColour
        self.width = width
        self.usesUnicode = usesUnicode
    }

    /// What a stream can show, from what the system and the environment say.
    ///
    /// `NO_COLOR` counts when it is not empty (no-color.org); `TERM=dumb` means a terminal without
    /// colours and without a cursor; `COLUMNS` tells the width where the system does not. The locale
    /// tells the characters: `LC_ALL` before `LC_CTYPE` before `LANG` (POSIX, Environment Variables).
    public init(isTTY: Bool, columns: Int?, environment: (String) -> String?) {
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

    /// What the stream behind a file descriptor can show.
    public init(descriptor: Int32) {
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

    /// The value of an environment variable of this process.
    public static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// A text in a style, or just the text where colours are not wanted.
    public func styled(_ text: String, _ style: Style?) -> String {
        guard usesColour, let style, !text.isEmpty else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }
}

/// How a piece of text is meant; terminals show it by weight or colour, files not at all.
public enum Style: String, Sendable, Hashable, CaseIterable {
    /// What the eye should find first.
    case strong = "1"
    /// What may be overlooked.
    case quiet = "2"
    /// It went well.
    case good = "32"
    /// It deserves attention.
    case caution = "33"
    /// It went wrong.
    case bad = "31"
    /// What nobody may miss.
    case alarm = "1;37;41"
}
