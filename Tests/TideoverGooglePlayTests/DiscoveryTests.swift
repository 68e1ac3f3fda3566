import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverJSON

/// Compares our parsers with Google's own description of its API. Every parsed field must exist
/// there with the expected type. A field is parsed if a value of the wrong type is rejected by its
/// name.
@Suite(.enabled(if: Vectors.present, "Google's discovery document is not beside the project"))
struct DiscoveryTests {
    /// Lists all ignored fields of a subscription.
    @Test func `all fields of a subscription are read but those named here`() throws {
        let unread = try unread("SubscriptionPurchaseV2") { node throws(PlayRefusal) in
            _ = try SubscriptionPurchaseV2(wire: node)
        }
        #expect(
            unread == [
                // The subscriber through a newspaper's page; personal data.
                "subscribeWithGoogleInfo", "kind",
                "canceledStateContext.userInitiatedCancellation.cancelSurveyResult.reasonUserInput",
                // The item that was replaced.
                "lineItems.itemReplacement",
            ]
        )
    }

    @Test func `all fields of a one-time purchase are read but those named here`() throws {
        let unread = try unread("ProductPurchaseV2") { node throws(PlayRefusal) in
            _ = try ProductPurchaseV2(wire: node)
        }
        let offer = "productLineItem.productOfferDetails."
        #expect(
            unread == [
                "kind", "testPurchaseContext.fopType", offer + "offerTags", offer + "offerToken",
                offer + "preorderOfferDetails", offer + "rentOfferDetails",
            ]
        )
    }

    @Test func `all fields of a voided purchase are read but its kind`() throws {
        let unread = try unread("VoidedPurchase") { node throws(PlayRefusal) in
            _ = try VoidedPurchase(wire: node)
        }
        #expect(unread == ["kind"])
    }

    @Test func `all fields of an order are read but those named here`() throws {
        let unread = try unread("Order") { node throws(PlayRefusal) in
            _ = try PlayOrder(wire: node)
        }
        let oneTime = "lineItems.oneTimePurchaseDetails."
        #expect(
            unread == [
                "buyerAddress", "orderDetails", "pointsDetails", "salesChannel",
                "lineItems.paidAppDetails", "lineItems.productTitle", oneTime + "offerId",
                oneTime + "preorderDetails", oneTime + "purchaseOptionId",
                oneTime + "rentalDetails", "lineItems.subscriptionDetails.offerPhaseDetails",
                "orderHistory.partialRefundEvents.refundDetails",
                "orderHistory.refundEvent.refundDetails",
            ]
        )
    }

    @Test func `only the plans of a subscription product are read, not prices and texts`()
        throws
    {
        let unread = try unread("Subscription") { node throws(PlayRefusal) in
            _ = try SubscriptionOnSale(wire: node)
        }
        let renewing = "basePlans.autoRenewingBasePlanType."
        #expect(
            unread == [
                "archived", "listings", "packageName", "restrictedPaymentCountries",
                "taxAndComplianceSettings", "basePlans.offerTags", "basePlans.otherRegionsConfig",
                "basePlans.regionalConfigs", renewing + "legacyCompatible",
                renewing + "legacyCompatibleSubscriptionOfferId", renewing + "prorationMode",
            ]
        )
    }

    @Test func `the known values are all of Google's`() throws {
        typealias Subscription = SubscriptionPurchaseV2
        let lists: [(String, String, [String])] = [
            ("SubscriptionPurchaseV2", "subscriptionState", words(Subscription.State.self)),
            ("SubscriptionPurchaseV2", "acknowledgementState", words(AcknowledgementState.self)),
            ("CancelSurveyResult", "reason", words(Subscription.CancelSurveyReason.self)),
            (
                "SubscriptionItemPriceChangeDetails", "priceChangeMode",
                words(Subscription.PriceChangeMode.self)
            ),
            (
                "SubscriptionItemPriceChangeDetails", "priceChangeState",
                words(Subscription.PriceChangeState.self)
            ),
            ("PriceStepUpConsentDetails", "state", words(Subscription.ConsentState.self)),
            (
                "ProrationPeriodOfferPhase", "originalOfferPhaseType",
                words(Subscription.OriginalPhase.self)
            ),
            ("SubscriptionDetails", "offerPhase", words(Subscription.OriginalPhase.self)),
            ("ProductPurchaseV2", "acknowledgementState", words(AcknowledgementState.self)),
            ("PurchaseStateContext", "purchaseState", words(ProductPurchaseV2.State.self)),
            (
                "ProductOfferDetails", "consumptionState",
                words(ProductPurchaseV2.ConsumptionState.self)
            ),
            ("BasePlan", "state", words(SubscriptionOnSale.State.self)),
            (
                "AutoRenewingBasePlanType", "resubscribeState",
                words(SubscriptionOnSale.Resubscribing.self)
            ),
            ("PrepaidBasePlanType", "timeExtension", words(SubscriptionOnSale.Extending.self)),
            ("Order", "state", words(PlayOrder.State.self)),
            ("RefundEvent", "refundReason", words(PlayOrder.RefundReason.self)),
            ("PartialRefundEvent", "state", words(PlayOrder.PartialRefundState.self)),
        ]
        let schemas = try #require(try Vectors.androidPublisher()["schemas"])
        for (schema, field, words) in lists {
            let listed = try #require(schemas[schema]?["properties"]?[field]?["enum"]).elements
                .compactMap(\.string).filter { !$0.hasSuffix("UNSPECIFIED") }
            #expect(Set(listed) == Set(words), "\(schema).\(field)")
        }
    }

    /// Members whose presence is their meaning, which the field comparison therefore omits.
    @Test func `the known alternatives are all of Google's`() throws {
        let schemas = try #require(try Vectors.androidPublisher()["schemas"])
        func names(_ schema: String) throws -> Set<String> {
            Set(try #require(schemas[schema]?["properties"]).members.map(\.key))
        }
        #expect(
            try names("CanceledStateContext") == [
                "userInitiatedCancellation", "systemInitiatedCancellation",
                "developerInitiatedCancellation", "replacementCancellation",
            ]
        )
        #expect(
            try names("OfferPhase") == [
                "basePrice", "freeTrial", "introductoryPrice", "prorationPeriod",
            ]
        )
        #expect(
            try names("PrepaidBasePlanType") == ["billingPeriodDuration", "timeExtension"]
        )
        #expect(
            try names("InstallmentsBasePlanType").isSuperset(
                of: [
                    "billingPeriodDuration", "gracePeriodDuration", "accountHoldDuration",
                    "resubscribeState",
                ]
            )
        )
        #expect(try names("PrepaidPlan") == ["allowExtendAfterTime"])
        #expect(try names("ProrationPeriodOfferPhase") == ["originalOfferPhaseType"])
    }

    private func words<Known>(_ type: Known.Type) -> [String]
    where Known: CaseIterable & RawRepresentable, Known.RawValue == String {
        type.allCases.map(\.rawValue)
    }

    // MARK: Field comparison

    /// Returns the paths of the ignored fields: a value of the wrong type there changes nothing.
    /// For an ignored object, returns only its own path.
    private func unread(
        _ schema: String,
        _ read: (JSONNode) throws(PlayRefusal) -> Void
    ) throws -> Set<String> {
        let example = try Example(schema)
        try read(JSONDocument(JSONValue.object(example.whole).encoded()).root)
        var unread: Set<String> = []
        // An object precedes its fields.
        for field in example.fields.sorted(by: { $0.keys.count < $1.keys.count })
        where !unread.contains(where: { field.path.hasPrefix($0 + ".") }) {
            let changed = example.whole.setting(field.keys, to: field.wrong)
            let node = try JSONDocument(JSONValue.object(changed).encoded()).root
            do {
                try read(node)
                unread.insert(field.path)
            } catch {
                #expect(error == .malformed(field: field.path), "\(field.path)")
            }
        }
        return unread
    }
}

