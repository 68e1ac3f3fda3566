package import TideoverHTTP

/// Reads a response as it arrives: lines of the head first, then parts of the body.
package struct AnswerReader {
    /// The reason why the rest of a response is rejected.
    package enum Fault: Hashable {
        case malformed, headTooLarge, bodyTooLarge
    }

    private let limits: ExchangeLimits
    private var response = Response(status: 0)
    private var headBytes = 0
    private var headFields = 0
    /// Whether the final response's head is complete; later lines are trailers.
    package private(set) var isHeadComplete = false
    package private(set) var fault: Fault?
    /// Whether the body was longer than the limits allow, and its rest is not read.
    package private(set) var isCut = false

    package init(_ limits: ExchangeLimits) { self.limits = limits }

    /// The complete response, after the end of input, or the one that was cut; nil if it has no
    /// head.
    package var answer: Response? { isHeadComplete && fault == nil ? response : nil }

    /// Reads a line of a head or a trailer with its line break; returns false to abort.
    package mutating func take(line: some Collection<UInt8>) -> Bool {
        headBytes += line.count
        guard headBytes <= limits.headBytes else { return refuse(.headTooLarge) }
        if isHeadComplete { return true }
        let text = Self.trimmed(line)
        if text.isEmpty {
            // A 1xx head precedes the final one (RFC 9110, 15.2).
            isHeadComplete = response.status >= 200
            return response.status >= 100 ? true : refuse(.malformed)
        }
        return response.status < 200 && line.starts(with: "HTTP/".utf8)
            ? takeStatus(text) : takeField(line, text)
    }

    /// Reads a part of the body; returns false to abort.
    package mutating func take(part: some Collection<UInt8>) -> Bool {
        guard response.body.count + part.count > limits.bodyBytes else {
            response.body += part
            return true
        }
        guard limits.cutsBody else { return refuse(.bodyTooLarge) }
        isCut = true
        return false
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
        // A line that begins with white space would continue the previous one (RFC 9112, 5.2).
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
