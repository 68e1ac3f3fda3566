import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverKit

/// Tests the words of screens in other languages.
@Suite struct ScreenWordsTests {
    private let words = ScreenWords(
        key: "trial.running",
        title: "Your free trial is running",
        message: """
            It lasts until 4 May 2026. After that it costs 9.99 EUR, unless you cancel by \
            3 May 2026.
            """,
        label: "Manage subscription",
        arguments: [
            "endsAt": .instant(TestPurchases.start), "daysLeft": .number(3),
            "trial": .length(Period(days: 3)),
            "price": .price(Price(amount: Money(milliunits: 9990, currency: "EUR"))),
        ]
    )

    @Test func `a translation receives the arguments`() {
        let table = [
            "trial.running.title": "Noch {daysLeft} Tage",
            "trial.running.message": "Bis {endsAt}, {unknown}",
        ]
        let translated = words.translated(by: { table[$0] }) { value in
            switch value {
            case .number(let number): "\(number)"
            case .instant: "{daysLeft}"
            case .length, .price: "-"
            }
        }
        #expect(translated.title == "Noch 3 Tage")
        // A value is inserted as it is, and an unknown placeholder stays visible.
        #expect(translated.message == "Bis {daysLeft}, {unknown}")
        #expect(translated.label == "Manage subscription")
    }

    @Test func `the app's table of strings translates what it contains`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-words-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let table = #""trial.running.title" = "Noch {daysLeft} Tage";"#
        try Data(table.utf8).write(to: folder.appending(path: "Tideover.strings"))
        let bundle = try #require(Bundle(path: folder.path))
        let german = Locale(identifier: "de_DE")
        let translated = words.translated(in: bundle, locale: german, languages: ["de-AT", "en"])
        #expect(translated.title == "Noch 3 Tage")
        // What the table lacks has the built-in text of the customer's language.
        #expect(translated.message.hasPrefix("Er dauert bis zum "))
        #expect(translated.label == "Abo verwalten")
        let japanese = words.translated(in: bundle, languages: ["ja-JP"])
        #expect(japanese.label == "サブスクリプションを管理")
        var later = words
        later.key = "a.later.message"
        #expect(later.translated(in: bundle, languages: ["ja"]) == later)
    }

    @Test func `a date is in the language of its sentence`() {
        let translated = words.translated(locale: Locale(identifier: "en_DE"), languages: ["de"])
        #expect(translated.message.hasPrefix("Er dauert bis zum 1. Mai 2026."))
    }

    @Test func `a text that the operator replaced stays as the server sent it`() {
        var own = words
        own.title = "Let us talk about your trial"
        own.message = "It lasts until 4 May 2026. Cancel by 3 May 2026."
        let translated = own.translated(languages: ["de"])
        #expect(translated.title == own.title)
        #expect(translated.message == own.message)
        #expect(translated.label == "Abo verwalten")
    }

    @Test(arguments: MessageLanguage.all, MessageText.Key.allCases)
    func `a built-in text of any language is translated`(
        language: MessageLanguage,
        key: MessageText.Key
    ) {
        let message = language[key]
        let filled = [message.title, message.message].map { text in
            MessageText.Argument.allCases.reduce(text) {
                $0.replacing("{\($1.rawValue)}", with: "1 {x}")
            }
        }
        let stated = ScreenWords(key: key.rawValue, title: filled[0], message: filled[1])
        let english = stated.translated(languages: ["en"])
        #expect(english.title == MessageText[key].title)
        #expect(english.message == MessageText[key].message)
    }

    @Test func `values are formatted for the locale`() {
        let german = Locale(identifier: "de_DE")
        #expect(MessageText.Value.number(1234).formatted(for: german) == "1.234")
        let day = MessageText.Value.instant(TestPurchases.start).formatted(for: german)
        #expect(day.contains("Mai 2026"))
        let price = Price(amount: Money(milliunits: 9990, currency: "EUR"))
        #expect(MessageText.Value.price(price).formatted(for: german) == "9,99\u{A0}€")
    }

    @Test func `an answer of the server carries its offer and the arguments of its words`() throws {
        let body = #"""
            {"environment": "production", "asOf": "2026-05-01T10:00:00Z", "customerVersion": 1,
             "entitlements": {"premium": {
               "state": "never", "access": false, "reason": "notEntitled",
               "confidence": "confirmed",
               "words": {"key": "trial.offer", "title": "Try it", "message": "Now", "label": "Go",
                 "arguments": {"trial": "P3D",
                   "price": {"milliunits": 9990, "currency": "USD", "period": "P1M"}}},
               "trialOffer": {"eligibility": "eligible", "store": "appStore", "productId": "pro",
                 "length": "P3D",
                 "price": {"milliunits": 9990, "currency": "USD", "period": "P1M"}}}},
             "prompt": {"kind": "none"}}
            """#
        let reply = try ServerReply(Array(body.utf8), to: EvidencePage())
        let price = Price(
            amount: Money(milliunits: 9990, currency: "USD"),
            period: Period(months: 1)
        )
        #expect(
            reply["premium"]?.offer
                == OfferedTrial(
                    productId: "pro",
                    length: Period(days: 3),
                    eligibility: .eligible,
                    price: price
                )
        )
        #expect(
            reply["premium"]?.words?.arguments
                == ["trial": .length(Period(days: 3)), "price": .price(price)]
        )
    }

    @Test func `a device without a server offers the trial that its products have`() {
        var world = SimulatedWorld(withServer: false, trial: Period(days: 3))
        world.launch()
        let offer = world.shown.last?["premium"].offer
        #expect(offer?.length == Period(days: 3))
        #expect(offer?.eligibility == .eligible)
        #expect(world.shown.last?["premium"].words?.key == "trial.offer.unpriced")
    }

    @Test func `an entitlement carries the prompt for its own payment`() {
        var world = SimulatedWorld(withServer: false)
        world.statuses = [TestPurchases.status(TestPurchases.subscription(7), .inBillingRetry)]
        world.now = TestPurchases.start + TestPurchases.month + .days(1)
        world.launch()
        let state = world.shown.last
        #expect(state?.prompt?.kind == .hard)
        #expect(state?["premium"].prompt == state?.prompt)
    }
}
