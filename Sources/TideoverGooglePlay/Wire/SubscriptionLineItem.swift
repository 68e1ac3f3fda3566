package import TideoverCore

extension SubscriptionPurchaseV2 {
    /// One product of a subscription.
    package struct LineItem: Hashable, Sendable {
        package let productId: String
        /// The expiry of the item, past or future; a renewal moves it.
        package let expiryTime: Instant?
        package let latestSuccessfulOrderId: String?
        package let plan: Plan?
        package let offerDetails: OfferDetails?
        package let offerPhase: OfferPhase?
        /// The promotion that was applied at signup.
        package let signupPromotion: SignupPromotion?
        /// The product that replaces it at its expiry.
        package let deferredReplacementProductId: String?
        /// Whether the item is removed at its expiry.
        package let isRemovedAtExpiry: Bool
    }

    /// The renewal of a product at its expiry.
    package enum Plan: Hashable, Sendable {
        case autoRenewing(AutoRenewingPlan)
        /// A prepaid plan; the customer can extend it from the stated instant, if any.
        case prepaid(allowExtendAfterTime: Instant?)
    }

    package struct AutoRenewingPlan: Hashable, Sendable {
        package let autoRenewEnabled: Bool
        package let recurringPrice: Money?
        package let priceChangeDetails: PriceChangeDetails?
        package let priceStepUpConsentDetails: PriceStepUpConsentDetails?
        package let installmentDetails: InstallmentDetails?
    }

    package struct PriceChangeDetails: Hashable, Sendable {
        package let newPrice: Money?
        package let priceChangeMode: OpenEnum<PriceChangeMode>?
        package let priceChangeState: OpenEnum<PriceChangeState>?
        package let expectedNewPriceChargeTime: Instant?
    }

    package enum PriceChangeMode: String, Hashable, Sendable, CaseIterable {
        case decrease = "PRICE_DECREASE"
        /// Without consent the subscription does not renew.
        case increase = "PRICE_INCREASE"
        /// The store informs the customer, who can only cancel.
        case optOutIncrease = "OPT_OUT_PRICE_INCREASE"
    }

    package enum PriceChangeState: String, Hashable, Sendable, CaseIterable {
        case outstanding = "OUTSTANDING"
        case confirmed = "CONFIRMED"
        case applied = "APPLIED"
        case canceled = "CANCELED"
    }

    /// A price step-up after an introductory price, which needs the customer's consent.
    package struct PriceStepUpConsentDetails: Hashable, Sendable {
        package let state: OpenEnum<ConsentState>?
        package let consentDeadlineTime: Instant?
        package let newPrice: Money?
    }

    package enum ConsentState: String, Hashable, Sendable, CaseIterable {
        case pending = "PENDING"
        case confirmed = "CONFIRMED"
        case completed = "COMPLETED"
    }

    /// A commitment with instalments.
    package struct InstallmentDetails: Hashable, Sendable {
        package let initialCommittedPaymentsCount: Int64?
        package let subsequentCommittedPaymentsCount: Int64?
        package let remainingCommittedPaymentsCount: Int64?
        /// Whether the customer has cancelled; this takes effect after the commitment.
        package let isCancellationPending: Bool
    }

    package struct OfferDetails: Hashable, Sendable {
        package let basePlanId: String?
        package let offerId: String?
        package let offerTags: [String]
    }

    /// A promotion code that the customer redeemed.
    package enum SignupPromotion: Hashable, Sendable {
        /// A code for one customer, which the store does not state.
        case oneTimeCode
        /// A code for many customers.
        case vanityCode(promotionCode: String?)
        /// A promotion that this version does not know.
        case unrecognised(String)
    }

    /// The type of the current period.
    package enum OfferPhase: Hashable, Sendable {
        case base, freeTrial, introductory
        /// The period uses up the remaining value of another subscription.
        case proration(of: OpenEnum<OriginalPhase>?)
        /// A phase that this version does not know.
        case unrecognised(String)
    }

    package enum OriginalPhase: String, Hashable, Sendable, CaseIterable {
        case base = "BASE"
        case introductory = "INTRODUCTORY"
        case freeTrial = "FREE_TRIAL"
    }
}

// MARK: - Reading

