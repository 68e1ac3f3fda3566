/// What somebody asserted about one purchase, stamped with their clock. Facts are only ever added;
/// what a customer may use is a function of them.
public struct Fact: Hashable, Sendable {
    public var lineage: Lineage
    public var assertion: Assertion
    /// When it became true.
    public var effectiveAt: Instant
    /// When the store said so, by the store's clock (the inner signed date).
    public var assertedAt: Instant
    /// The signed date of the envelope it came in; equals `assertedAt` where there is none.
    public var envelopeSignedAt: Instant
    /// When we heard.
    public var learnedAt: Instant
    public var rank: Rank
    public var source: Source
    /// The evidence this was read from.
    public var evidence: EvidenceID

    public init(
        lineage: Lineage,
        assertion: Assertion,
        effectiveAt: Instant,
        assertedAt: Instant,
        envelopeSignedAt: Instant? = nil,
        learnedAt: Instant,
        rank: Rank = .store,
        source: Source,
        evidence: EvidenceID
    ) {
        self.lineage = lineage
        self.assertion = assertion
        self.effectiveAt = effectiveAt
        self.assertedAt = assertedAt
        self.envelopeSignedAt = envelopeSignedAt ?? assertedAt
        self.learnedAt = learnedAt
        self.rank = rank
        self.source = source
        self.evidence = evidence
    }
}

/// How much a fact's speaker is to be trusted; a lower rank fills what no higher one said of the
/// same thing, and never overrules.
public enum Rank: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// Our inference from a notification's bare type.
    case inferred = 0
    /// A relay: RevenueCat, an import.
    case relayed = 1
    /// The store's own words: API, signed notification, signed device transaction, receipt.
    case store = 2

    public static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// The way a fact reached us.
public enum Source: String, Hashable, Sendable, CaseIterable {
    case appStoreNotification, appStoreAPI, deviceTransaction, appReceipt
    case playNotification, playAPI
    case revenueCatWebhook, revenueCatAPI
    /// A file of another system's customers.
    case imported
    /// A person who runs the app.
    case `operator`
    /// This server, of what it did itself.
    case server
}

/// The SHA-256 digest of a piece of evidence, in lower-case hexadecimal.
public struct EvidenceID: Hashable, Sendable, Comparable {
    public let hex: String

    public init(hex: String) {
        self.hex = hex
    }

    public static func < (a: EvidenceID, b: EvidenceID) -> Bool { a.hex < b.hex }
}

/// The kinds of things that can be said of a purchase.
///
/// Indirect: a fact is copied on its way from store to standing, and then copies a reference instead of
/// a dozen texts.
public indirect enum Assertion: Hashable, Sendable {
    case term(Term)
    case outlook(Outlook)
    case condition(Condition)
    case revocation(Revocation)
    case reversal(Reversal)
    case grant(Grant)
    case inquiry(Inquiry)
    case pending(PendingPurchase)
    case playSubscription(PlaySubscription)
    case playPurchase(PlayPurchase)
    case playVoidedOrder(PlayVoidedOrder)
    case playReplacement(PlayReplacement)
    case playNotice(PlayNotice)
    case unrecognised(Unrecognised)
}

/// Names one term of a lineage.
public struct TermKey: Hashable, Sendable, Comparable {
    public var text: String

    public init(_ text: String) {
        self.text = text
    }

    public static func < (a: TermKey, b: TermKey) -> Bool { a.text < b.text }
}

/// A paid or free period, or a one-time purchase.
public struct Term: Hashable, Sendable {
    public var transactionId: String
    /// The App Store's id of the billing period; the same for every copy of one period.
    public var webOrderLineItemId: String?
    public var productId: String
    public var plan: Plan
    public var start: Instant
    /// Nil for what has no end of its own: lifetimes, and non-renewing purchases whose length the
    /// catalogue knows.
    public var end: Instant?
    public var offer: Offer?
    public var price: Money?
    /// Whether the store says that the customer has upgraded away from this term.
    public var isUpgraded: Bool
    /// Whether this word of the store carried a revocation of the term.
    public var isRevoked: Bool
    public var origin: Origin
    public var group: String?
    /// ISO 3166-1 alpha-3.
    public var storefront: String?
    /// The account the app named when it was bought, if any.
    public var accountToken: CustomerID?
    /// How it is billed, where the store offers a choice.
    public var billing: Billing?
    /// The longer commitment that this term is one payment of.
    public var commitment: Commitment?

