/// Why bytes are not the value of ASN.1 that was asked for: one case per reason.
public enum BERError: Error, Hashable, Sendable {
    /// The bytes end inside a value, or a value reaches beyond the one around it.
    case truncated
    /// There are bytes behind the last value that may be there.
    case trailingBytes
    /// A length is written in more than four bytes, or in the reserved form; under the rules of
    /// DER, in any form but the shortest.
    case length
    /// A value without nested values has no stated length.
    case indefinitePrimitive
    /// A mark of an end stands where nothing is to be ended.
    case strayEndOfContents
    /// A tag has a number above 30, which nothing that is read here uses.
    case largeTag
    /// Values are nested deeper than ``BERReader/maximumDepth``.
    case tooDeep
    /// A value has another tag than the one that must stand there; nil where there is none at all.
    case unexpectedTag(UInt8?)
    /// A truth value is not one byte, 0 or 255.
    case boolean
    /// A string of bits has padding that is malformed or not zero.
    case bitString
    /// An integer is not as short as it can be, or has more than 64 bits.
    case integer
    /// An object identifier is malformed, or longer than any that is in use.
    case objectIdentifier
    /// A string is not made of strings only.
    case string
    /// A text is not in the characters of its kind.
    case text
}

extension BERError {
    /// The reason in a few words that fit behind a colon.
    public var words: String {
        switch self {
        case .truncated: "it ends too early"
        case .trailingBytes: "there are bytes behind its end"
        case .length: "a length is written in a way that nobody uses"
        case .indefinitePrimitive: "a plain value has no length"
        case .strayEndOfContents: "an end is marked where nothing has begun"
        case .largeTag: "a tag is out of range"
        case .tooDeep: "values are nested deeper than \(BERReader.maximumDepth)"
        case .unexpectedTag: "a value has another tag than it must have"
        case .boolean: "a truth value is malformed"
        case .bitString: "a string of bits is malformed"
        case .integer: "an integer is malformed"
        case .objectIdentifier: "an object identifier is malformed"
        case .string: "a string is malformed"
        case .text: "a text has characters that it must not have"
        }
    }
}
