/// The reason why bytes are not the expected ASN.1 value.
public enum BERError: Error, Hashable, Sendable {
    /// The bytes end inside a value, or a value exceeds the enclosing one.
    case truncated
    /// There are bytes after the last permitted value.
    case trailingBytes
    /// A length has more than four bytes, or the reserved form; under DER, any form but the
    /// shortest.
    case length
    /// A value without nested values has an indefinite length.
    case indefinitePrimitive
    /// An end-of-contents mark is not inside a value of indefinite length.
    case strayEndOfContents
    /// A tag has a number above 30, which no supported structure uses.
    case largeTag
    /// Values are nested deeper than ``BERReader/maximumDepth``.
    case tooDeep
    /// A value has an unexpected tag; nil if there is no value.
    case unexpectedTag(UInt8?)
    /// A boolean is not one byte, 0 or 255.
    case boolean
    /// A bit string has padding that is malformed or not zero.
    case bitString
    /// An integer is not in its shortest form, or has more than 64 bits.
    case integer
    /// An object identifier is malformed, or longer than any in use.
    case objectIdentifier
    /// A constructed string contains a value other than strings.
    case string
    /// A text has characters that its type does not allow.
    case text
}

extension BERError {
    /// A short description of the reason, to follow a colon.
    public var words: String {
        switch self {
        case .truncated: "the data ends too early"
        case .trailingBytes: "there are bytes after the end"
        case .length: "a length has an unused form"
        case .indefinitePrimitive: "a primitive value has no definite length"
        case .strayEndOfContents: "an end marker has no matching start"
        case .largeTag: "a tag is out of range"
        case .tooDeep: "values are nested deeper than \(BERReader.maximumDepth)"
        case .unexpectedTag: "a value has an unexpected tag"
        case .boolean: "a Boolean is malformed"
        case .bitString: "a bit string is malformed"
        case .integer: "an integer is malformed"
        case .objectIdentifier: "an object identifier is malformed"
        case .string: "a string is malformed"
        case .text: "a string has characters that its type does not allow"
        }
    }
}