    public init(
        transactionId: String,
        webOrderLineItemId: String? = nil,
        productId: String,
        plan: Plan = .autoRenewable,
        start: Instant,
        end: Instant?,
        offer: Offer? = nil,
        price: Money? = nil,
        isUpgraded: Bool = false,
        isRevoked: Bool = false,
        origin: Origin = .unstated,
        group: String? = nil,
        storefront: String? = nil,
        accountToken: CustomerID? = nil,
        billing: Billing? = nil,
        commitment: Commitment? = nil
    ) {
        self.transactionId = transactionId
        // Xcode writes "0" for every period: as an identity it would make all terms one.
        self.webOrderLineItemId = webOrderLineItemId == "0" ? nil : webOrderLineItemId
        self.productId = productId
        self.plan = plan
        self.start = start
        self.end = end
        self.offer = offer
        self.price = price
        self.isUpgraded = isUpgraded
        self.isRevoked = isRevoked
        self.origin = origin
        self.group = group
        self.storefront = storefront
        self.accountToken = accountToken
        self.billing = billing
        self.commitment = commitment
    }

    /// What makes two words speak of the same term.
    public var key: TermKey {
        webOrderLineItemId.map { TermKey("w:\($0)") } ?? TermKey("t:\(transactionId)")
    }

    /// What was sold.
    public enum Plan: Hashable, Sendable {
        case autoRenewable, nonRenewing, nonConsumable, consumable
        /// A kind this version does not know, in the store's own word: it unlocks nothing.
        case unrecognised(String)
    }

    /// Whether the customer bought this term or the store renewed into it.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        case purchase, renewal, unstated
    }

    /// How a subscription is paid for.
    public enum Billing: Hashable, Sendable {
        /// The whole period at once.
        case upfront
        /// By the month, for a longer commitment.
        case monthly
        case unrecognised(String)
    }

    /// A term's place in a commitment that is paid by the month.
    public struct Commitment: Hashable, Sendable {
        /// Which payment this is, from 1.
        public var payment: Int64?
        /// How many payments there are.
        public var payments: Int64?
        public var end: Instant?
        /// The price of the whole.
        public var price: Money?

        public init(
            payment: Int64? = nil,
            payments: Int64? = nil,
            end: Instant? = nil,
            price: Money? = nil
        ) {
            self.payment = payment
            self.payments = payments
            self.end = end
            self.price = price
        }
    }
}

/// A discount a term was sold with.
public struct Offer: Hashable, Sendable {
    public var kind: Kind
    public var discount: Discount?
    public var identifier: String?
    public var period: Period?

    public init(
        kind: Kind,
        discount: Discount? = nil,
        identifier: String? = nil,
        period: Period? = nil
    ) {
        self.kind = kind
        self.discount = discount
        self.identifier = identifier
        self.period = period
    }

    public enum Kind: Hashable, Sendable {
        case introductory, promotional, code, winBack
        case unrecognised(String)
    }

    public enum Discount: Hashable, Sendable {
        case freeTrial, payAsYouGo, payUpFront, oneTime
        case unrecognised(String)
    }
}

/// What the store expects to happen at the end of a term.
public struct Outlook: Hashable, Sendable {
    /// The end of the term it speaks of.
    public var renewalDate: Instant?
    public var productId: String?
    /// The product the next renewal is for.
    public var renewsInto: String?
    public var willRenew: Bool?
    public var isRetrying: Bool?
    public var graceEnd: Instant?
    public var lapse: Lapse?
    /// Whether a price increase awaits consent.
    public var priceIncreasePending: Bool?
    public var renewalPrice: Money?
    public var offer: Offer?
    /// How the next renewal is billed.
    public var billing: Term.Billing?
    /// What follows the commitment that runs.
    public var commitment: Commitment?

