import TideoverCore
import TideoverJSON

/// The members of one JSON object from RevenueCat.
typealias RevenueCatFields = WireFields<RevenueCatRefusal>

extension RevenueCatRefusal: WireRefusal {}

extension RevenueCatFields {
    /// Milliseconds since 1970, as events write instants.
    func milliseconds(_ name: String) throws(RevenueCatRefusal) -> Instant? {
        try value(name) { node in
            guard let count = node.int64 else { return nil }
            let instant = Instant(millisecondsSince1970: count)
            return Instant.writable.contains(instant) ? instant : nil
        }
    }

    /// A date and time by RFC 3339, as the REST API writes instants.
    func date(_ name: String) throws(RevenueCatRefusal) -> Instant? {
        try value(name) { $0.utf8.flatMap { Instant(rfc3339: $0) } }
    }

    /// Returns an enum value that the REST API writes in lower case and events write in upper case.
    func caselessWord<Known>(
        _ name: String
    ) throws(RevenueCatRefusal) -> OpenEnum<Known>? where Known.RawValue == String {
        try value(name) { $0.string.map { OpenEnum($0.uppercased()) } }
    }

    /// An amount of a currency's unit, to the thousandth.
    func milliunits(_ name: String) throws(RevenueCatRefusal) -> Int64? {
        try value(name) { $0.double.flatMap(Int64.init(thousandthsOf:)) }
    }

    /// Returns the members of an object in the order written; empty if it is absent.
    func members(_ name: String) throws(RevenueCatRefusal) -> [(key: String, value: JSONNode)] {
        guard let node = try value(name, { $0.kind == .object ? $0 : nil }) else { return [] }
        return Array(node.members)
    }
}

extension Int64 {
    /// The nearest number of thousandths; nil beyond 2^53, where a double cannot represent each
    /// integer.
    fileprivate init?(thousandthsOf value: Double) {
        let thousandths = value * 1000
        guard thousandths.magnitude < 0x1p53 else { return nil }
        self.init(thousandths < 0 ? thousandths - 0.5 : thousandths + 0.5)
    }
}
