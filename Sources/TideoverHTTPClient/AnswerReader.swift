package import TideoverHTTP

/// An answer while it comes in: lines of the head first, then parts of the body.
package struct AnswerReader {
    /// Why the rest of an answer is not wanted.
    package enum Fault: Hashable {
        case malformed, headTooLarge, bodyTooLarge
    }

    private let limits: ExchangeLimits
    private var response = Response(status: 0)
    private var headBytes = 0
    private var headFields = 0
    /// Whether the final answer's head is complete; what follows as lines are trailers.
    package private(set) var isHeadComplete = false
    package private(set) var fault: Fault?

    package init(_ limits: ExchangeLimits) { self.limits = limits }

    /// The whole answer, once nothing more comes; nil if it has no head.
    package var answer: Response? { isHeadComplete && fault == nil ? response : nil }

    /// Takes a line of a head or a trailer with its line break; false if no more is wanted.
    package mutating func take(line: some Collection<UInt8>) -> Bool {
        headBytes += line.count
        guard headBytes <= limits.headBytes else { return refuse(.headTooLarge) }
        if isHeadComplete { return true }
        let text = Self.trimmed(line)
        if text.isEmpty {
            // A head of 1xx announces the one that counts (RFC 9110, 15.2).
            isHeadComplete = response.status >= 200
            return response.status >= 100 ? true : refuse(.malformed)
        }
        return response.status < 200 && line.starts(with: "HTTP/".utf8)
            ? takeStatus(text) : takeField(line, text)
    }

    /// Takes a part of the body; false if no more is wanted.
    package mutating func take(part: some Collection<UInt8>) -> Bool {
        guard response.body.count + part.count <= limits.bodyBytes else {
            return refuse(.bodyTooLarge)
        }
        response.body += part
        return true
    }

    private mutating func takeStatus(_ line: [UInt8]) -> Bool {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count > 1, words[1].count == 3,
            let status = Int(String(decoding: words[1], as: UTF8.self)),
            (100...999).contains(status)
        else { return refuse(.malformed) }
        response = Response(status: status)
        return true
    }

    private mutating func takeField(_ line: some Collection<UInt8>, _ text: [UInt8]) -> Bool {
        headFields += 1
        guard headFields <= limits.headFields else { return refuse(.headTooLarge) }
        // A line that begins with white space would continue the one before (RFC 9112, 5.2).
        guard response.status > 0, line.first == text.first,
            let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0
        else { return refuse(.malformed) }
        response.headers.append(
            String(decoding: text[..<colon], as: UTF8.self),
            String(decoding: Self.trimmed(text[(colon + 1)...]), as: UTF8.self)
        )
        return true
    }

    private mutating func refuse(_ fault: Fault) -> Bool {
        self.fault = self.fault ?? fault
        return false
    }

    private static func trimmed(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var bytes = Array(bytes.drop(while: isSpace))
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return bytes
    }

    private static func isSpace(_ byte: UInt8) -> Bool { " \t\r\n".utf8.contains(byte) }
}
