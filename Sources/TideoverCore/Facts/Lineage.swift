/// Where a purchase was made.
public enum Store: String, Hashable, Sendable, CaseIterable {
    case appStore, googlePlay, revenueCat, tideover

    /// The stores that sell to customers; the others only report or grant.
    public static let selling: [Store] = [.appStore, .googlePlay]
}

/// The environment of a purchase. Environments are never mixed; each query names one.
public enum Environment: String, Hashable, Sendable, CaseIterable {
    case production, sandbox, xcode, simulated
}

/// How the customer obtained a purchase.
public enum Ownership: String, Hashable, Sendable, CaseIterable {
    case purchased
    /// Shared by a family member, or a seat that a group or an organization assigned.
    case familyShared
}

/// One store relation in one environment. For the App Store it is an `originalTransactionId` with
/// its ownership type, for Google Play a chain of purchase tokens.
public struct Lineage: Hashable, Sendable, Comparable {
    public var store: Store
    public var environment: Environment
    /// The store's ID of the relation.
    public var id: String
    public var ownership: Ownership

    public init(
        store: Store,
        environment: Environment,
        id: String,
        ownership: Ownership = .purchased
    ) {
        self.store = store
        self.environment = environment
        self.id = id
        self.ownership = ownership
    }

    /// The lineage as one string, unique within its app: `appStore:2000000012345678`, with the
    /// suffix `:family` for a family member's.
    public var key: String {
        let key = store.rawValue + ":" + id
        return ownership == .purchased ? key : key + ":family"
    }

    /// Reads a `key`; nil for any other text.
    package init?(key: String, in environment: Environment) {
        guard let colon = key.firstIndex(of: ":"),
            let store = Store(rawValue: String(key[..<colon]))
        else { return nil }
        let suffix = ":family"
        let rest = key[key.index(after: colon)...]
        let isFamily = rest.hasSuffix(suffix)
        self.init(
            store: store,
            environment: environment,
            id: String(isFamily ? rest.dropLast(suffix.count) : rest),
            ownership: isFamily ? .familyShared : .purchased
        )
    }

    public static func < (a: Lineage, b: Lineage) -> Bool {
        (a.environment.rawValue, a.key) < (b.environment.rawValue, b.key)
    }
}

/// A customer's ID in the app's own back end.
public struct CustomerID: Hashable, Sendable, Comparable {
    public let text: String

    /// Creates an ID. UUIDs compare without regard to case and are stored in lower case; any other
    /// ID is used verbatim. Nil for an empty ID and for the all-zero UUID that some clients send
    /// for "none".
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        guard !text.isEmpty else { return nil }
        if text.withUTF8(Self.isUUID) {
            if text.withUTF8({ $0.contains { (0x41...0x46).contains($0) } }) {
                text = text.lowercased()
            }
            let isZero = text.utf8.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "-") }
            if isZero { return nil }
        }
        self.text = text
    }

    // Compares bytes, like a database. Swift's strings have several forms of equality.

    public static func == (a: CustomerID, b: CustomerID) -> Bool {
        var (a, b) = (a.text, b.text)
        return a.withUTF8 { a in
            b.withUTF8 { isSame(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer($0)) }
        }
    }

    /// Compares eight bytes at a time; a generic sequence takes 29 instructions for each byte.
    private static func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        var at = 0
        while at + 8 <= a.count {
            guard
                a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    == b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            else { return false }
            at += 8
        }
        return (at..<a.count).allSatisfy { a[$0] == b[$0] }
    }

    public static func < (a: CustomerID, b: CustomerID) -> Bool {
        a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }

    private static func isUUID(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.count == 36
            && text.indices.allSatisfy { position in
                switch position {
                case 8, 13, 18, 23: text[position] == UInt8(ascii: "-")
                default: isHexDigit(text[position])
                }
            }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
    }
}
