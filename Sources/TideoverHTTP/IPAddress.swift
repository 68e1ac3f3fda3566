/// An IPv4 or IPv6 address, as the bytes of a connection's peer.
public struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes in network order.
    public let bytes: [UInt8]

    /// Creates an address from its bytes; nil unless there are 4 or 16.
    public init?(bytes: [UInt8]) {
        guard [4, 16].contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Parses a literal without brackets and without a zone: four decimal numbers with dots, or
    /// IPv6 in the form of RFC 4291, 2.2. Returns nil for any other text.
    public init?(_ text: some StringProtocol) {
        let text = Substring(text)
        guard text.utf8.count <= Self.mostBytes,
            let bytes = Self.four(text) ?? Self.sixteen(text)
        else { return nil }
        self.bytes = bytes
    }

    /// Whether this is an IPv6 address.
    public var isIPv6: Bool { bytes.count == 16 }

    /// The IPv4 address that an IPv6 address maps (`::ffff:192.0.2.1`), or else the address itself.
    public var unmapped: IPAddress {
        guard IPNetwork.mapped.contains(self) else { return self }
        return IPAddress(checked: Array(bytes.suffix(4)))
    }

    init(checked bytes: [UInt8]) { self.bytes = bytes }
}

// MARK: - Reading

extension IPAddress {
    /// The length of eight groups with the last two written as IPv4.
    private static let mostBytes = 45

    private static func four(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var number: Int?
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                // Numbers with a leading zero are octal to some parsers and decimal to others.
                guard number != 0 else { return nil }
                let next = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
                guard next <= 255 else { return nil }
                number = next
            case UInt8(ascii: "."):
                guard let found = number, bytes.count < 3 else { return nil }
                bytes.append(UInt8(found))
                number = nil
            default: return nil
            }
        }
        guard let last = number, bytes.count == 3 else { return nil }
        return bytes + [UInt8(last)]
    }

    private static func sixteen(_ text: Substring) -> [UInt8]? {
        guard let gap = firstGap(in: text) else {
            return bytes(text, mayEndInIPv4: true).flatMap { $0.count == 16 ? $0 : nil }
        }
        let tail = text[gap...].dropFirst(2)
        guard let first = bytes(text[..<gap], mayEndInIPv4: false),
            let last = bytes(tail, mayEndInIPv4: true), first.count + last.count < 16
        else { return nil }
        return first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
    }

    /// The position of the first `::`.
    private static func firstGap(in text: Substring) -> Substring.Index? {
        text.indices.first { text[$0...].hasPrefix("::") }
    }

    /// Returns the bytes of groups joined by colons; nil if a group is invalid, or if there are
    /// more than eight.
    private static func bytes(_ text: Substring, mayEndInIPv4: Bool) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let groups = text.split(separator: ":", maxSplits: 8, omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, group) in groups.enumerated() {
            if mayEndInIPv4, index == groups.count - 1, let last = four(group) {
                bytes += last
            } else if let number = hexadecimal(group) {
                bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
            } else {
                return nil
            }
        }
        return bytes.count <= 16 ? bytes : nil
    }

    private static func hexadecimal(_ digits: Substring) -> UInt16? {
        let isPlain = digits.utf8.allSatisfy {
            (0x30...0x39) ~= $0 || (0x61...0x66) ~= $0 | 0x20
        }
        return isPlain && (1...4).contains(digits.utf8.count) ? UInt16(digits, radix: 16) : nil
    }
}

// MARK: - Writing

extension IPAddress: CustomStringConvertible {
    /// The usual spelling (RFC 5952), such as `192.0.2.1` or `2001:db8::1`.
    public var description: String {
        guard isIPv6 else { return Self.dotted(bytes[...]) }
        let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        let gap = Self.longestGap(in: groups)
        let endsInIPv4 = gap == 0..<6 || gap == 0..<5 && groups[5] == 0xFFFF
        let written = groups.prefix(endsInIPv4 ? 6 : 8).map { String($0, radix: 16) }
        let last = endsInIPv4 ? [Self.dotted(bytes.suffix(4))] : []
        guard let gap else { return (written + last).joined(separator: ":") }
        return written[..<gap.lowerBound].joined(separator: ":") + "::"
            + (written[gap.upperBound...] + last).joined(separator: ":")
    }

