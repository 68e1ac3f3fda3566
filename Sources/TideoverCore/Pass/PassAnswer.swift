/// The times known to a device.
public struct DeviceTime: Hashable, Sendable {
    /// The device's clock; users can set it back.
    public var clock: Instant
    /// The newest date in any signed data, such as an earlier pass or a store's transaction; nil
    /// before the first.
    public var newestVerified: Instant?

    public init(clock: Instant, newestVerified: Instant? = nil) {
        self.clock = clock
        self.newestVerified = newestVerified
    }

    /// The instant to answer for. A clock behind the newest signed date is wrong.
    public var now: Instant { max(clock, newestVerified ?? clock) }
}

extension Pass {
    /// A device's answer for one entitlement.
    public enum Answer: Hashable, Sendable {
        /// The issuer's statement.
        case stated(Entitlement)
        /// The issuer's statement past its end. It is assumed to continue until the pass expires.
        case presumed(Entitlement)
        /// No answer: the pass has expired, or lacks the entitlement.
        case nothing

        /// Whether the customer has access.
        public var access: Bool {
            switch self {
            case .stated(let entitlement), .presumed(let entitlement): entitlement.access
            case .nothing: false
            }
        }

        /// How certain the answer is.
        public var confidence: Confidence {
            switch self {
            case .stated(let entitlement): entitlement.confidence
            case .presumed(let entitlement):
                entitlement.confidence == .unknown ? .unknown : .presumed
            case .nothing: .unknown
            }
        }
    }

    /// Returns the answer for an entitlement at a device's time, which is never before the pass was
    /// issued.
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
    /// How long the statement applies by itself; nil means permanently.
    fileprivate var statedUntil: Instant? { access ? accessUntil : nextChange }
}
