import TideoverCore
import TideoverJSON

/// Reads a file of RevenueCat's answers, one a line (JSON Lines), as its bytes come: the pure half of an
/// import.
///
/// Each line has a verdict of its own, so that one fault stops nothing. An `app_user_id` beside
/// `subscriber` says by which id the customer was asked about. Blank lines are passed over.
public struct RevenueCatImport: Sendable {
    private let reader: RevenueCatReader
    private var rest: [UInt8] = []
    /// Whether the line being taken in is over the limit, and so forgotten as it comes.
    private var isTooLong = false
    private var line: Int64
    /// Past the last byte that was taken in.
    private var taken: Int64
    /// Past the last line that was read whole.
    public private(set) var position: ImportPosition

    private let longestLine: Int

    /// Goes on at a position that an earlier import had come to; the bytes given are those behind it.
    /// A line may have as many bytes as an answer, or as many as are said.
    public init(
        reader: RevenueCatReader,
        from position: ImportPosition = .start,
        longestLine: Int? = nil
    ) {
        self.reader = reader
        self.longestLine = longestLine ?? JSONLimits.storeAnswer.maxBytes
        self.position = position
        line = position.line
        taken = position.bytes
    }

    /// Takes in the next bytes of the file, and tells of the lines that end in them.
    public mutating func take(_ bytes: ArraySlice<UInt8>) -> [ImportedLine] {
        var lines: [ImportedLine] = []
        var bytes = bytes
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            keep(bytes[..<end])
            taken += 1
            if let line = endLine() { lines.append(line) }
            bytes = bytes[(end + 1)...]
        }
        keep(bytes)
        return lines
    }

    private mutating func keep(_ part: ArraySlice<UInt8>) {
        taken += Int64(part.count)
        isTooLong = isTooLong || rest.count + part.count > longestLine
        if isTooLong { rest.removeAll() } else { rest += part }
    }

    /// Ends the file: tells of a last line without an end of its own.
    public mutating func finish() -> ImportedLine? {
        rest.isEmpty && !isTooLong ? nil : endLine()
    }

    private mutating func endLine() -> ImportedLine? {
        defer {
            rest.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        line += 1
        position = ImportPosition(bytes: taken, line: line)
        if isTooLong { return imported(.refused(.tooLong(limit: longestLine))) }
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        let isBlank = rest.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return isBlank ? nil : imported(verdict(on: rest))
    }

    private func imported(_ verdict: ImportedLine.Verdict) -> ImportedLine {
        let text: [UInt8] = if case .read = verdict { rest } else { [] }
        return ImportedLine(number: line, verdict: verdict, position: position, text: text)
    }

    private func verdict(on text: [UInt8]) -> ImportedLine.Verdict {
        do {
            return .read(try reader.answer(line: text))
        } catch {
            return .refused(.unreadable(error))
        }
    }
}

/// How far an import has come, from where it can go on.
public struct ImportPosition: Hashable, Sendable {
    /// Bytes from the start of the file.
    public var bytes: Int64
    /// Lines that end before it.
    public var line: Int64

    public init(bytes: Int64, line: Int64) {
        self.bytes = bytes
        self.line = line
    }

    public static let start = ImportPosition(bytes: 0, line: 0)
}

/// What became of one line of an import.
public struct ImportedLine: Hashable, Sendable {
    /// From 1.
    public let number: Int64
    public let verdict: Verdict
    /// Past the line: where to go on once what it states is kept.
    public let position: ImportPosition
    /// As it stands in the file, without its end; empty where it is refused.
    public let text: [UInt8]

    public enum Verdict: Hashable, Sendable {
        /// Understood; its notes say what of it states nothing.
        case read(RevenueCatSubscriberReading)
        case refused(ImportRefusal)
    }

    /// What is wrong with the line and what to do about it; nil where nothing is.
    public var sentence: String? {
        switch verdict {
        case .refused(let refusal): "Line \(number): \(refusal.sentence)"
        case .read(let reading) where reading.notes.isEmpty: nil
        case .read(let reading):
            "Line \(number): " + reading.notes.map(\.sentence).joined(separator: " ")
        }
    }
}

/// Why a line states nothing.
public enum ImportRefusal: Error, Hashable, Sendable {
    case tooLong(limit: Int)
    case unreadable(RevenueCatRefusal)

    /// The reason in one word; it never changes, and nothing but the case decides it.
    public var code: String {
        switch self {
        case .tooLong: "too-long"
        case .unreadable(let refusal): refusal.code
        }
    }

    /// What is wrong and what to do about it.
    public var sentence: String {
        switch self {
        case .tooLong(let limit):
            "It has more than \(limit) bytes: write each answer of RevenueCat's API on a line of "
                + "its own."
        case .unreadable(.malformedJSON(let error)):
            "It is not valid JSON at column \(error.column): write one whole answer of RevenueCat's "
                + "API on each line."
        case .unreadable(.apiV2Response): RevenueCatRefusal.apiV2Response.sentence
        case .unreadable(let refusal):
            refusal.sentence
                + " Ask RevenueCat about this customer again, and import the line anew."
        }
    }
}
