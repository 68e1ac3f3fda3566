package import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// The languages of an app's answers: the built-in texts, or the operator's in their place.
package struct AnswerLanguages: Sendable {
    /// A language of answers, and its mark in their tags.
    struct Choice: Sendable {
        let language: MessageLanguage
        let mark: String

        /// The mark in a tag, after what precedes it.
        var suffix: String { "-\(mark)" }
    }

    /// The languages with texts of the operator, by tag.
    private var changed: [String: Choice] = [:]

    /// Creates the languages with the operator's texts, by the tag of each language.
    package init(_ texts: [String: [MessageText]] = [:]) {
        for var language in MessageLanguage.all {
            guard let own = texts[language.tag], !own.isEmpty else { continue }
            for text in own { language.replace(text) }
            let mark = "\(language.tag).\(Self.digest(own))"
            changed[language.tag] = Choice(language: language, mark: mark)
        }
    }

    /// Returns the language that a request accepts; nil for the stored answer, which is English.
    func choice(for request: Request) -> Choice? {
        let language = MessageLanguage.preferred(in: request.acceptedLanguages)
        if let changed = changed[language.tag] { return changed }
        guard language.tag != MessageLanguage.english.tag else { return nil }
        return Choice(language: language, mark: language.tag)
    }

    private static func digest(_ texts: [MessageText]) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for text in texts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                for part in [text.key.rawValue, text.title, text.message, text.label ?? ""] {
                    writer.value(part)
                }
            }
        }
        return Hexadecimal.text(SHA256.hash(writer.bytes).prefix(4))
    }
}