    private static func dotted(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            if !text.isEmpty { text += "." }
            text += String(byte)
        }
        return text
    }

    /// The first of the longest runs of at least two zeros.
    private static func longestGap(in groups: [Int]) -> Range<Int>? {
        var longest = 0..<1
        for start in groups.indices {
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.endIndex
            if end - start > longest.count { longest = start..<end }
        }
        return longest.count > 1 ? longest : nil
    }
}

/// All addresses with the same first bits, such as `10.0.0.0/8`.
public struct IPNetwork: Hashable, Sendable {
    /// The first address; its bits after the prefix are zero.
    public let first: IPAddress
    /// The number of common bits.
    public let prefixLength: Int

    /// Creates a network from its first address. Fails if the address has fewer bits than the
    /// prefix, or if any bit after the prefix is set.
    public init?(_ first: IPAddress, prefixLength: Int) {
        guard (0...first.bytes.count * 8).contains(prefixLength),
            Self.cut(first, to: prefixLength) == first
        else { return nil }
        self.first = first
        self.prefixLength = prefixLength
    }

    /// Parses `10.0.0.0/8` or `fd00::/8`; a single address becomes a network of one. Returns nil
    /// for any other text, or if a bit after the prefix is set, which is usually a mistake.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(parts[0]) else { return nil }
        guard parts.count == 2 else {
            self.init(first, prefixLength: first.bytes.count * 8)
            return
        }
        let digits = parts[1].utf8
        let isPlain = (1...3).contains(digits.count) && digits.allSatisfy { (0x30...0x39) ~= $0 }
        guard isPlain, let length = Int(parts[1]) else { return nil }
        self.init(first, prefixLength: length)
    }

    /// The smallest network of one client: an IPv4 address, or an IPv6 /64. Every provider gives
    /// each customer a /64, in which any address can be chosen.
    public init(ofClient address: IPAddress) {
        prefixLength = address.isIPv6 ? 64 : 32
        first = Self.cut(address, to: prefixLength)
    }

    /// The network recorded instead of an address: a /24 of IPv4 or a /48 of IPv6, shared by many
    /// clients.
    public init(around address: IPAddress) {
        prefixLength = address.isIPv6 ? 48 : 24
        first = Self.cut(address, to: prefixLength)
    }

    private init(checked bytes: [UInt8], prefixLength: Int) {
        first = IPAddress(checked: bytes)
        self.prefixLength = prefixLength
    }

    /// The machine itself.
    public static let loopback = [
        IPNetwork(checked: [127, 0, 0, 0], prefixLength: 8),
        IPNetwork(checked: [UInt8](repeating: 0, count: 15) + [1], prefixLength: 128),
    ]

    /// IPv4 addresses mapped into IPv6 (RFC 4291, 2.5.5.2).
    static let mapped = IPNetwork(
        checked: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 0, 0, 0, 0],
        prefixLength: 96
    )

    /// Whether an address of the same family begins with the network's bits.
    public func contains(_ address: IPAddress) -> Bool {
        address.bytes.count == first.bytes.count && Self.cut(address, to: prefixLength) == first
    }

    /// The address with all bits after the prefix zero.
    private static func cut(_ address: IPAddress, to prefixLength: Int) -> IPAddress {
        IPAddress(
            checked: address.bytes.enumerated().map { index, byte in
                let bits = min(8, max(0, prefixLength - index * 8))
                return byte & UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            }
        )
    }
}

extension IPNetwork: CustomStringConvertible {
    /// The usual notation, such as `10.0.0.0/8`.
    public var description: String { "\(first)/\(prefixLength)" }
}