    public init(
        renewalDate: Instant? = nil,
        productId: String? = nil,
        renewsInto: String? = nil,
        willRenew: Bool? = nil,
        isRetrying: Bool? = nil,
        graceEnd: Instant? = nil,
        lapse: Lapse? = nil,
        priceIncreasePending: Bool? = nil,
        renewalPrice: Money? = nil,
        offer: Offer? = nil,
        billing: Term.Billing? = nil,
        commitment: Commitment? = nil
    ) {
        self.renewalDate = renewalDate
        self.productId = productId
        self.renewsInto = renewsInto
        self.willRenew = willRenew
        self.isRetrying = isRetrying
        self.graceEnd = graceEnd
        self.lapse = lapse
        self.priceIncreasePending = priceIncreasePending
        self.renewalPrice = renewalPrice
        self.offer = offer
        self.billing = billing
        self.commitment = commitment
    }

    /// What is to follow a commitment once its last payment is made.
    public struct Commitment: Hashable, Sendable {
        public var willRenew: Bool?
        public var renewsInto: String?
        public var billing: Term.Billing?
        public var date: Instant?
        public var price: Money?

        public init(
            willRenew: Bool? = nil,
            renewsInto: String? = nil,
            billing: Term.Billing? = nil,
            date: Instant? = nil,
            price: Money? = nil
        ) {
            self.willRenew = willRenew
            self.renewsInto = renewsInto
            self.billing = billing
            self.date = date
            self.price = price
        }
    }

    /// Why a subscription lapsed (the App Store's expiration intent).
    public enum Lapse: Hashable, Sendable {
        case cancelled, billingError, priceIncrease, productUnavailable, other
        case unrecognised(String)
    }
}

/// The store's own word for the state of a lineage.
public struct Condition: Hashable, Sendable {
    /// The state word beside the message, such as the App Store's status.
    public var status: Status?
    /// What the message itself announces, where that is a state.
    public var notice: Notice?
    /// Why the subscription ended, where a notice of its end names that.
    public var lapse: Outlook.Lapse?
    /// The end of the term it speaks of, from the renewal info beside it.
    public var renewalDate: Instant?

    public init(
        status: Status? = nil,
        notice: Notice? = nil,
        lapse: Outlook.Lapse? = nil,
        renewalDate: Instant? = nil
    ) {
        self.status = status
        self.notice = notice
        self.lapse = lapse
        self.renewalDate = renewalDate
    }

    public enum Status: Hashable, Sendable {
        case active, expired, retry, grace, revoked
        case unrecognised(String)
    }

    public enum Notice: String, Hashable, Sendable, CaseIterable {
        case failedToRenew, failedToRenewInGrace, graceExpired, expired
    }
}

/// A term taken back by the store.
public struct Revocation: Hashable, Sendable {
    public var term: TermKey
    public var date: Instant
    public var cause: Cause
    /// Thousandths of a percent of the price given back, where stated.
    public var percentage: Int64?
    /// In the operator's words; nil for what a store says.
    public var why: String?
    /// Which operator took it back, by the name of a key; nil for what a store says.
    public var by: String?

    public init(
        term: TermKey,
        date: Instant,
        cause: Cause,
        percentage: Int64? = nil,
        why: String? = nil,
        by: String? = nil
    ) {
        self.term = term
        self.date = date
        self.cause = cause
        self.percentage = percentage
        self.why = why
        self.by = by
    }

    public enum Cause: Hashable, Sendable {
        case refund, proratedRefund, familyAccessRemoved, assignmentRemoved
        /// The operator took a grant back.
        case withdrawn
        case unrecognised(String)
    }
}

/// A refund taken back: what it revoked is reinstated, the end date is unchanged.
public struct Reversal: Hashable, Sendable {
    public var term: TermKey

    public init(term: TermKey) {
        self.term = term
    }
}

/// A word this version does not know. It is kept and counted, and changes nothing.
public struct Unrecognised: Hashable, Sendable {
    /// Which field, such as `notificationType`.
    public var field: String
    public var value: String

    public init(field: String, value: String) {
        self.field = field
        self.value = value
    }
}
