import Glibc

/// An address of IPv4 or IPv6, as the bytes that a connection would go to.
public struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes in network order.
    public let bytes: [UInt8]

    /// The address of these bytes; nil if there are not 4 or 16.
    public init?(bytes: [UInt8]) {
        guard [4, 16].contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Reads a literal without brackets and without a zone: four decimal numbers with dots, or
    /// IPv6 as RFC 4291, 2.2 spells it; nil if it is anything else.
    public init?(_ text: String) {
        var storage = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &storage) == 1 {
            bytes = Array(storage.prefix(4))
        } else if inet_pton(AF_INET6, text, &storage) == 1 {
            bytes = storage
        } else {
            return nil
        }
    }

    /// Whether the address is one of IPv6.
    public var isIPv6: Bool { bytes.count == 16 }
}

extension IPAddress: CustomStringConvertible {
    /// The usual spelling, such as `192.0.2.1` or `2001:db8::1`.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// All addresses that begin with the same bits, such as `10.0.0.0/8`.
public struct IPNetwork: Hashable, Sendable {
    /// The first address; its bits after the prefix are zero.
    public let first: IPAddress
    /// How many bits are the same.
    public let prefixLength: Int

    /// The network of this first address; nil if it has not so many bits, or if any bit after them
    /// is set.
    public init?(_ first: IPAddress, prefixLength: Int) {
        guard (0...first.bytes.count * 8).contains(prefixLength) else { return nil }
        self.first = first
        self.prefixLength = prefixLength
        for (index, byte) in first.bytes.enumerated() {
            guard byte & ~Self.mask(of: index, prefixLength) == 0 else { return nil }
        }
    }

    /// Reads `10.0.0.0/8` or `fd00::/8`; an address alone is the network of only that address. Nil
    /// if it is anything else, or if a bit after the prefix is set, which is mostly a slip.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(first, prefixLength: first.bytes.count * 8)
            return
        }
        let digits = parts[1].utf8
        let isPlain = (1...3).contains(digits.count) && digits.allSatisfy { (0x30...0x39) ~= $0 }
        guard isPlain, let length = Int(parts[1]) else { return nil }
        self.init(first, prefixLength: length)
    }

    /// Whether an address of the same family begins with the network's bits.
    public func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        return address.bytes.indices.allSatisfy {
            address.bytes[$0] & Self.mask(of: $0, prefixLength) == first.bytes[$0]
        }
    }

    /// The bits of one byte that belong to the prefix.
    private static func mask(of index: Int, _ prefixLength: Int) -> UInt8 {
        let bits = min(8, max(0, prefixLength - index * 8))
        return UInt8(truncatingIfNeeded: 0xFF00 >> bits)
    }
}

extension IPNetwork: CustomStringConvertible {
    /// As an operator writes it, such as `10.0.0.0/8`.
    public var description: String { "\(first)/\(prefixLength)" }
}
