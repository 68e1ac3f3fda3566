/// The kinds of events that a webhook receives.
package struct WebhookFilter: Hashable, Sendable {
    /// `*`, a kind, or the beginning of kinds with `*` after it.
    package let patterns: [String]

    /// Creates a filter; nil without patterns, or with a malformed one.
    package init?(_ patterns: [String]) {
        guard !patterns.isEmpty, patterns.allSatisfy(Self.isPattern) else { return nil }
        self.patterns = patterns
    }

    private init(all: Void) { patterns = ["*"] }

    /// All events.
    package static let all = WebhookFilter(all: ())

    static func isPattern(_ text: String) -> Bool {
        let name = text.hasSuffix("*") ? text.dropLast() : text[...]
        let isName = name.utf8.allSatisfy { byte in
            byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
        }
        return isName && (1...100).contains(text.utf8.count)
    }

    package func matches(_ kind: String) -> Bool {
        patterns.contains { $0.hasSuffix("*") ? kind.hasPrefix($0.dropLast()) : kind == $0 }
    }
}
