extension String {
    /// The first text after all texts that begin with this one, in the order of bytes. Requires a last
    /// character in plain ASCII.
    package var behindPrefix: String {
        var bytes = Array(utf8)
        precondition(bytes.last.map { $0 < 0x7f } ?? false, "a prefix ends in plain ASCII")
        bytes[bytes.count - 1] += 1
        return String(decoding: bytes, as: UTF8.self)
    }
}
