import TideoverCore

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

    /// The kinds of this version's events; docs/events.md describes each.
    package static let kinds: Set<String> = Set(
        Transition.Kind.allCases.map(\.rawValue) + [
            "entitlement_changed", Deadline.Kind.trialEnding.rawValue,
            Deadline.Kind.graceEnding.rawValue, PlannedMessage.eventKind, PurchaseMove.eventKind,
            Corrections.Correction.kind,
        ]
    )

    /// The patterns that match no kind of this version, such as a mistyped one. They are accepted,
    /// because a later version may have such a kind.
    package var unmatched: [String] {
        patterns.filter { pattern in
            !Self.kinds.contains { Self.matches(pattern, $0) }
        }
    }

    private static func matches(_ pattern: String, _ kind: String) -> Bool {
        pattern.hasSuffix("*") ? kind.hasPrefix(pattern.dropLast()) : kind == pattern
    }

    package func matches(_ kind: String) -> Bool {
        patterns.contains { Self.matches($0, kind) }
    }
}
