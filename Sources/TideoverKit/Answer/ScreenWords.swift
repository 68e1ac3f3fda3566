public import TideoverCore

/// A message for one screen: a key and arguments for the app's own translations, and English text.
public struct ScreenWords: Hashable, Sendable {
    public var key: String
    public var title: String
    public var message: String
    /// The label of the button; nil if no action is needed.
    public var label: String?
    /// The values in the text, by the names in the table of messages.
    public var arguments: [String: MessageText.Value]

    public init(
        key: String,
        title: String,
        message: String,
        label: String? = nil,
        arguments: [String: MessageText.Value] = [:]
    ) {
        self.key = key
        self.title = title
        self.message = message
        self.label = label
        self.arguments = arguments
    }

    /// Returns the words in another language. `text` returns the translation of `KEY.title`,
    /// `KEY.message` or `KEY.label`, with a placeholder such as `{until}` for each argument; nil if
    /// there is none. A text without a translation stays English. `format` returns an argument as
    /// text in that language.
    public func translated(
        by text: (_ key: String) -> String?,
        format: (MessageText.Value) -> String
    ) -> ScreenWords {
        var words = self
        let values = arguments.mapValues(format)
        if let title = text("\(key).title") { words.title = Self.fill(title, values) }
        if let message = text("\(key).message") { words.message = Self.fill(message, values) }
        if label != nil, let label = text("\(key).label") {
            words.label = Self.fill(label, values)
        }
        return words
    }

    /// Replaces the placeholders in one pass: a value that contains braces is not filled again.
    private static func fill(_ template: String, _ values: [String: String]) -> String {
        var filled = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = String(rest[rest.index(after: open)..<close])
            filled += rest[..<open]
            filled += values[name] ?? "{\(name)}"
            rest = rest[rest.index(after: close)...]
        }
        return filled + rest
    }
}

/// Returns an app's own words for a message.
public typealias ScreenTranslation = (ScreenWords) -> ScreenWords
