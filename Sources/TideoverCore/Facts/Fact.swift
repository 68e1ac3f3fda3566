/// An assertion about one purchase, with the asserting party's timestamp. Facts are only added. A
/// customer's access is a function of them.
public struct Fact: Hashable, Sendable {
    public var lineage: Lineage
    public var assertion: Assertion
    /// When it became true.
    public var effectiveAt: Instant
    /// When the store asserted it, by the store's clock (the inner signed date).
    public var assertedAt: Instant
    /// The signed date of the enclosing envelope; equals `assertedAt` if there is none.
    public var envelopeSignedAt: Instant
    /// When the server learned it.
    public var learnedAt: Instant
    public var rank: Rank
    public var source: Source
    /// The evidence that this fact was read from.
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

/// The trust level of a fact's source. A lower rank fills gaps left by higher ranks, and never
/// overrides them.
public enum Rank: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// Inferred from a notification's bare type.
    case inferred = 0
    /// From a relay: RevenueCat or an import.
    case relayed = 1
    /// From the store: API, signed notification, signed device transaction, receipt.
    case store = 2

    public static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
}

/// How a fact reached the server.
public enum Source: String, Hashable, Sendable, CaseIterable {
    case appStoreNotification, appStoreAPI, deviceTransaction, appReceipt
    case playNotification, playAPI
    case revenueCatWebhook, revenueCatAPI
    /// A file of another system's customers.
    case imported
    /// A person who operates the app.
    case `operator`
    /// This server, about its own actions.
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

/// The kinds of assertions about a purchase.
///
/// Indirect, so that copying a fact on its way from store to standing copies a reference instead of
/// a dozen strings.
public indirect enum Assertion: Hashable, Sendable {
    case term(Term)
    case outlook(Outlook)
    case condition(Condition)
    case revocation(Revocation)
    case reversal(Reversal)
    case grant(Grant)
    case move(OwnershipMove)
    case inferredOwner(InferredOwner)
    case inquiry(Inquiry)
    case pending(PendingPurchase)
    case playSubscription(PlaySubscription)
    case playPurchase(PlayPurchase)
    case playVoidedOrder(PlayVoidedOrder)
    case playReplacement(PlayReplacement)
    case playNotice(PlayNotice)
    case unrecognised(Unrecognised)
}

/// The key of one term of a lineage.
public struct TermKey: Hashable, Sendable, Comparable {
    public var text: String

    public init(_ text: String) {
        self.text = text
    }

    /// The store's ID of its transaction; nil for a key from the ID of a billing period.
    var transactionId: String? {
        text.hasPrefix("t:") ? String(text.dropFirst(2)) : nil
    }

    public static func < (a: TermKey, b: TermKey) -> Bool { a.text < b.text }
}

/// A paid or free period, or a one-time purchase.
public struct Term: Hashable, Sendable {
    public var transactionId: String
    /// The App Store's ID of the billing period; the same for every copy of one period.
    public var webOrderLineItemId: String?
    public var productId: String
    public var plan: Plan
    public var start: Instant
    /// Nil if the term states no end: lifetimes, non-renewing purchases with a length in the
    /// catalogue, and subscriptions that are known from a failed payment alone.
    public var end: Instant?
    public var offer: Offer?
    public var price: Money?
    /// Whether the store reports that the customer has upgraded away from this term.
    public var isUpgraded: Bool
    /// Whether this store observation carried a revocation of the term.
    public var isRevoked: Bool
    public var origin: Origin
    public var group: String?
    /// ISO 3166-1 alpha-3.
    public var storefront: String?
    /// The account that the app set at purchase, if any.
    public var accountToken: CustomerID?
    /// How it is billed, if the store offers a choice.
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
        // Xcode writes "0" for every period. As an identity it would merge all terms.
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

    /// The key that identifies the term across observations.
    public var key: TermKey {
        webOrderLineItemId.map { TermKey("w:" + $0) } ?? TermKey("t:" + transactionId)
    }

    /// The kind of product sold.
    public enum Plan: Hashable, Sendable {
        case autoRenewable, nonRenewing, nonConsumable, consumable
        /// A kind that this version does not recognise, as the store names it. It unlocks nothing.
        case unrecognised(String)
    }

    /// Whether the customer bought this term or the store renewed into it.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        case purchase, renewal, unstated
    }

    /// How a subscription is paid.
    public enum Billing: Hashable, Sendable {
        /// The whole period at once.
        case upfront
        /// Monthly, for a longer commitment.
        case monthly
        case unrecognised(String)
    }

    /// A term's place in a commitment with monthly payments.
    public struct Commitment: Hashable, Sendable {
        /// The number of this payment, from 1.
        public var payment: Int64?
        /// The total number of payments.
        public var payments: Int64?
        public var end: Instant?
        /// The price of the whole commitment.
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

/// The discount that a term was sold with.
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

/// The store's expectation for the end of a term.
public struct Outlook: Hashable, Sendable {
    /// The end of the term concerned.
    public var renewalDate: Instant?
    public var productId: String?
    /// The product of the next renewal.
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
    /// The outlook for the end of the current commitment.
    public var commitment: Commitment?
    /// When a pause is to end; only with the lapse `paused`.
    public var resumesAt: Instant?

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
        commitment: Commitment? = nil,
        resumesAt: Instant? = nil
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
        self.resumesAt = resumesAt
    }

    /// The outlook after the last payment of a commitment.
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
        /// The customer pauses it from the end of the term, as a relay reports.
        case paused
        case unrecognised(String)
    }
}

/// The store's own state of a lineage.
public struct Condition: Hashable, Sendable {
    /// The state that accompanies the message, such as the App Store's status.
    public var status: Status?
    /// The state that the message itself announces, if any.
    public var notice: Notice?
    /// Why the subscription ended, if a notice of its end states that.
    public var lapse: Outlook.Lapse?
    /// The end of the term concerned, from the renewal info in the same message.
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

/// A term revoked by the store.
public struct Revocation: Hashable, Sendable {
    public var term: TermKey
    public var date: Instant
    public var cause: Cause
    /// The refunded share of the price in thousandths of a percent, if stated.
    public var percentage: Int64?
    /// The operator's reason; nil if the store revoked it.
    public var why: String?
    /// The key name of the operator who revoked it; nil if the store did.
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
        /// The operator withdrew a grant.
        case withdrawn
        case unrecognised(String)
    }
}

/// A reversed refund. It reinstates the revoked term; the end date is unchanged.
public struct Reversal: Hashable, Sendable {
    public var term: TermKey

    public init(term: TermKey) {
        self.term = term
    }
}

/// A value that this version does not recognise. It is stored and counted, and changes nothing.
public struct Unrecognised: Hashable, Sendable {
    /// The field name, such as `notificationType`.
    public var field: String
    public var value: String

    public init(field: String, value: String) {
        self.field = field
        self.value = value
    }
}