/// An object from a discovery document, with every field that can occur beside the others.
private struct Example {
    struct Field {
        let keys: [String]
        let wrong: JSONValue
        var path: String { keys.joined(separator: ".") }
    }

    private(set) var whole: JSONObject = [:]
    private(set) var fields: [Field] = []
    private let schemas: JSONNode

    init(_ schema: String) throws {
        schemas = try #require(try Vectors.androidPublisher()["schemas"])
        whole = try object(schema, at: [])
    }

    /// The store writes at most one of these members, and the first one found counts. The example
    /// therefore omits them.
    private static let alternatives: Set<String> = [
        "prepaidPlan", "systemInitiatedCancellation", "developerInitiatedCancellation",
        "replacementCancellation", "freeTrial", "introductoryPrice", "prorationPeriod",
        "prepaidBasePlanType", "installmentsBasePlanType",
    ]

    private mutating func object(_ schema: String, at path: [String]) throws -> JSONObject {
        let properties = try #require(schemas[schema]?["properties"], "\(schema)")
        var object: JSONObject = [:]
        for (name, type) in properties.members where !Self.alternatives.contains(name) {
            let (value, wrong) = try example(of: type, at: path + [name])
            fields.append(Field(keys: path + [name], wrong: wrong))
            object[name] = value
        }
        return object
    }

    private mutating func example(
        of type: JSONNode,
        at path: [String]
    ) throws -> (JSONValue, wrong: JSONValue) {
        if let schema = type["$ref"]?.string {
            let isEmpty = schemas[schema]?["properties"] == nil
            let object = isEmpty ? [:] : try object(schema, at: path)
            return (.object(object), wrong: 7)
        }
        switch (type["type"]?.string, type["format"]?.string) {
        case ("array", _):
            let items = try #require(type["items"])
            let (item, wrong) = try example(of: items, at: path)
            return (.array([item]), wrong: items["$ref"] == nil ? .array([wrong]) : 7)
        case ("boolean", _): return (true, wrong: "true")
        case ("integer", _): return (7, wrong: "x")
        case ("string", _) where path.last?.hasSuffix("Duration") ?? false:
            return ("P7D", wrong: 7)
        // A map of names; our parsers read no maps.
        case ("object", _): return ([:], wrong: 7)
        case ("string", "google-datetime"): return ("2026-05-06T10:00:00.5Z", wrong: "yesterday")
        case ("string", "int64"): return ("7", wrong: "x")
        case ("string", _): return ("text", wrong: 7)
        case (let type, _): throw UnknownType(name: type)
        }
    }

    private struct UnknownType: Error { let name: String? }
}

extension JSONObject {
    /// Returns the object with another value at a path, in the first element of each array.
    func setting(_ keys: [String], to value: JSONValue) -> JSONObject {
        guard let key = keys.first else { return self }
        var object = self
        let rest = Array(keys.dropFirst())
        if rest.isEmpty {
            object[key] = value
        } else if let inner = self[key]?.array?.first?.object {
            object[key] = .array([.object(inner.setting(rest, to: value))])
        } else if let inner = self[key]?.object {
            object[key] = .object(inner.setting(rest, to: value))
        }
        return object
    }
}
