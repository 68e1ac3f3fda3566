import Foundation
import Testing
import TideoverJSON
import TideoverStoreKitFile

@Suite struct StoreKitFileTests {
    private static let example = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Examples/Products.storekit")

    private static func text() throws -> String {
        try String(contentsOf: example, encoding: .utf8)
    }

    private static func month(_ count: Int = 1) -> ISOPeriod {
        ISOPeriod(count: count, unit: .month)
    }

    @Test func `a file by Xcode is read`() throws {
        let file = try StoreKitFile(Array(Self.text().utf8))
        #expect(file.version == 4)
        #expect(file.hasBillingGrace == true)
        #expect(file.storefront == "USA")
        #expect(file.currency == "USD")
        #expect(file.groups.map(\.name) == ["pro"])
        #expect(file.groups.map(\.id) == ["1A000000"])
        let subscriptions = file.groups[0].subscriptions
        #expect(subscriptions.map(\.product.id) == ["cards.pro.monthly", "cards.pro.yearly"])
        #expect(subscriptions.map(\.level) == [2, 1])
        #expect(subscriptions.map(\.period.text) == ["P1M", "P1Y"])
        #expect(subscriptions.map(\.product.milliunits) == [9990, 79_990])
        #expect(subscriptions.map(\.product.isFamilyShareable) == [false, true])
        let monthly = subscriptions[0]
        let trial = try #require(monthly.introductory)
        #expect(trial.id == nil)
        #expect(trial.mode == .free)
        #expect(trial.milliunits == nil)
        #expect(trial.length == ISOPeriod(count: 3, unit: .day))
        #expect(monthly.promotional.map(\.id) == ["stay"])
        #expect(monthly.promotional.map(\.mode) == [.payAsYouGo])
        #expect(monthly.promotional.map(\.milliunits) == [4990])
        #expect(monthly.promotional[0].length == Self.month(3))
        #expect(monthly.winBack.map(\.id) == ["come-back"])
        #expect(monthly.winBack.map(\.mode) == [.payUpFront])
        #expect(monthly.codes == [])
        #expect(subscriptions[1].introductory == nil)
        #expect(file.purchases.map(\.kind) == [.nonConsumable, .consumable, .nonRenewing])
        #expect(monthly.product.localizations.map(\.locale) == ["en_US"])
        #expect(monthly.product.localizations.map(\.name) == ["Cards Pro, Monthly"])
        #expect(
            monthly.product.localizations.map(\.description) == ["All decks, by the month"]
        )
    }

    @Test(arguments: ["9.99", "4.99", "1.99"])
    func `an empty price counts as absent`(price: String) throws {
        let text = try Self.text()
        let place = try #require(text.range(of: "\"\(price)\""))
        let file = try StoreKitFile(Array(text.replacingCharacters(in: place, with: "\"\"").utf8))
        let offers = file.groups.flatMap(\.subscriptions).flatMap { $0.promotional + $0.winBack }
        let prices = file.products.map(\.milliunits) + offers.map(\.milliunits)
        #expect(prices.count { $0 == nil } == 1)
    }

    /// Reads a file of version 5 with one subscription, which also has these members.
    private static func subscription(with members: String) throws -> StoreKitFile.Subscription {
        let text = """
            {"subscriptionGroups": [{"id": "A", "name": "g", "subscriptions": [{
            "displayPrice": "59.99", "productID": "p", "recurringSubscriptionPeriod": "P1Y",
            "type": "RecurringSubscription", \(members)}]}], "version": {"major": 5, "minor": 0}}
            """
        return try StoreKitFile(Array(text.utf8)).groups[0].subscriptions[0]
    }

    @Test func `a file with billing plans lists the introductory offer of each`() throws {
        let trial = { (plan: String, period: String) in
            #"{"billingPlanType": "\#(plan)", "internalID": "1", "numberOfPeriods": 1, "#
                + #""paymentMode": "free", "subscriptionPeriod": "\#(period)"}"#
        }
        let (monthly, upfront) = (trial("MONTHLY", "P3D"), trial("BILLED_UPFRONT", "P2W"))
        let both = try Self.subscription(with: "\"introductoryOffers\": [\(monthly), \(upfront)]")
        #expect(both.introductory?.length == ISOPeriod(count: 2, unit: .week))
        #expect(both.introductory?.mode == .free)
        #expect(both.introductory?.id == nil)
        let other = try Self.subscription(with: "\"introductoryOffers\": [\(monthly)]")
        #expect(other.introductory == nil)
        let repeated = "\"introductoryOffer\": \(upfront), \"introductoryOffers\": [\(upfront)]"
        #expect(try Self.subscription(with: repeated).introductory == both.introductory)
        let none = "\"introductoryOffer\": null, \"introductoryOffers\": []"
        #expect(try Self.subscription(with: none).introductory == nil)
    }

    @Test func `an offer of codes has its reference name`() throws {
        let code =
            #"{"eligibility": ["new"], "internalID": "2", "isStackable": true, "#
            + #""paymentMode": "free", "referenceName": "summer", "subscriptionPeriod": "P1M"}"#
        let subscription = try Self.subscription(with: "\"codeOffers\": [\(code)]")
        #expect(subscription.codes.map(\.id) == ["summer"])
    }

    @Test func `an older file has fewer fields`() throws {
        // As Xcode 12 wrote it.
        let text = """
            {"products": [], "settings": {}, "subscriptionGroups": [{"id": "A", "name": "g",
            "subscriptions": [{"adHocOffers": [], "displayPrice": "5", "familyShareable": false,
            "internalID": "B", "introductoryOffer": null, "localizations": [], "productID": "p",
            "recurringSubscriptionPeriod": "P1W", "referenceName": "r", "type":
            "RecurringSubscription"}]}], "version": {"major": 1, "minor": 0}}
            """
        let file = try StoreKitFile(Array(text.utf8))
        #expect(file.version == 1)
        #expect(file.hasBillingGrace == nil)
        #expect(file.currency == nil)
        #expect(file.groups[0].subscriptions[0].level == 1)
        #expect(file.products.map(\.milliunits) == [5000])
    }

    @Test(
        arguments: [
            (
                "\"P1M\"", "\"monthly\"",
                "subscriptionGroups[0].subscriptions[0].adHocOffers[0].subscriptionPeriod: this should be a period such as `P1M` or `P2W`"
            ),
            (
                "\"P1Y\"", "\"P0Y\"",
                "subscriptionGroups[0].subscriptions[1].recurringSubscriptionPeriod: this should be a period such as `P1M` or `P2W`"
            ),
            (
                "\"9.99\"", "9.99",
                "subscriptionGroups[0].subscriptions[0].displayPrice: this should be a text"
            ),
            (
                "\"49.99\"", "\"49,99\"",
                "products[0].displayPrice: this should be an amount such as `9.99`"
            ),
            (
                "\"productID\" : \"cards.lifetime\",", "",
                "products[0].productID: this is missing; open the file in Xcode, complete it and save it"
            ),
            (
                "\"Consumable\"", "\"Coins\"",
                "products[1].type: this should be `Consumable` or `NonConsumable` or `NonRenewingSubscription` or `RecurringSubscription`"
            ),
            (
                "\"cards.lifetime\"", "\"cards.season\"",
                "there are two products with the id cards.season; remove one"
            ),
            (
                "\"major\" : 4", "\"major\" : 6",
                "version.major: this is version 6 of the format, and 1 to 5 are read; list the products instead, or save the file with an older Xcode"
            ),
            (
                "\"version\"", "\"versions\"",
                "this is no StoreKit configuration file; in Xcode: File > New > File > StoreKit Configuration File"
            ),
            (
                "\"_billingGracePeriodEnabled\" : true", "\"_billingGracePeriodEnabled\" : 1",
                "settings._billingGracePeriodEnabled: this should be true or false"
            ),
        ]
    )
    func `an invalid file is reported with position and remedy`(
        good: String,
        bad: String,
        expected: String
    ) throws {
        let text = try Self.text()
        let place = try #require(text.range(of: good))
        let changed = text.replacingCharacters(in: place, with: bad)
        let error = #expect(throws: StoreKitFileError.self) {
            try StoreKitFile(Array(changed.utf8))
        }
        #expect(
            error.map { "\($0)".split(separator: " ").dropFirst().joined(separator: " ") }
                == expected
        )
        #expect(error.map { $0.line >= 1 && $0.column >= 1 } == true)
    }

    @Test func `a file that is not JSON is reported with its line`() {
        let error = #expect(throws: StoreKitFileError.self) {
            try StoreKitFile(Array("{\n  \"version\": }".utf8))
        }
        #expect(error?.line == 2)
    }
}
