/// The first error in a JSON text, in reading order, and its position.
public struct JSONError: Error, Hashable, Sendable {
    /// The kind of error.
    public let reason: Reason
    /// The position in bytes from the start.
    public let offset: Int
    /// The line of the error, from 1; a line ends with LF, CR or both.
    public let line: Int
    /// The column of the error in Unicode scalars, from 1.
    public let column: Int

    /// The kinds of errors.
    public enum Reason: Hashable, Sendable {
        /// The text contains only white space and comments.
        case empty
        /// The text is longer than `limit` bytes.
        case tooLarge(limit: Int)
        /// More than `limit` arrays and objects are open at once.
        case tooDeep(limit: Int)
        /// The text starts with a byte order mark.
        case byteOrderMark
        /// A byte sequence is not UTF-8: overlong, a surrogate, past U+10FFFF, cut short or stray.
        case invalidUTF8
        /// A `\u` escape names one half of a surrogate pair.
        case loneSurrogate
        /// A backslash is followed by an invalid escape.
        case invalidEscape
        /// A string contains an unescaped control character; carries its code.
        case controlCharacter(UInt8)
        /// More than 30 combining marks follow each other in a string; the position is its opening
        /// quote.
        case tooManyMarks
        /// A string has no closing quote; the position is its opening one.
        case unterminatedString
        /// A comment has no `*/`; the position is its `/*`.
        case unterminatedComment
        /// An unquoted literal, here shortened, is not `true`, `false` or `null`.
        case unknownWord(String)
        /// A number has a zero before other digits.
        case leadingZero
        /// A number lacks a digit after its sign, point or `e`.
        case missingDigit
        /// A number is too large for a double.
        case numberOutOfRange
        /// There is no value where one is required.
        case expectedValue
        /// There is no key where one is required.
        case expectedKey
        /// A key is not followed by a colon.
        case expectedColon
        /// An element is followed by neither a comma nor `]`.
        case expectedCommaOrBracket
        /// A member is followed by neither a comma nor `}`.
        case expectedCommaOrBrace
        /// A comma is followed by the end of its array or object.
        case trailingComma
        /// An object repeats a key; the position is the second occurrence, and the key is
        /// shortened.
        case duplicateKey(String, firstLine: Int)
        /// The text ends inside an array, an object or a number.
        case unexpectedEnd
        /// There is further content after the document.
        case trailingContent
    }
}

extension JSONError: CustomStringConvertible {
    /// A one-line message: the position, then the error.
    public var description: String { "line \(line), column \(column): \(reason)" }
}

extension JSONError.Reason: CustomStringConvertible {
    /// The error in one short line.
    public var description: String {
        switch self {
        case .empty: "the document is empty"
        case .tooLarge(let limit): "the document is longer than \(limit) bytes"
        case .tooDeep(let limit): "arrays and objects are nested deeper than \(limit) levels"
        case .byteOrderMark: "the document starts with a byte order mark; save it as plain UTF-8"
        case .invalidUTF8: "these bytes are not UTF-8"
        case .loneSurrogate: "this \\u escape is half of a surrogate pair"
        case .invalidEscape: "this backslash starts no known escape"
        case .controlCharacter(let code): Self.words(controlCharacter: code)
        case .tooManyMarks:
            "this string has more than \(String.mostMarks) combining marks after each other"
        case .unterminatedString: "this string has no closing quote"
        case .unterminatedComment: "this comment is never closed"
        case .unknownWord(let word):
            "\"\(word)\" is not a value; quote text, or write true, false or null"
        case .leadingZero: "a number cannot start with 0 before other digits"
        case .missingDigit: "a digit is missing in this number"
        case .numberOutOfRange: "this number is too large"
        case .expectedValue: "a value is expected here"
        case .expectedKey: "a key is expected here"
        case .expectedColon: "a colon is expected after the key"
        case .expectedCommaOrBracket: "a comma or ] is expected here"
        case .expectedCommaOrBrace: "a comma or } is expected here"
        case .trailingComma: "a comma is not allowed before the end"
        case .duplicateKey(let key, let line):
            "the key \"\(key)\" is used twice, first on line \(line)"
        case .unexpectedEnd: "the document ends before it is complete"
        case .trailingContent: "the document is complete, but more follows"
        }
    }

    private static func words(controlCharacter code: UInt8) -> String {
        switch code {
        case 0x09: "a tab inside a string must be written as \\t"
        case 0x0A, 0x0D: "a string cannot contain a line break; check its closing quote"
        default: "a string contains the control character \(code)"
        }
    }
}

/// An error found by the scanner; its line is computed only when it reaches the caller.
struct JSONFault: Error {
    let reason: JSONError.Reason
    let offset: Int
}

/// Returns the line and column of a byte offset, both from 1.
func position(
    of offset: Int,
    in bytes: UnsafeBufferPointer<UInt8>
) -> (line: Int, column: Int) {
    var line = 1
    var column = 1
    var previous: UInt8 = 0
    // By index: without optimization, an iterator over a slice takes many times as long.
    var index = 0
    let end = min(offset, bytes.count)
    while index < end {
        let byte = bytes[index]
        index += 1
        if byte == 0x0A && previous == 0x0D {
            column = 1
        } else if byte == 0x0A || byte == 0x0D {
            line += 1
            column = 1
        } else if byte & 0xC0 != 0x80 {
            column += 1
        }
        previous = byte
    }
    return (line, column)
}

extension JSONFault {
    /// The maximum length of a key or token in a message, in Unicode scalars.
    static let wordLength = 40

    /// Returns the start of a text for a one-line message, with invisible characters replaced.
    static func shortened(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars.prefix(wordLength) {
            shown.unicodeScalars.append(isVisible(scalar) ? scalar : "\u{FFFD}")
        }
        return text.unicodeScalars.count > wordLength ? shown + "..." : shown
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

extension JSONError {
    /// A short stable code for responses and counters. `too-large`, `too-deep` and `duplicate-key`
    /// have one each; all other errors share `malformed-json`.
    public var code: String {
        switch reason {
        case .tooLarge: "too-large"
        case .tooDeep: "too-deep"
        case .duplicateKey: "duplicate-key"
        default: "malformed-json"
        }
    }
}
