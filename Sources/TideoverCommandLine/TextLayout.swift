/// Lays out text for people: its width on a screen, its line breaks, and its unsafe characters.
package enum TextLayout {
    /// Returns the number of columns of a text on a terminal. Control characters count as zero.
    package static func width(of text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    /// Returns the columns of one character: 0, 1, or 2 for East Asian wide characters and emoji.
    static func width(of character: Character) -> Int {
        if let ascii = character.asciiValue { return (0x20..<0x7F).contains(ascii) ? 1 : 0 }
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if character.unicodeScalars.contains("\u{FE0F}") || isWide(scalar) { return 2 }
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator,
            .paragraphSeparator:
            return 0
        default: return 1
        }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmojiPresentation || wideBlocks.contains { $0.contains(scalar.value) }
    }

    /// Blocks whose characters are wide or full-width in Unicode's `EastAsianWidth.txt`.
    private static let wideBlocks: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x20000...0x3FFFD,
    ]

    /// Returns a text that is safe on one line of a terminal. Control characters, line breaks and
    /// characters that reorder text are escaped, so that foreign data cannot control the terminal.
    package static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isSteering) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case let scalar where isSteering(scalar):
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isSteering(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        case 0x200E, 0x200F, 0x061C: true
        default: false
        }
    }

    /// Wraps a text to `width` columns. It breaks between words, and inside a word only if the word
    /// alone is wider. Existing line breaks remain.
    package static func wrapped(_ text: String, to width: Int) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            wrapped(words: line.split(separator: " ").map(String.init), to: width)
        }
    }

    /// Joins pieces with blanks into lines. A piece stays on one line if it fits on any line.
    static func wrapped(words: [String], to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for piece in words.flatMap({ pieces(of: $0, width: max(1, width)) }) {
            if line.isEmpty {
                line = piece
            } else if TextLayout.width(of: line) + 1 + TextLayout.width(of: piece) <= width {
                line += " " + piece
            } else {
                lines.append(line)
                line = piece
            }
        }
        return lines + [line]
    }

    private static func pieces(of word: String, width limit: Int) -> [String] {
        guard width(of: word) > limit else { return [word] }
        var pieces = [""]
        for character in word {
            let last = pieces[pieces.count - 1]
            if last.isEmpty || width(of: last) + width(of: character) <= limit {
                pieces[pieces.count - 1].append(character)
            } else {
                pieces.append(String(character))
            }
        }
        return pieces
    }

    /// Returns a number and its noun, in the plural unless the number is 1: "1 day", "0 days".
    package static func counted(
        _ count: some BinaryInteger,
        _ noun: String,
        plural: String? = nil
    ) -> String {
        "\(count) \(count == 1 ? noun : plural ?? "\(noun)s")"
    }

    /// Cuts a text to at most `limit` columns, with `...` in place of the removed part.
    package static func truncated(_ text: String, to limit: Int) -> String {
        guard width(of: text) > limit else { return text }
        let mark = String(repeating: ".", count: max(0, min(3, limit)))
        var kept = ""
        var columns = mark.count
        for character in text {
            columns += width(of: character)
            guard columns <= limit else { break }
            kept.append(character)
        }
        return kept + mark
    }

    static func padding(_ text: String, to columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - width(of: text)))
    }
}
