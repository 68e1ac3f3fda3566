package import TideoverCore

/// The text of `customer.presented`: stores, each with milliseconds since 1970, in order of name.
package enum PresentedText {
    /// Returns nil for an empty dictionary.
    package static func write(_ presented: [Store: Instant]) -> String? {
        guard !presented.isEmpty else { return nil }
        return presented.map { "\($0.key.rawValue) \($0.value.millisecondsSince1970)" }
            .sorted().joined(separator: ",")
    }

    package static func read(_ text: String) -> [Store: Instant] {
        var presented: [Store: Instant] = [:]
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ")
            guard words.count == 2, let store = Store(rawValue: String(words[0])),
                let instant = Int64(words[1])
            else { continue }
            presented[store] = Instant(millisecondsSince1970: instant)
        }
        return presented
    }
}
