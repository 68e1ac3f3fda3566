package import TideoverCore
import TideoverJSON

/// A webhook event in RevenueCat's form, for back ends that read RevenueCat's.
/// https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields
package struct RevenueCatMessage: Hashable, Sendable {
    package typealias Kind = RevenueCatEvent.EventType

    package let type: Kind
    /// The same in every delivery.
    package let id: String
    /// When the server learned of it.
    package let timestamp: Instant
    /// The app's id in the configuration.
    package let app: String
    package let content: Content

    package init(_ type: Kind, id: String, timestamp: Instant, app: String, content: Content) {
        self.type = type
        self.id = id
        self.timestamp = timestamp
        self.app = app
        self.content = content
    }

    package enum Content: Hashable, Sendable {
        /// An event of a customer, and of a purchase except in a test.
        case customer(Customer, Purchase?)
        case transfer(Transfer)
    }

    /// A customer, by the id that the other ids are aliases of.
    package struct Customer: Hashable, Sendable {
        package let id: String
        package let aliases: [String]
        package var attributes = SDKAttributes([:])

        package init(id: String, aliases: [String] = []) {
            self.id = id
            self.aliases = aliases
        }

        init(_ identity: CustomerIdentity) {
            self.init(
                id: identity.primary.text,
                aliases: identity.aliases.map(\.alias.text)
            )
        }

        /// Each id of the customer, the one that remains first.
        var ids: [String] { [id] + aliases }
    }

    /// A purchase that moved from one customer to another.
    package struct Transfer: Hashable, Sendable {
        package let from: [String]
        package let to: [String]
        package let store: RevenueCatStore
        package let environment: RevenueCatEnvironment
    }

    /// The purchase of an event, and what the event says of it.
    package struct Purchase: Hashable, Sendable {
        package var store: RevenueCatStore
        package let environment: RevenueCatEnvironment
        package let isFamilyShare: Bool
        package var product = ""
        package var newProduct: String?
        package var entitlements: [String] = []
        package var period = RevenueCatPeriodType.normal
        package var purchasedAt: Instant?
        package var expiresAt: Instant?
        package var graceUntil: Instant?
        package var resumesAt: Instant?
        package var cancelReason: RevenueCatReason?
        package var expirationReason: RevenueCatReason?
        package var transactionId: String?
        package var originalTransactionId: String?
        /// From 1 for the first period.
        package var number: Int?
        package var isTrialConversion: Bool?
        /// Negative for a refund.
        package var price: Money?
        /// Two letters, by ISO 3166-1.
        package var country: String?
        package var offerCode: String?
    }

    /// Adds what the app's SDK states about the customer; without effect for a transfer.
    package func with(_ attributes: SDKAttributes) -> RevenueCatMessage {
        guard case .customer(var customer, let purchase) = content else { return self }
        customer.attributes = attributes
        return RevenueCatMessage(
            type,
            id: id,
            timestamp: timestamp,
            app: app,
            content: .customer(customer, purchase)
        )
    }

    /// The body of the request.
    package var body: [UInt8] {
        JSONWriter.object { writer in
            writer.field("api_version", "1.0")
            writer.field("event", object: writeEvent)
        }
    }

    private func writeEvent(to writer: inout JSONWriter) {
        writer.field("type", type.rawValue)
        writer.field("id", id)
        writer.field("app_id", app)
        writer.field("event_timestamp_ms", timestamp.millisecondsSince1970)
        switch content {
        case .customer(let customer, let purchase):
            writer.field("app_user_id", customer.id)
            writer.field("original_app_user_id", customer.id)
            writer.field("aliases", .array(customer.ids.map(JSONValue.string)))
            writer.field("subscriber_attributes", object: customer.attributes.writeMembers)
            purchase?.writeMembers(of: type, to: &writer)
        case .transfer(let transfer): transfer.writeMembers(to: &writer)
        }
    }
}

extension RevenueCatMessage.Transfer {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("transferred_from", .array(from.map(JSONValue.string)))
        writer.field("transferred_to", .array(to.map(JSONValue.string)))
        writer.field("store", store.rawValue)
        writer.field("environment", environment.rawValue)
        writer.field("subscriber_attributes", object: { _ in })
    }
}

extension RevenueCatMessage.Purchase {
    /// Members that RevenueCat documents for every event of a purchase are null if unknown; the
    /// others are left out.
    fileprivate func writeMembers(of type: RevenueCatMessage.Kind, to writer: inout JSONWriter) {
        writer.field("product_id", product)
        writer.field("entitlement_id", String?.none)
        writer.field("entitlement_ids", .array(entitlements.map(JSONValue.string)))
        writer.field("period_type", period.rawValue)
        writer.field("purchased_at_ms", purchasedAt?.millisecondsSince1970)
        writer.field("expiration_at_ms", expiresAt?.millisecondsSince1970)
        writer.field("store", store.rawValue)
        writer.field("environment", environment.rawValue)
        writer.field("is_family_share", isFamilyShare)
        writer.field("transaction_id", transactionId)
        writer.field("original_transaction_id", originalTransactionId)
        writer.field("renewal_number", number)
        writer.field("country_code", country)
        writer.field("offer_code", offerCode)
        writer.field("presented_offering_id", String?.none)
        writePrice(to: &writer)
        if type == .renewal { writer.field("is_trial_conversion", isTrialConversion ?? false) }
        if let newProduct { writer.field("new_product_id", newProduct) }
        if let cancelReason { writer.field("cancel_reason", cancelReason.rawValue) }
        if let expirationReason { writer.field("expiration_reason", expirationReason.rawValue) }
        if type == .billingIssue {
            writer.field("grace_period_expiration_at_ms", graceUntil?.millisecondsSince1970)
        }
        if type == .subscriptionPaused {
            writer.field("auto_resume_at_ms", resumesAt?.millisecondsSince1970)
        }
    }

    /// RevenueCat converts `price` to US dollars. Here an amount of another currency is null, except
    /// nothing, which a free trial costs in each.
    private func writePrice(to writer: inout JSONWriter) {
        let amount = price.map { Double($0.milliunits) / 1000 }
        let isKnownInDollars = price?.currency == "USD" || price?.milliunits == 0
        writer.field("currency", price?.currency)
        writer.field("price", isKnownInDollars ? amount : nil)
        writer.field("price_in_purchased_currency", amount)
        for name in ["tax_percentage", "commission_percentage", "takehome_percentage"] {
            writer.field(name, Double?.none)
        }
    }
}
