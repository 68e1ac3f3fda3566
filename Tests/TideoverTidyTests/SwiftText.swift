/// Separates the code of a Swift file from its comments and its string literals.
struct SwiftText {
    struct Parts: Equatable {
        /// The file with comments and contents of literals replaced by blanks.
        var code = ""
        /// The file with everything but the contents of literals replaced by blanks.
        var literals = ""
        /// The file with blanks in place of everything but comments.
        var comments = ""
    }

    static func parts(of text: String) -> Parts {
        var reading = SwiftText(Array(text.utf8))
        reading.readCode(untilParenthesis: false)
        return Parts(
            code: String(decoding: reading.code, as: UTF8.self),
            literals: String(decoding: reading.literals, as: UTF8.self),
            comments: String(decoding: reading.comments, as: UTF8.self)
        )
    }

    private enum Kind {
        case code, literal, comment, other
    }

    private let bytes: [UInt8]
    private var position = 0
    private var code: [UInt8] = []
    private var literals: [UInt8] = []
    private var comments: [UInt8] = []

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads code to the end of the file, or to the parenthesis that ends an interpolation.
    private mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while position < bytes.count {
            if looking(at: "//") {
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n") {
                    take(.comment)
                }
            } else if looking(at: "/*") {
                readBlockComment()
            } else if let quote = openingQuote() {
                readLiteral(quote)
            } else {
                if bytes[position] == UInt8(ascii: "(") { depth += 1 }
                if bytes[position] == UInt8(ascii: ")") {
                    if depth == 0, untilParenthesis { return }
                    depth -= 1
                }
                take(.code)
            }
        }
    }

    private mutating func readBlockComment() {
        var depth = 0
        repeat {
            if looking(at: "/*") {
                depth += 1
                take(.comment, 2)
            } else if looking(at: "*/") {
                depth -= 1
                take(.comment, 2)
            } else {
                take(.comment)
            }
        } while depth > 0 && position < bytes.count
    }

    /// How a literal that begins here is quoted.
    private func openingQuote() -> (hashes: Int, quotes: Int)? {
        var end = position
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        let hashes = end - position
        while end < bytes.count, bytes[end] == UInt8(ascii: "\""), end - position < hashes + 3 {
            end += 1
        }
        let quotes = end - position - hashes
        switch quotes {
        case 0: return nil
        case 3: return (hashes, 3)
        default: return (hashes, 1)
        }
    }

    private mutating func readLiteral(_ quote: (hashes: Int, quotes: Int)) {
        let hashes = String(repeating: "#", count: quote.hashes)
        let closing = String(repeating: "\"", count: quote.quotes) + hashes
        let escape = "\\" + hashes
        take(.code, quote.hashes + quote.quotes)
        while position < bytes.count, !looking(at: closing) {
            if looking(at: escape + "(") {
                take(.other, escape.utf8.count + 1)
                readCode(untilParenthesis: true)
                take(.other)
            } else if looking(at: escape) {
                take(.literal, escape.utf8.count + 1)
            } else if quote.quotes == 1, bytes[position] == UInt8(ascii: "\n") {
                return
            } else {
                take(.literal)
            }
        }
        take(.code, quote.quotes + quote.hashes)
    }

    private func looking(at text: String) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }

    private mutating func take(_ kind: Kind, _ count: Int = 1) {
        for byte in bytes[position..<min(position + count, bytes.count)] {
            let isLineBreak = byte == UInt8(ascii: "\n")
            code.append(kind == .code || isLineBreak ? byte : UInt8(ascii: " "))
            literals.append(kind == .literal || isLineBreak ? byte : UInt8(ascii: " "))
            comments.append(kind == .comment || isLineBreak ? byte : UInt8(ascii: " "))
        }
        position = min(position + count, bytes.count)
    }
}
