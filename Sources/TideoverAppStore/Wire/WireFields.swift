import TideoverCore
import TideoverJSON

/// The members of one JSON object from the App Store.
typealias WireFields = TideoverCore.WireFields<AppStoreRefusal>

extension AppStoreRefusal: WireRefusal {
    package static var document: String { "payload" }
}

extension WireFields {
    /// Milliseconds since 1970; Xcode writes fractions of them.
    func date(_ name: String) throws(AppStoreRefusal) -> Instant? {
        try value(name, Instant.init(wire:))
    }

    /// Returns a JWS in compact serialization, not verified.
    func jws(_ name: String) throws(AppStoreRefusal) -> ArraySlice<UInt8>? {
        try value(name) { $0.utf8 }
    }

    /// Returns an object unchanged.
    func object(_ name: String) throws(AppStoreRefusal) -> JSONObject? {
        try value(name) { $0.kind == .object ? JSONValue($0).object : nil }
    }

    /// Returns an array of JWS in compact serialization, not verified.
    func signed(_ name: String) throws(AppStoreRefusal) -> [ArraySlice<UInt8>]? {
        try value(name) { node in
            guard node.kind == .array else { return nil }
            let texts = node.elements.map(\.utf8)
            return texts.contains(nil) ? nil : texts.compactMap(\.self)
        }
    }
}

extension Instant {
    /// Milliseconds since 1970 as the App Store writes them, rounded down. Nil for a value that is
    /// not a number, and for years outside 0 to 9999.
    init?(wire node: JSONNode) {
        guard let milliseconds = node.int64 ?? node.double.flatMap(Int64.init(flooring:)) else {
            return nil
        }
        self.init(millisecondsSince1970: milliseconds)
        guard Self.writable.contains(self) else { return nil }
    }
}

extension Int64 {
    /// Nil beyond 2^62, where a double has no fraction.
    fileprivate init?(flooring value: Double) {
        guard value.magnitude < 0x1p62 else { return nil }
        let truncated = Int64(value)
        self = Double(truncated) > value ? truncated - 1 : truncated
    }
}
