/// The two encodings of receipts.
public enum ReceiptForm: String, CaseIterable, Hashable, Sendable {
    /// Every value has its length at its start, as the App Store writes it.
    case der
    /// Compound values end with a mark, and strings come in pieces, as Xcode writes it.
    case ber
}

/// Writes ASN.1 values with already encoded contents.
struct ASN1Writer {
    let form: ReceiptForm

    private static let pieceLength = 96

    func sequence(_ contents: [UInt8]...) -> [UInt8] { compound(0x30, contents) }

    func set(_ contents: [[UInt8]]) -> [UInt8] { compound(0x31, contents) }

    /// Returns `[number]`, a compound value.
    func field(_ number: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        compound(0xA0 | number, contents)
    }

    /// Returns a string in one piece, or in several.
    func octets(_ bytes: [UInt8]) -> [UInt8] {
        guard form == .ber else { return Self.plain(0x04, bytes) }
        let pieces = stride(from: 0, to: bytes.count, by: Self.pieceLength).map { start in
            Self.plain(0x04, Array(bytes[start..<min(start + Self.pieceLength, bytes.count)]))
        }
        return compound(0x24, pieces)
    }

    private func compound(_ identifier: UInt8, _ contents: [[UInt8]]) -> [UInt8] {
        let contents = Array(contents.joined())
        switch form {
        case .der: return Self.plain(identifier, contents)
        case .ber: return [identifier, 0x80] + contents + [0, 0]
        }
    }

    // MARK: Primitive values, which are the same in both

    static func plain(_ identifier: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [identifier] + length(contents.count) + contents
    }

    static func integer(_ number: Int64) -> [UInt8] {
        var digits = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        // As short as possible: the first bit is the sign.
        while digits.count > 1, digits[0] == (digits[1] < 0x80 ? 0 : 0xFF) { digits.removeFirst() }
        return plain(0x02, digits)
    }

    static func objectIdentifier(_ parts: [UInt64]) -> [UInt8] {
        plain(0x06, ([parts[0] * 40 + parts[1]] + parts[2...]).flatMap(base128))
    }

    static func utf8(_ text: String) -> [UInt8] { plain(0x0C, Array(text.utf8)) }

    static func ia5(_ text: String) -> [UInt8] { plain(0x16, Array(text.utf8)) }

    static let null: [UInt8] = [0x05, 0x00]

    private static func base128(_ number: UInt64) -> [UInt8] {
        var digits = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            digits.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return digits
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var digits: [UInt8] = []
        var rest = count
        while rest > 0 {
            digits.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(digits.count)] + digits
    }
}
