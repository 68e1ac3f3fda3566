package import TideoverCore
import TideoverJSON

/// Parses a file of RevenueCat responses, one per line (JSON Lines), incrementally and without side
/// effects.
///
/// Each line has its own result, so an invalid line does not stop the import. An `app_user_id`
/// beside `subscriber` states the requested customer ID. Blank lines are skipped.
package struct RevenueCatImport: Sendable {
    private let reader: RevenueCatReader
    private var rest: [UInt8] = []
    /// Whether the current line is over the limit; its bytes are then discarded.
    private var isTooLong = false
    private var line: Int64
    /// The position after the last byte received.
    private var taken: Int64
    /// The position after the last complete line.
    package private(set) var position: ImportPosition

    private let now: Instant?
    private let longestLine: Int

    /// Resumes at the position of an earlier import; the input starts there. Responses dated ahead
    /// of `now` are rejected; nil accepts every date. `longestLine` limits the bytes of a line; its
    /// default is the limit for a response.
    package init(
        reader: RevenueCatReader,
        from position: ImportPosition = .start,
        now: Instant? = nil,
        longestLine: Int? = nil
    ) {
        self.reader = reader
        self.now = now
        self.longestLine = longestLine ?? JSONLimits.storeAnswer.maxBytes
        self.position = position
        line = position.line
        taken = position.bytes
    }

    /// Parses the next bytes of the file, and returns the lines that end in them.
    package mutating func take(_ bytes: ArraySlice<UInt8>) -> [ImportedLine] {
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

    /// Ends the file, and returns a last line without a line break.
    package mutating func finish() -> ImportedLine? {
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
            let reading = try reader.answer(line: text)
            let ahead = now.map { reading.subscriber.requestDate - $0 } ?? .zero
            return ahead > .clockTolerance ? .refused(.datedAhead(by: ahead)) : .read(reading)
        } catch {
            return .refused(.unreadable(error))
        }
    }
}

/// The progress of an import, from which it can resume.
package struct ImportPosition: Hashable, Sendable {
    /// Bytes from the start of the file.
    package var bytes: Int64
    /// The number of lines before this position.
    package var line: Int64

    package init(bytes: Int64, line: Int64) {
        self.bytes = bytes
        self.line = line
    }

    package static let start = ImportPosition(bytes: 0, line: 0)
}

/// The result of one line of an import.
package struct ImportedLine: Hashable, Sendable {
    /// From 1.
    package let number: Int64
    package let verdict: Verdict
    /// The position after the line: resume here after its statements are stored.
    package let position: ImportPosition
    /// The line as in the file, without its line break; empty if rejected.
    package let text: [UInt8]

    package enum Verdict: Hashable, Sendable {
        /// A valid line; its notes list the parts that state nothing.
        case read(RevenueCatSubscriberReading)
        case refused(ImportRefusal)
    }

    /// Describes the problem with the line and its solution; nil without a problem.
    package var sentence: String? {
        switch verdict {
        case .refused(let refusal): "Line \(number): \(refusal.sentence)"
        case .read(let reading) where reading.notes.isEmpty: nil
        case .read(let reading):
            "Line \(number): " + reading.notes.map(\.sentence).joined(separator: " ")
        }
    }
}

/// Describes why a line is rejected.
package enum ImportRefusal: Error, Hashable, Sendable {
    case tooLong(limit: Int)
    /// RevenueCat's date of the response is later than the server's clock.
    case datedAhead(by: Milliseconds)
    case unreadable(RevenueCatRefusal)

    /// A stable code for the reason; it depends only on the case.
    package var code: String {
        switch self {
        case .tooLong: "too-long"
        case .datedAhead: "dated-ahead"
        case .unreadable(let refusal): refusal.code
        }
    }

    /// Describes the problem and its solution.
    package var sentence: String {
        switch self {
        case .tooLong(let limit):
            "It has more than \(limit) bytes: write each RevenueCat API response on a line of "
                + "its own."
        case .datedAhead(let ahead):
            "Its request_date is \(Self.words(for: ahead)) ahead of the server's clock. Correct "
                + "the date or the clock, and import the line again."
        case .unreadable(.malformedJSON(let error)):
            "It is not valid JSON at column \(error.column): write one whole RevenueCat "
                + "API response on each line."
        case .unreadable(.apiV2Response): RevenueCatRefusal.apiV2Response.sentence
        case .unreadable(let refusal):
            refusal.sentence
                + " Ask RevenueCat about this customer again, and import the line anew."
        }
    }

    /// Returns a length in days if it has at least two, else in seconds.
    private static func words(for length: Milliseconds) -> String {
        let days = length.count / Milliseconds.days(1).count
        return days < 2 ? "\(length.count / 1000) s" : "\(days) days"
    }
}
