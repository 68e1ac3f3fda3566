/// The form in which texts are stored, because PostgreSQL has none for NUL characters.
///
/// NUL becomes U+0001 `0`, and U+0001 becomes U+0001 `1`. Every other text is stored as it is, and
/// the order of the bytes of two texts stays the same.
enum StoredText {
    private static let escape: UInt8 = 1
    private static let digit = UInt8(ascii: "0")

    static func encode(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 <= escape }) else { return bytes }
        return bytes.flatMap { $0 <= escape ? [escape, digit + $0] : [$0] }
    }

    static func decode(_ stored: UnsafeRawBufferPointer) -> String {
        guard stored.contains(escape) else { return String(decoding: stored, as: UTF8.self) }
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in stored {
            if isEscaped {
                bytes.append(byte &- digit)
                isEscaped = false
            } else if byte == escape {
                isEscaped = true
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
