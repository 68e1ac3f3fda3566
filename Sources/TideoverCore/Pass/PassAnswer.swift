/// What a device knows of the time.
public struct DeviceTime: Hashable, Sendable {
    /// What its clock says; people set it back.
    public var clock: Instant
    /// The newest date in anything that a signature vouched for, such as an earlier pass or a store's
    /// transaction; nil before the first.
    public var newestVerified: Instant?

    public init(clock: Instant, newestVerified: Instant? = nil) {
        self.clock = clock
        self.newestVerified = newestVerified
    }

    /// The instant to answer for: a clock that lags behind what was signed is wrong.
    public var now: Instant { max(clock, newestVerified ?? clock) }
}

extension Pass {
    /// What a device may answer for one entitlement.
    public enum Answer: Hashable, Sendable {
        /// What the issuer stated.
        case stated(Entitlement)
        /// What the issuer stated has run its time; that it goes on is assumed until the pass ends.
        case presumed(Entitlement)
        /// Nothing: the pass has ended, or never spoke of it.
        case nothing

        /// Whether the customer may use it.
        public var access: Bool {
            switch self {
            case .stated(let entitlement), .presumed(let entitlement): entitlement.access
            case .nothing: false
            }
        }

        /// How sure the answer is.
        public var confidence: Confidence {
            switch self {
            case .stated(let entitlement): entitlement.confidence
            case .presumed(let entitlement):
                entitlement.confidence == .unknown ? .unknown : .presumed
            case .nothing: .unknown
            }
        }
    }

    /// The answer for an entitlement at a device's time, which is never before the pass was issued.
    public func answer(on name: String, at time: DeviceTime) -> Answer {
        let now = max(time.now, issued)
        guard let entitlement = self[name], now < min(notAfter, entitlement.notAfter) else {
            return .nothing
        }
        guard let end = entitlement.statedUntil, end <= now else { return .stated(entitlement) }
        return .presumed(entitlement)
    }
}

extension Pass.Entitlement {
    /// How long what is stated holds by itself; nil for ever.
    fileprivate var statedUntil: Instant? { access ? accessUntil : nextChange }
}
