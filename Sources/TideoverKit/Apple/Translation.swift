public import Foundation
public import TideoverCore

extension ScreenWords {
    /// Returns the words in the customer's language. A table of the app's strings comes first. Its
    /// keys are those of the messages with `.title`, `.message` or `.label`, such as
    /// `hold.hard.title`. Where it has none, the words are the built-in ones of the first preferred
    /// language that has any. Dates, lengths and prices are formatted for the locale.
    public func translated(
        in bundle: Bundle = .main,
        table: String = "Tideover",
        locale: Locale = .current,
        languages: [String] = Locale.preferredLanguages
    ) -> ScreenWords {
        let language = MessageLanguage.preferred(in: languages)
        return translated(
            by: { key in
                let text = bundle.localizedString(forKey: key, value: nil, table: table)
                return text == key ? builtIn(key, in: language) : text
            },
            format: { $0.formatted(for: locale) }
        )
    }
}

extension ScreenWords {
    /// Returns the built-in text of a language for `KEY.title`, `KEY.message` or `KEY.label`; nil
    /// for a message that this version of the app does not know.
    private func builtIn(_ name: String, in language: MessageLanguage) -> String? {
        guard let text = MessageText.Key(rawValue: key).map({ language[$0] }) else { return nil }
        return switch name {
        case "\(key).title": text.title
        case "\(key).message": text.message
        case "\(key).label": text.label
        default: nil
        }
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
