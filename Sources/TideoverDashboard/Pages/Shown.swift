import TideoverCore

/// How values look on a page.
enum Shown {
    /// An instant in UTC; the script shows it in the reader's time zone.
    static func time(_ instant: Instant) -> HTML {
        .tag(.time, [.of(.datetime, instant.rfc3339)], "\(minute(instant)) UTC")
    }

    static func time(_ instant: Instant?, or word: String) -> HTML {
        instant.map { time($0) } ?? .text(word)
    }

    /// Returns an instant such as 2026-05-06 10:00.
    static func minute(_ instant: Instant) -> String {
        let text = instant.rfc3339
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }

    /// A number of a report, with the report's own spelling as its value.
    static func figure(_ figure: Figure, _ unit: String = "") -> HTML {
        let number = figure.value.map(number) ?? "none"
        let text = figure.value == nil || unit.isEmpty ? number : "\(number) \(unit)"
        return .tag(.data, [.of(.value, figure.source)], .text(text))
    }

    /// A share as a percentage.
    static func share(_ figure: Figure) -> HTML {
        let text = figure.value.map { "\(number($0 * 100)) %" } ?? "none"
        return .tag(.data, [.of(.value, figure.source)], .text(text))
    }

    /// A difference between shares, in points of a hundred.
    static func points(_ figure: Figure) -> HTML {
        let text = figure.value.map { number($0 * 100) } ?? "none"
        return .tag(.data, [.of(.value, figure.source)], .text(text))
    }

    /// Money of a report, in thousandths of the currency's unit.
    static func money(_ figure: Figure) -> HTML {
        guard let value = figure.value, value.isFinite, abs(value) < 1e15 else {
            return Self.figure(figure)
        }
        let cents = Int64((abs(value) / 10).rounded())
        let part = cents % 100
        let text = "\(grouped(cents / 100)).\(part < 10 ? "0" : "")\(part)"
        return .tag(
            .data,
            [.of(.value, figure.source), .of(.title, "\(figure.source) thousandths")],
            .text(value < 0 ? "-\(text)" : text)
        )
    }

    /// Minutes of a report in the largest unit that keeps a whole number of it.
    static func minutes(_ figure: Figure) -> HTML {
        guard let minutes = figure.value else { return Self.figure(figure) }
        return .tag(
            .data,
            [.of(.value, figure.source), .of(.title, "\(figure.source) minutes")],
            .text(text(ofMinutes: minutes))
        )
    }

    /// Seconds of a report, from two minutes on in the unit of `minutes`.
    static func seconds(_ figure: Figure) -> HTML {
        guard let seconds = figure.value, seconds >= 120 else { return Self.figure(figure, "s") }
        return .tag(
            .data,
            [.of(.value, figure.source), .of(.title, "\(figure.source) seconds")],
            .text(text(ofMinutes: seconds / 60))
        )
    }

    private static func text(ofMinutes minutes: Double) -> String {
        switch minutes {
        case 0: "0 min"
        case ..<1: "under 1 min"
        case ..<120: "\(number(minutes)) min"
        case ..<2_880: "\(number(minutes / 60)) h"
        default: "\(number(minutes / 1_440)) days"
        }
    }

    /// Returns a number with at most one decimal, and its thousands apart.
    static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        let tenths = Int64((abs(value) * 10).rounded())
        let whole = grouped(tenths / 10)
        let text = tenths % 10 == 0 ? whole : "\(whole).\(tenths % 10)"
        return value < 0 && tenths > 0 ? "-\(text)" : text
    }

    private static func grouped(_ number: Int64) -> String {
        let digits = String(number)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    static func store(_ id: String?) -> String {
        switch id {
        case "appStore": "App Store"
        case "googlePlay": "Google Play"
        case let id?: id
        case nil: "none"
        }
    }

    /// Returns the source of a fact in words.
    static func source(_ id: String) -> String {
        switch Source(rawValue: id) {
        case .appStoreNotification: "App Store notification"
        case .appStoreAPI: "App Store API"
        case .deviceTransaction: "device transaction"
        case .appReceipt: "app receipt"
        case .playNotification: "Google Play notification"
        case .playAPI: "Google Play API"
        case .revenueCatWebhook: "RevenueCat webhook"
        case .revenueCatAPI: "RevenueCat API"
        case .imported: "imported"
        case .operator: "operator"
        case .server: "this server"
        case nil: id
        }
    }

    /// Returns the words of a name in camel case, in kebab case or in snake case.
    static func words(_ id: String) -> String {
        var words = ""
        for character in id {
            if character == "-" || character == "_" {
                words.append(" ")
            } else if character.isUppercase {
                words += " \(character.lowercased())"
            } else {
                words.append(character)
            }
        }
        return words
    }

    static func judge(_ id: String) -> String {
        switch id {
        case "ours": "Tideover"
        case "expiryCheck": "An expiry check"
        case "relay": "RevenueCat"
        default: id
        }
    }

    /// The cause of a lockout.
    static func cause(_ id: String) -> String {
        switch id {
        case "grace": "the store kept access in grace"
        case "notHeard": "a message was lost or late"
        case "saidLater": "the store reported it later"
        case "judgement": "another conclusion"
        default: id
        }
    }

    /// The way in which a change arrived.
    static func way(_ id: String) -> String {
        switch id {
        case "pushed": "pushed by the store"
        case "asked": "found by asking"
        case "device": "sent by a device"
        default: id
        }
    }
}