extension SubscriptionPurchaseV2.LineItem {
    init(_ fields: WireFields) throws(PlayRefusal) {
        guard let product = try fields.text("productId") else { throw fields.missing("productId") }
        productId = product
        expiryTime = try fields.date("expiryTime")
        latestSuccessfulOrderId = try fields.text("latestSuccessfulOrderId")
        plan = try .init(fields)
        offerDetails = try fields.object("offerDetails", SubscriptionPurchaseV2.OfferDetails.init)
        offerPhase =
            try fields.fields("offerPhase").flatMap(SubscriptionPurchaseV2.OfferPhase.init)
        signupPromotion =
            try fields.fields("signupPromotion")
            .flatMap(SubscriptionPurchaseV2.SignupPromotion.init)
        deferredReplacementProductId =
            try fields.fields("deferredItemReplacement")?.text("productId")
        isRemovedAtExpiry = try fields.has("deferredItemRemoval")
    }
}

extension SubscriptionPurchaseV2.Plan {
    fileprivate init?(_ fields: WireFields) throws(PlayRefusal) {
        let renewing = try fields.object(
            "autoRenewingPlan",
            SubscriptionPurchaseV2.AutoRenewingPlan.init
        )
        let prepaid = try fields.fields("prepaidPlan")
        switch (renewing, prepaid) {
        case (.some, .some):
            throw .ambiguousContent(members: ["autoRenewingPlan", "prepaidPlan"])
        case (let plan?, nil): self = .autoRenewing(plan)
        case (nil, let plan?):
            self = .prepaid(allowExtendAfterTime: try plan.date("allowExtendAfterTime"))
        case (nil, nil): return nil
        }
    }
}

extension SubscriptionPurchaseV2.AutoRenewingPlan {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        autoRenewEnabled = try fields.flag("autoRenewEnabled") ?? false
        recurringPrice = try fields.money("recurringPrice")
        priceChangeDetails = try fields.object(
            "priceChangeDetails",
            SubscriptionPurchaseV2.PriceChangeDetails.init
        )
        priceStepUpConsentDetails = try fields.object(
            "priceStepUpConsentDetails",
            SubscriptionPurchaseV2.PriceStepUpConsentDetails.init
        )
        installmentDetails = try fields.object(
            "installmentDetails",
            SubscriptionPurchaseV2.InstallmentDetails.init
        )
    }
}

extension SubscriptionPurchaseV2.PriceChangeDetails {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        newPrice = try fields.money("newPrice")
        priceChangeMode = try fields.word("priceChangeMode")
        priceChangeState = try fields.word("priceChangeState")
        expectedNewPriceChargeTime = try fields.date("expectedNewPriceChargeTime")
    }
}

extension SubscriptionPurchaseV2.PriceStepUpConsentDetails {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        state = try fields.word("state")
        consentDeadlineTime = try fields.date("consentDeadlineTime")
        newPrice = try fields.money("newPrice")
    }
}

extension SubscriptionPurchaseV2.InstallmentDetails {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        initialCommittedPaymentsCount = try fields.integer("initialCommittedPaymentsCount")
        subsequentCommittedPaymentsCount = try fields.integer("subsequentCommittedPaymentsCount")
        remainingCommittedPaymentsCount = try fields.integer("remainingCommittedPaymentsCount")
        isCancellationPending = try fields.has("pendingCancellation")
    }
}

extension SubscriptionPurchaseV2.OfferDetails {
    fileprivate init(_ fields: WireFields) throws(PlayRefusal) {
        basePlanId = try fields.text("basePlanId")
        offerId = try fields.text("offerId")
        offerTags = try fields.strings("offerTags") ?? []
    }
}

extension SubscriptionPurchaseV2.SignupPromotion {
    fileprivate init?(_ fields: WireFields) throws(PlayRefusal) {
        let isOneTime = try fields.has("oneTimeCode")
        if let vanity = try fields.fields("vanityCode") {
            self = .vanityCode(promotionCode: try vanity.text("promotionCode"))
        } else if isOneTime {
            self = .oneTimeCode
        } else if let name = fields.names.first {
            self = .unrecognised(name)
        } else {
            return nil
        }
    }
}

extension SubscriptionPurchaseV2.OfferPhase {
    fileprivate init?(_ fields: WireFields) throws(PlayRefusal) {
        if try fields.has("basePrice") {
            self = .base
        } else if try fields.has("freeTrial") {
            self = .freeTrial
        } else if try fields.has("introductoryPrice") {
            self = .introductory
        } else if let proration = try fields.fields("prorationPeriod") {
            self = .proration(of: try proration.word("originalOfferPhaseType"))
        } else if let name = fields.names.first {
            self = .unrecognised(name)
        } else {
            return nil
        }
    }
}
