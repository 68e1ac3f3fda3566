/// The snapshot of one customer that a device can trust offline, as its issuer signs it.
///
/// A device accepts it under conditions (``PassExpectation``) and answers from it until it expires
/// (``answer(on:at:)``).
public struct Pass: Hashable, Sendable {
    /// The name of the signing issuer.
    public var issuer: String
    /// The app that it is for.
    public var audience: String
    public var customer: CustomerID
    public var environment: Environment
    /// The instant that it describes.
    public var issued: Instant
    /// When it expires.
    public var notAfter: Instant
    /// The version of the customer's answer.
    public var version: Int64
    /// By name.
    public var entitlements: [Entitlement]

    /// The longest validity of any pass.
    public static let life = Milliseconds.days(7)
    /// How long past its end access that will renew is presumed, at the purchase's pace.
    public static let presumption = Milliseconds.days(3)

    public init(
        issuer: String,
        audience: String,
        customer: CustomerID,
        environment: Environment,
        issued: Instant,
        notAfter: Instant,
        version: Int64,
        entitlements: [Entitlement]
    ) {
        self.issuer = issuer
        self.audience = audience
        self.customer = customer
        self.environment = environment
        self.issued = issued
        self.notAfter = notAfter
        self.version = version
        self.entitlements = entitlements
    }

    public subscript(_ name: String) -> Entitlement? {
        entitlements.first { $0.name == name }
    }

    /// When half of its validity is over. Nil if a pass issued then would last no longer, because
    /// access itself ends.
    public var renewAt: Instant? {
        guard notAfter == issued + Self.life else { return nil }
        return issued + Milliseconds((notAfter - issued).count / 2)
    }
}

extension Pass {
    /// The content of the pass for one entitlement.
    public struct Entitlement: Hashable, Sendable {
        public var name: String
        public var state: State
        /// A raw value of `Reason`, or one that a later version defines.
        public var reason: String
        public var confidence: Confidence
        public var productId: String?
        /// The end of unbroken confirmed access; nil is permanent if there is access.
        public var accessUntil: Instant?
        public var graceUntil: Instant?
        public var willRenew: Bool?
        /// When state, reason, access or confidence next differs if the store reports nothing more.
        public var nextChange: Instant?
        /// When the pass expires for this entitlement; never after the pass itself.
        public var notAfter: Instant

        public init(
            name: String,
            state: State,
            reason: String,
            confidence: Confidence = .confirmed,
            productId: String? = nil,
            accessUntil: Instant? = nil,
            graceUntil: Instant? = nil,
            willRenew: Bool? = nil,
            nextChange: Instant? = nil,
            notAfter: Instant
        ) {
            self.name = name
            self.state = state
            self.reason = reason
            self.confidence = confidence
            self.productId = productId
            self.accessUntil = accessUntil
            self.graceUntil = graceUntil
            self.willRenew = willRenew
            self.nextChange = nextChange
            self.notAfter = notAfter
        }

        public var access: Bool { state.givesAccess }
    }
}

// MARK: - Issuing

extension CustomerHistory {
    /// Returns the pass for a snapshot of this history.
    ///
    /// Each entitlement with access has its own expiry: a week, but no longer than its access.
    /// Access that will renew adds three days. The pass lasts as long as the last of them, so a
    /// trial that ends tomorrow does not shorten a lifetime purchase. A pass without any access
    /// lasts a week.
    public func pass(
        on snapshot: Snapshot,
        version: Int64,
        issuer: String,
        audience: String
    ) -> Pass {
        let issued = snapshot.asOf
        let ends = snapshot.entitlements.filter(\.standing.access).map { end(of: $0, issued) }
        let notAfter = ends.max() ?? issued + Pass.life
        return Pass(
            issuer: issuer,
            audience: audience,
            customer: customer,
            environment: environment,
            issued: issued,
            notAfter: notAfter,
            version: version,
            entitlements: snapshot.entitlements.map { entitlement in
                let isGiven = entitlement.standing.access
                return Pass.Entitlement(
                    entitlement,
                    notAfter: isGiven ? end(of: entitlement, issued) : notAfter
                )
            }
        )
    }

    private func end(of entitlement: Snapshot.Entitlement, _ issued: Instant) -> Instant {
        let most = issued + Pass.life
        guard let accessUntil = entitlement.accessUntil else { return most }
        guard entitlement.standing.willRenew == true else { return min(most, accessUntil) }
        let pace = history(of: entitlement.standing)?.pace ?? .real
        return min(most, accessUntil + pace.scale(Pass.presumption))
    }
}

extension Pass.Entitlement {
    fileprivate init(_ entitlement: Snapshot.Entitlement, notAfter: Instant) {
        let standing = entitlement.standing
        self.init(
            name: entitlement.name,
            state: standing.state,
            reason: standing.reason.rawValue,
            confidence: standing.confidence,
            productId: standing.productId,
            accessUntil: entitlement.accessUntil,
            graceUntil: standing.graceUntil,
            willRenew: standing.willRenew,
            nextChange: entitlement.nextChange,
            notAfter: notAfter
        )
    }
}
