import TideoverJSON

/// The text form of keys and certificates (RFC 7468): base64 between two labelled lines.
package enum PEM {
    /// Returns the bytes of the only block, which has this label. Returns nil for no block, several
    /// blocks, or any text except white space around it.
    package static func decode(_ text: String, label: String) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline).map(trimmed).filter { !$0.isEmpty }
        guard lines.count >= 3, lines.first == begin(label), lines.last == end(label) else {
            return nil
        }
        return Base64.decode(Array(lines.dropFirst().dropLast().joined().utf8), .standard)
    }

    /// Returns a block with lines of 64 characters and a line break at the end.
    package static func encode(_ bytes: [UInt8], label: String) -> String {
        var rest = Base64.encode(bytes, .standard)[...]
        var lines = [begin(label)]
        while !rest.isEmpty {
            lines.append(String(decoding: rest.prefix(64), as: UTF8.self))
            rest = rest.dropFirst(64)
        }
        return (lines + [end(label), ""]).joined(separator: "\n")
    }

    private static func begin(_ label: String) -> String { "-----BEGIN \(label)-----" }

    private static func end(_ label: String) -> String { "-----END \(label)-----" }

    private static func trimmed(_ line: Substring) -> String {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(line.drop(while: blank).reversed().drop(while: blank).reversed())
    }
}
