import TideoverJSON

/// Percent-encoding as RFC 3986, 2.1 defines it, read strictly.
public enum PercentEncoding {
    /// Decodes percent-encoded bytes; nil if a `%` is not followed by two hexadecimal digits, if
    /// the result is not UTF-8, or if more than 30 combining marks follow each other in it.
    ///
    /// With `plusIsSpace` a `+` is a space, as in a query from an HTML form.
    public static func decode(
        _ encoded: some Collection<UInt8>,
        plusIsSpace: Bool = false
    ) -> String? {
        encoded.withContiguousStorageIfAvailable { decode($0, plusIsSpace) }
            ?? Array(encoded).withUnsafeBufferPointer { decode($0, plusIsSpace) }
    }

    private static func decode(
        _ encoded: UnsafeBufferPointer<UInt8>,
        _ plusIsSpace: Bool
    ) -> String? {
        guard encoded.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return text(encoded)
        }
        return decodedBytes(encoded, plusIsSpace: plusIsSpace).flatMap {
            $0.withUnsafeBufferPointer(text)
        }
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        // ASCII is valid and has no marks, and most text is ASCII.
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        guard let text = String(validating: bytes, as: UTF8.self), text.isStreamSafe else {
            return nil
        }
        return text
    }

    /// Encodes everything except unreserved characters, for one path segment, or one name or value
    /// of a query.
    public static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Encodes one segment of a path to Tideover. The segments `.` and `..`, which would lead to
    /// another path, are encoded too. Stores may read these as dots: do not send them to one.
    package static func encode(segment text: String) -> String {
        text == "." || text == ".." ? text.replacing(".", with: "%2E") : encode(text)
    }

    private static func decodedBytes(
        _ encoded: UnsafeBufferPointer<UInt8>,
        plusIsSpace: Bool
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var rest = encoded.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(value(ofDigit:)),
                    let low = rest.next().flatMap(value(ofDigit:))
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func value(ofDigit byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
