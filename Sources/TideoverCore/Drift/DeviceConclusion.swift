/// The entitlement state that a device computed from its store's data. It is compared, never
/// trusted.
public struct DeviceConclusion: Hashable, Sendable {
    /// The time on the device's clock; nil if not reported.
    public var at: Instant?
    /// When the device last read its store's data; nil if not reported.
    public var askedAt: Instant?
    /// The environment that the device read, as the device names it; nil if not reported.
    public var environment: String?
    /// The reported state of each entitlement.
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

/// The state that a device computed for one entitlement.
public struct DeviceWord: Hashable, Sendable {
    public var access: Bool
    public var end: End
    public var productId: String?
    /// The App Store's ID of the purchase that the state is based on.
    public var originalTransactionId: String?
    /// Whether the device verified the data that the state is based on.
    public var isVerified: Bool
    /// IDs of transactions for the entitlement that the device has not finished.
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

    /// When access lasts until, or when it ended, according to a device.
    public enum End: Hashable, Sendable {
        case unsaid
        case never
        case at(Instant)

        /// Nil if not reported.
        var instant: Instant? {
            switch self {
            case .unsaid: nil
            case .never: .distantFuture
            case .at(let instant): instant
            }
        }
    }

    /// Whether the state gives access at an instant, given when it was reported.
    func allows(at instant: Instant, saidAt: Instant) -> Bool {
        guard access, let end = end.instant, end > saidAt else { return access }
        return end > instant
    }
}

/// The server's state of one entitlement, limited to the comparable fields.
public struct ServerWord: Hashable, Sendable {
    public var state: State
    public var confidence: Confidence
    /// When access lasts until, or when it ended. Nil means permanent access, or an unknown end if
    /// there is no access.
    public var until: Instant?
    public var productId: String?
    public var lineage: Lineage?
    /// The date of the newest store observation behind the state; nil without one.
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

    /// The end of access; nil if there is no access or the end is unknown.
    var end: Instant? { access ? until ?? .distantFuture : until }
}
