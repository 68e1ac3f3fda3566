public import TideoverCore

/// One event of RevenueCat's, believed: it comes from there and is for the app.
public struct RevenueCatReading: Hashable, Sendable {
    public let event: RevenueCatEvent
    /// Nil for what is said of customers in every environment.
    public let environment: Environment?

    /// What all deliveries of the event share; unique within its app.
    public var dedupeKey: String { "revenuecat:\(event.id)" }

    /// What happened, in RevenueCat's word.
    public var eventType: String { event.type.raw }

    /// Whether it is a test event.
    public var isTest: Bool { event.type.known == .test }

    /// RevenueCat's words that this version does not know, each once.
    public var unrecognised: [Unrecognised] { event.unrecognised }

    /// What it says of customers; nil if nothing.
    public var customers: CustomerStatement? { event.customerStatement }

    /// What is worth saying of it to whoever inspects it.
    public var notes: [RevenueCatNote] {
        switch event.type.known {
        case nil: [.unknownType(event.type.raw)]
        case .test: [.test]
        case .invoiceIssuance, .virtualCurrencyTransaction, .experimentEnrollment:
            [.noPurchase(event.type.raw)]
        case .initialPurchase, .renewal, .nonRenewingPurchase, .cancellation, .uncancellation,
            .billingIssue, .expiration, .subscriptionPaused, .productChange, .transfer,
            .subscriptionExtended, .temporaryEntitlementGrant, .refundReversed, .subscriberAlias:
            []
        }
    }
}
