/// What a device concluded by itself from what its store told it: a claim to be compared, never believed.
public struct DeviceConclusion: Hashable, Sendable {
    /// What the device's clock showed; nil where it was not said.
    public var at: Instant?
    /// When it last looked at what its store tells; nil where it was not said.
    public var askedAt: Instant?
    /// The environment it looked at, as it names it; nil where it was not said.
    public var environment: String?
    /// By entitlement.
    public var words: [String: DeviceWord]

    public init(
        at: Instant? = nil,
        askedAt: Instant? = nil,
        environment: String? = nil,
        words: [String: DeviceWord] = [:]
    ) {
        self.at = at
        self.askedAt = askedAt
        self.environment = environment
        self.words = words
    }
}

/// What a device concluded of one entitlement.
public struct DeviceWord: Hashable, Sendable {
    public var access: Bool
    public var end: End
    public var productId: String?
    /// The App Store's id of the purchase it concluded from.
    public var originalTransactionId: String?
    /// Whether it could verify what it concluded from.
    public var isVerified: Bool
    /// Ids of transactions for it that the device has not finished.
    public var unfinished: [String]

    public init(
        access: Bool,
        end: End = .unsaid,
        productId: String? = nil,
        originalTransactionId: String? = nil,
        isVerified: Bool = true,
        unfinished: [String] = []
    ) {
        self.access = access
        self.end = end
        self.productId = productId
        self.originalTransactionId = originalTransactionId
        self.isVerified = isVerified
        self.unfinished = unfinished
    }

    /// Until when a device holds access to last, or since when it is over.
    public enum End: Hashable, Sendable {
        case unsaid
        case never
        case at(Instant)

        /// Nil where nothing was said.
        var instant: Instant? {
            switch self {
            case .unsaid: nil
            case .never: .distantFuture
            case .at(let instant): instant
            }
        }
    }

    /// Whether it still gives access at an instant, having been said before.
    func allows(at instant: Instant, saidAt: Instant) -> Bool {
        guard access, let end = end.instant, end > saidAt else { return access }
        return end > instant
    }
}

/// What we answered of one entitlement, as far as it can be compared.
public struct ServerWord: Hashable, Sendable {
    public var state: State
    public var confidence: Confidence
    /// Until when access lasts, or when it ended; nil is for ever where there is access, and unknown
    /// where there is none.
    public var until: Instant?
    public var productId: String?
    public var lineage: Lineage?
    /// The date of the store's newest word that the answer rests on; nil where there is none.
    public var saidAt: Instant?

    public init(
        state: State,
        confidence: Confidence,
        until: Instant? = nil,
        productId: String? = nil,
        lineage: Lineage? = nil,
        saidAt: Instant? = nil
    ) {
        self.state = state
        self.confidence = confidence
        self.until = until
        self.productId = productId
        self.lineage = lineage
        self.saidAt = saidAt
    }

    public var access: Bool { state.givesAccess }

    /// The end of access; nil where there is none, or it is not known.
    var end: Instant? { access ? until ?? .distantFuture : until }
}
