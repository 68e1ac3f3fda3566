import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// The messages in every language, and answers in another language than the stored one.
@Suite struct MessageLanguageTests {
    private static let english = MessageLanguage.english
    private static let others = MessageLanguage.all.filter { $0.tag != english.tag }

    private func language(_ tag: String) throws -> MessageLanguage {
        try #require(MessageLanguage.all.first { $0.tag == tag })
    }

    @Test func `there are nine languages`() {
        #expect(
            MessageLanguage.all.map(\.tag)
                == ["en", "de", "fr", "es", "pt-BR", "it", "ja", "ko", "zh-Hans"]
        )
    }

    @Test(arguments: MessageLanguage.all, MessageText.Key.allCases)
    func `a message has the placeholders and the button of the English one`(
        language: MessageLanguage,
        key: MessageText.Key
    ) {
        let (own, english) = (language[key], Self.english[key])
        for (text, standard) in [(own.title, english.title), (own.message, english.message)] {
            let names = MessageText.names(in: text)
            #expect(Set(names) == Set(MessageText.names(in: standard)), "\(language.tag)")
            #expect(Set(names).count == names.count, "\(language.tag)")
            #expect(text.filter { "{}".contains($0) }.count == 2 * names.count)
            #expect(text == text.trimmingPrefix(" ") && !text.contains("  ") && !text.isEmpty)
        }
        #expect((own.label == nil) == (english.label == nil))
        #expect(own.label?.isEmpty != true)
    }

    @Test(arguments: others, MessageText.Key.allCases)
    func `no English text is left in another language`(
        language: MessageLanguage,
        key: MessageText.Key
    ) {
        #expect(language[key].title != Self.english[key].title)
        #expect(language[key].message != Self.english[key].message)
    }

    /// Words of the form of address that a language does not use: all of its texts have one form.
    private static let otherForms: [String: Set<String>] = [
        "de": ["du", "dich", "dir", "dein", "deine", "deinem", "deinen", "deiner", "deines"],
        "fr": ["tu", "toi", "ton", "ta", "tes"], "es": ["usted", "su", "sus"],
        "pt-BR": ["tu", "te", "teu", "tua"], "it": ["lei", "suo", "sua", "le"],
    ]

    @Test(arguments: otherForms.keys.sorted(), MessageText.Key.allCases)
    func `every text of a language has the same form of address`(
        tag: String,
        key: MessageText.Key
    ) throws {
        let message = try language(tag)[key]
        let texts = [message.title, message.message, message.label ?? ""]
        let words = texts.joined(separator: " ").lowercased().split { !$0.isLetter }
        let others = Self.otherForms[tag] ?? []
        #expect(words.filter { others.contains(String($0)) } == [])
    }

    @Test(arguments: MessageLanguage.all, WordingTests.screens)
    func `a text has all of its values`(language: MessageLanguage, screen: MessageContext) {
        for showsTimes in [false, true] {
            let wording = Wording(screen, showsTimes: showsTimes)
            for text in [wording.title(in: language), wording.message(in: language)] {
                #expect(!text.contains { "{}".contains($0) })
            }
        }
    }

    @Test(
        arguments: [
            ("en", "You have full access until 1 May 2026.", "9.99 USD per 3 months", "1 week"),
            ("de", "Sie haben bis zum 1. Mai 2026 vollen", "9,99 USD je 3 Monate", "1 Woche"),
            ("fr", "jusqu’au 1er mai 2026.", "9,99 USD pour 3 mois", "1 semaine"),
            ("es", "hasta el 1 de mayo de 2026.", "9,99 USD cada 3 meses", "1 semana"),
            ("pt-BR", "até 1º de maio de 2026.", "9,99 USD a cada 3 meses", "1 semana"),
            ("it", "fino a questa data: 1º maggio 2026.", "9,99 USD ogni 3 mesi", "1 settimana"),
            ("ja", "2026年5月1日まで", "3か月間あたり9.99 USD", "1週間"),
            ("ko", "2026년 5월 1일까지", "3개월마다 9.99 USD", "1주"),
            ("zh-Hans", "在2026年5月1日前", "每3个月 9.99 USD", "1周"),
        ] as [(String, String, String, String)]
    )
    func `dates, prices and lengths follow the language`(
        tag: String,
        date: String,
        price: String,
        length: String
    ) throws {
        let language = try language(tag)
        let quarterly = Price(
            amount: Money(milliunits: 9990, currency: "USD"),
            period: Period(months: 3)
        )
        #expect(Wording(.cancelled(until: "2026-05-01")).message(in: language).contains(date))
        #expect(Wording(.expired(price: quarterly)).message(in: language).contains(price))
        let offer = MessageContext.trialOffer(length: Period(weeks: 1), price: nil)
        #expect(Wording(offer).title(in: language).contains(length))
    }

    @Test func `a period of minutes is written with the time of day`() throws {
        let wording = Wording(.grace(until: "2026-05-01T10:05:00Z"), showsTimes: true)
        #expect(wording.message(in: try language("de")).contains("1. Mai 2026, 10:05 UTC"))
    }

    @Test(
        arguments: [
            ([], "en"), (["de"], "de"), (["de-AT"], "de"), (["DE"], "de"), (["pt-PT"], "pt-BR"),
            (["zh-CN"], "zh-Hans"), (["zh"], "zh-Hans"), (["zh-TW"], "en"), (["zh-Hant-HK"], "en"),
            (["zh-HK", "ja-JP"], "ja"), (["sv", "fr-CA", "de"], "fr"), (["sv"], "en"),
            (["en-GB", "de"], "en"), (["*"], "en"), ([""], "en"), (["deutsch"], "en"),
        ] as [([String], String)]
    )
    func `the first known language is chosen`(wanted: [String], chosen: String) {
        #expect(MessageLanguage.preferred(in: wanted).tag == chosen)
    }

    // MARK: Answers

    /// Writes an answer with one message and a prompt, as the server stores it.
    private func answer(_ wording: Wording, in language: MessageLanguage) throws -> String {
        var arguments = JSONWriter()
        arguments.object { writer in
            for (name, value) in wording.screen.arguments {
                switch value {
                case .instant(let instant): writer.field(name.rawValue, instant.rfc3339)
                case .number(let number): writer.field(name.rawValue, number)
                case .length(let period): writer.field(name.rawValue, period.iso8601)
                case .price(let price):
                    writer.field(
                        name.rawValue,
                        object: { writer in
                            writer.field("milliunits", price.amount.milliunits)
                            writer.field("currency", price.amount.currency)
                            writer.field("period", price.period?.iso8601)
                        }
                    )
                }
            }
        }
        let values = String(decoding: arguments.bytes, as: UTF8.self)
        func text(_ text: String?) -> String {
            String(decoding: (text.map(JSONValue.string) ?? .null).encoded(), as: UTF8.self)
        }
        let (title, message) = (wording.title(in: language), wording.message(in: language))
        let label = text(wording.label == nil ? nil : language[wording.screen.key].label)
        let texts = #""title":\#(text(title)),"message":\#(text(message))"#
        let key = #""key":"\#(wording.screen.key.rawValue)""#
        return #"{"entitlements":{"a":{"state":"grace","words":{\#(key),"arguments":\#(values),"#
            + #"\#(texts),"label":\#(label)}},"b":{"words":null}},"prompt":{"kind":"soft",\#(key),"#
            + #""arguments":\#(values),\#(texts),"action":{"label":\#(label),"url":"https://a"}}}"#
    }

    @Test(arguments: MessageLanguage.all, WordingTests.screens)
    func `an answer is translated, and the rest of it stays`(
        language: MessageLanguage,
        screen: MessageContext
    ) throws {
        for showsTimes in [false, true] {
            let wording = Wording(screen, showsTimes: showsTimes)
            let stored = try answer(wording, in: Self.english)
            let translated = language.translate(answer: Array(stored.utf8))
            let expected = try answer(wording, in: language)
            #expect(String(decoding: translated, as: UTF8.self) == expected)
        }
    }

    @Test(arguments: [
        "", "[1]", "{}", #"{"entitlements":{}}"#, #"{"entitlements":1,"prompt":{"kind":"none"}}"#,
        #"{"entitlements":{"a":{"words":{"key":"unheard.of","title":"A","message":"B"}}}}"#,
        #"{"prompt":{"key":"grace.soft","title":"A","message":"B","arguments":{}}}"#,
        #"{"prompt":{"key":"grace.soft","title":"A","message":"B","arguments":{"until":"soon"}}}"#,
    ])
    func `what is no known message stays as it is`(text: String) throws {
        let german = try language("de")
        #expect(String(decoding: german.translate(answer: Array(text.utf8)), as: UTF8.self) == text)
    }

    @Test func `an operator's text replaces a built-in one`() throws {
        var german = try language("de")
        german.replace(MessageText(.hold, "Gesperrt", "Bitte zahlen.", label: "Zahlen"))
        let stored = try answer(Wording(.hold), in: Self.english)
        let text = String(decoding: german.translate(answer: Array(stored.utf8)), as: UTF8.self)
        #expect(text.contains(#""title":"Gesperrt","message":"Bitte zahlen.","label":"Zahlen""#))
    }
}
