import TideoverCore
package import TideoverJSON

/// The members of one JSON object from Google. Protocol buffers omit false flags and empty lists.
typealias WireFields = TideoverCore.WireFields<PlayRefusal>

extension PlayRefusal: WireRefusal {
    /// Numbers of 64 bits may be written as strings, as in the JSON form of protocol buffers.
    package static func integer(_ node: JSONNode) -> Int64? {
        node.int64 ?? node.string.flatMap(Int64.init(decimal:))
    }
}

extension JSONDocument {
    /// Reads a document from Google, or one stored with its responses.
    init(google bytes: [UInt8], limits: JSONLimits = .inbound) throws(PlayRefusal) {
        do {
            try self.init(bytes, limits: limits)
        } catch {
            throw .malformedJSON(error)
        }
    }
}

extension WireFields {
    /// Returns a string that is not empty. Protocol buffers treat an empty string as an absent one.
    func text(_ name: String) throws(PlayRefusal) -> String? {
        try string(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A time in RFC 3339 with any number of fractional digits up to nine.
    func date(_ name: String) throws(PlayRefusal) -> Instant? {
        try value(name) { $0.utf8.flatMap { Instant(rfc3339: $0) } }
    }

    /// Milliseconds since 1970.
    func milliseconds(_ name: String) throws(PlayRefusal) -> Instant? {
        guard let count = try integer(name) else { return nil }
        let instant = Instant(millisecondsSince1970: count)
        guard Instant.writable.contains(instant) else { throw malformed(name) }
        return instant
    }

    /// Returns whether an object is present; its presence is its meaning.
    func has(_ name: String) throws(PlayRefusal) -> Bool {
        try fields(name) != nil
    }

    /// An object, read.
    func object<Value>(
        _ name: String,
        _ read: (WireFields) throws(PlayRefusal) -> Value
    ) throws(PlayRefusal) -> Value? {
        guard let fields = try fields(name) else { return nil }
        return try read(fields)
    }
}

extension Int64 {
    /// Parses a plain decimal number, without a plus sign or leading zeros.
    fileprivate init?(decimal text: String) {
        guard let number = Int64(text), "\(number)" == text else { return nil }
        self = number
    }
}
