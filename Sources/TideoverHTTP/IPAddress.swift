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
    public init?(_ text: some StringProtocol) {
        let text = Substring(text)
        guard text.utf8.count <= Self.mostBytes,
            let bytes = Self.four(text) ?? Self.sixteen(text)
        else { return nil }
        self.bytes = bytes
    }

    /// Whether the address is one of IPv6.
    public var isIPv6: Bool { bytes.count == 16 }

    /// The address of IPv4 that an address of IPv6 stands for (`::ffff:192.0.2.1`), or else the
    /// address itself.
    public var unmapped: IPAddress {
        guard IPNetwork.mapped.contains(self) else { return self }
        return IPAddress(checked: Array(bytes.suffix(4)))
    }

    init(checked bytes: [UInt8]) { self.bytes = bytes }
}

// MARK: - Reading

extension IPAddress {
    /// As long as eight groups of which the last two are written as IPv4.
    private static let mostBytes = 45

    private static func four(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", maxSplits: 4, omittingEmptySubsequences: false)
        let bytes = parts.compactMap(decimal)
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    /// Numbers with a leading zero are octal to some readers and decimal to others, hence refused.
    private static func decimal(_ digits: Substring) -> UInt8? {
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39) ~= $0 }),
            digits.utf8.count == 1 || digits.utf8.first != 0x30
        else { return nil }
        return UInt8(digits)
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

    /// Where `::` stands first.
    private static func firstGap(in text: Substring) -> Substring.Index? {
        text.indices.first { text[$0...].hasPrefix("::") }
    }

    /// The bytes of groups joined by colons; nil if any is none, or if there are more than eight.
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
        bytes.map { "\($0)" }.joined(separator: ".")
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

/// All addresses that begin with the same bits, such as `10.0.0.0/8`.
public struct IPNetwork: Hashable, Sendable {
    /// The first address; its bits after the prefix are zero.
    public let first: IPAddress
    /// How many bits are the same.
    public let prefixLength: Int

    /// The network of this first address; nil if it has not so many bits, or if any bit after them
    /// is set.
    public init?(_ first: IPAddress, prefixLength: Int) {
        guard (0...first.bytes.count * 8).contains(prefixLength),
            Self.cut(first, to: prefixLength) == first
        else { return nil }
        self.first = first
        self.prefixLength = prefixLength
    }

    /// Reads `10.0.0.0/8` or `fd00::/8`; an address alone is the network of only that address. Nil
    /// if it is anything else, or if a bit after the prefix is set, which is mostly a slip.
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

    /// What one client has at least to itself: an address of IPv4, or the 64 bits of IPv6 that
    /// every provider gives each customer, and within which he can choose any address.
    public init(ofClient address: IPAddress) {
        prefixLength = address.isIPv6 ? 64 : 32
        first = Self.cut(address, to: prefixLength)
    }

    /// What is written down of where an address is: 24 bits of IPv4, 48 of IPv6, which many share.
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

    /// Addresses of IPv4 in the clothes of IPv6 (RFC 4291, 2.5.5.2).
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
    /// As an operator writes it, such as `10.0.0.0/8`.
    public var description: String { "\(first)/\(prefixLength)" }
}
