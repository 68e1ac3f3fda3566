public import Foundation
public import TideoverCore

extension ScreenWords {
    /// Returns the words in the customer's language. A table of the app's strings comes first. Its
    /// keys are those of the messages with `.title`, `.message` or `.label`, such as
    /// `hold.hard.title`. Where it has none, the words are the built-in ones of the first preferred
    /// language that has any. A text that the server's configuration or an experiment replaced
    /// stays as the server sent it. Dates, lengths and prices are formatted for the locale, in the
    /// language of the text.
    public func translated(
        in bundle: Bundle = .main,
        table: String = "Tideover",
        locale: Locale = .current,
        languages: [String] = Locale.preferredLanguages
    ) -> ScreenWords {
        let language = MessageLanguage.preferred(in: languages)
        func own(_ key: String) -> String? {
            let text = bundle.localizedString(forKey: key, value: nil, table: table)
            return text == key ? nil : text
        }
        let format = own("\(key).message") == nil ? locale.with(language) : locale
        return translated(
            by: { own($0) ?? builtIn($0, in: language) },
            format: { $0.formatted(for: format) }
        )
    }
}

extension Locale {
    /// Returns this locale with the language of a text: an app without that language has another
    /// one, and a date must be in the language of its sentence.
    fileprivate func with(_ text: MessageLanguage) -> Locale {
        let wanted = Locale.Language(identifier: text.tag)
        guard language.languageCode != wanted.languageCode else { return self }
        var components = Locale.Components(locale: self)
        components.languageComponents.languageCode = wanted.languageCode
        components.languageComponents.script = wanted.script
        return Locale(components: components)
    }
}

extension ScreenWords {
    /// Returns the built-in text of a language for `KEY.title`, `KEY.message` or `KEY.label`; nil
    /// for a message that this version of the app does not know, and for a text that is the
    /// built-in one of no language: the operator's own.
    private func builtIn(_ name: String, in language: MessageLanguage) -> String? {
        guard let known = MessageText.Key(rawValue: key) else { return nil }
        func part(_ text: MessageText) -> String? {
            switch name {
            case "\(key).title": text.title
            case "\(key).message": text.message
            case "\(key).label": text.label
            default: nil
            }
        }
        let stated = part(MessageText(known, title, message, label: label)) ?? ""
        let isBuiltIn = MessageLanguage.all.contains { each in
            part(each[known]).map { Self.isFilled($0, as: stated) } ?? false
        }
        return isBuiltIn ? part(language[known]) : nil
    }

    /// Whether a text is a template with any values in it.
    private static func isFilled(_ template: String, as text: String) -> Bool {
        let pieces = template.split(separator: "{", omittingEmptySubsequences: false)
        let literals = [pieces[0]] + pieces.dropFirst().map { $0.drop { $0 != "}" }.dropFirst() }
        guard literals.count > 1 else { return template == text }
        guard text.hasPrefix(literals[0]) else { return false }
        var rest = text.dropFirst(literals[0].count)
        for literal in literals.dropFirst().dropLast() {
            guard let found = rest.firstRange(of: literal) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(literals[literals.count - 1])
    }
}

extension MessageText.Value {
    /// Returns the value as text for a locale, in its time zone.
    public func formatted(for locale: Locale) -> String {
        switch self {
        case .instant(let instant):
            let style = Date.FormatStyle(date: .long, time: .omitted, locale: locale)
            return instant.date.formatted(style)
        case .number(let number): return number.formatted(.number.locale(locale))
        case .length(let period): return period.formatted(for: locale)
        case .price(let price):
            let amount = Decimal(price.amount.milliunits) / 1000
            let style = Decimal.FormatStyle.Currency(code: price.amount.currency, locale: locale)
            let text = amount.formatted(style)
            return price.period.map { "\(text) / \($0.formatted(for: locale))" } ?? text
        }
    }
}

extension Period {
    /// Returns the length as text for a locale, such as `3 days`. Linux has no formatter for
    /// lengths of calendar units.
    func formatted(for locale: Locale) -> String {
        #if canImport(Darwin)
        var calendar = Calendar(identifier: .gregorian)
        calendar.locale = locale
        let formatter = DateComponentsFormatter()
        formatter.calendar = calendar
        formatter.unitsStyle = .full
        let parts = DateComponents(
            year: Int(years),
            month: Int(months),
            day: Int(days),
            weekOfMonth: Int(weeks)
        )
        return formatter.string(from: parts) ?? iso8601
        #else
        return iso8601
        #endif
    }
}
