package import TideoverConfiguration
package import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures

/// The languages of an app's answers: the built-in texts, or the operator's in their place.
package struct AnswerLanguages: Sendable {
    /// Texts of the operator, by the tag of their language.
    package typealias Texts = [String: [MessageText]]

    /// A language of answers, and its mark in their tags.
    struct Choice: Sendable {
        let language: MessageLanguage
        /// The languages of prompts in arms of experiments, where they differ.
        var arms: [ArmName: MessageLanguage] = [:]
        let mark: String

        /// The mark in a tag, after what precedes it.
        var suffix: String { "-\(mark)" }

        func translate(answer: [UInt8]) -> [UInt8] {
            language.translate(answer: answer) { arms[ArmName(experiment: $0, arm: $1)] }
        }
    }

    /// The languages with texts of the operator, by tag.
    private var changed: [String: Choice] = [:]
    /// English with the texts of an arm alone.
    private let events: [ArmName: MessageLanguage]

    /// Creates the languages with the operator's texts, those of an arm in place of the app's.
    package init(_ texts: Texts = [:], arms: [ArmName: Texts] = [:]) {
        events = Self.languages(.english, of: arms)
        for var language in MessageLanguage.all {
            let own = texts[language.tag] ?? []
            for text in own { language.replace(text) }
            let armLanguages = Self.languages(language, of: arms)
            guard !own.isEmpty || !armLanguages.isEmpty else { continue }
            let digest = Self.digest(own, arms.compactMapValues { $0[language.tag] })
            changed[language.tag] = Choice(
                language: language,
                arms: armLanguages,
                mark: "\(language.tag).\(digest)"
            )
        }
    }

    /// Returns the language that a request accepts; nil for the stored answer, which is English.
    func choice(for request: Request) -> Choice? {
        let language = MessageLanguage.preferred(in: request.acceptedLanguages)
        if let changed = changed[language.tag] { return changed }
        guard language.tag != MessageLanguage.english.tag else { return nil }
        return Choice(language: language, mark: language.tag)
    }

    /// Returns the language of an event about a message in an arm: English.
    func ofEvents(_ assignment: ExperimentAssignment) -> MessageLanguage {
        events[ArmName(experiment: assignment.experiment, arm: assignment.arm.name)] ?? .english
    }

    /// Returns the language of each arm that has texts in it.
    private static func languages(
        _ language: MessageLanguage,
        of arms: [ArmName: Texts]
    ) -> [ArmName: MessageLanguage] {
        arms.compactMapValues { texts in
            guard let own = texts[language.tag], !own.isEmpty else { return nil }
            var language = language
            for text in own { language.replace(text) }
            return language
        }
    }

    private static func digest(
        _ texts: [MessageText],
        _ arms: [ArmName: [MessageText]]
    ) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for part in parts(texts) { writer.value(part) }
            for (name, texts) in arms.sorted(by: { $0.key < $1.key }) {
                for part in [name.experiment, name.arm] + parts(texts) { writer.value(part) }
            }
        }
        return Hexadecimal.text(SHA256.hash(writer.bytes).prefix(4))
    }

    private static func parts(_ texts: [MessageText]) -> [String] {
        texts.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { text in
            [text.key.rawValue, text.title, text.message, text.label ?? ""]
        }
    }
}
