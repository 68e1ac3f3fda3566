extension Request {
    /// The language tags of `Accept-Language`, the most wanted first (RFC 9110, 12.5.4). Empty
    /// without the header. Ranges of quality 0 and malformed ones are left out, as is what follows
    /// the sixteenth.
    public var acceptedLanguages: [String] {
        guard let header = headers["Accept-Language"] else { return [] }
        let ranges = header.split(separator: ",").prefix(16).compactMap(LanguageRange.init)
        // The sort is stable: of equal quality, the first is wanted more.
        return ranges.sorted { $0.quality > $1.quality }.map(\.tag)
    }
}

/// One entry of `Accept-Language`, such as `de-AT;q=0.8`.
private struct LanguageRange {
    let tag: String
    /// From 1 to 1,000 thousandths.
    let quality: Int

    init?(_ text: Substring) {
        let parts = text.split(separator: ";").map { part in part.filter { $0 != " " && $0 != "\t" }
        }
        guard let tag = parts.first, (1...35).contains(tag.utf8.count),
            tag.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Self.isAlphanumeric($0) })
        else { return nil }
        self.tag = tag
        guard parts.count > 1 else {
            quality = 1_000
            return
        }
        guard parts.count == 2, let quality = Self.quality(parts[1]), quality > 0 else {
            return nil
        }
        self.quality = quality
    }

    /// Reads `q=0.8` as thousandths, with at most three decimals.
    private static func quality(_ text: String) -> Int? {
        guard text.lowercased().hasPrefix("q=") else { return nil }
        let number = text.dropFirst(2).split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(number.count), let whole = Int(number[0]), (0...1).contains(whole)
        else { return nil }
        let decimals = number.count == 2 ? number[1] : ""
        guard decimals.count <= 3, decimals.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return nil
        }
        let padded = decimals + String(repeating: "0", count: 3 - decimals.count)
        return min(whole * 1_000 + (Int(padded) ?? 0), 1_000)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
