public import TideoverCore

/// The store's observations of one subscription, collected for a test.
package struct Life {
    package var facts: [Fact] = []
    package var lineage: Lineage
    package var catalogue = Catalogue(products: [
        "monthly": Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1),
            trial: Period(days: 3),
            grace: Period(days: 16)
        ),
        "yearly": Product(
            entitlements: ["premium", "archive"],
            group: "pro",
            period: Period(years: 1)
        ),
        "basic": Product(entitlements: ["basics"], group: "pro", period: Period(months: 1)),
        "lifetime": Product(entitlements: ["premium"], kind: .nonConsumable),
        "coins": Product(entitlements: [], kind: .consumable),
        "pass": Product(
            entitlements: ["premium"],
            kind: .nonRenewing,
            period: Period(days: 30)
        ),
        "play": Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1),
            trial: Period(days: 7),
            grace: Period(days: 7)
        ),
        // The length of its grace is unknown.
        "play.bare": Product(entitlements: ["premium"], period: Period(months: 1)),
        "play.plus": Product(
            entitlements: ["premium", "archive"],
            group: "pro",
            period: Period(months: 1),
            grace: Period(days: 7)
        ),
        "play.extra": Product(entitlements: ["archive"], period: Period(months: 1)),
    ])
    package var policy = Policy()
    private var counter = 0
    /// The evidence of the current message.
    private var message: EvidenceID?

    package init(
        _ id: String = "1000",
        store: Store = .appStore,
        environment: Environment = .production,
        ownership: Ownership = .purchased
    ) {
        lineage = Lineage(
            store: store,
            environment: environment,
            id: id,
            ownership: ownership
        )
    }

    /// Starts a message. Facts from here to ``endMessage()`` share one piece of evidence.
    package mutating func beginMessage() {
        counter += 1
        message = EvidenceID(hex: "\(lineage.id)-\(counter)")
    }

    package mutating func endMessage() { message = nil }

    package mutating func say(
        _ assertion: Assertion,
        at signed: Instant,
        effective: Instant? = nil,
        envelope: Instant? = nil,
        learned: Instant? = nil,
        rank: Rank = .store
    ) {
        counter += 1
        facts.append(
            Fact(
                lineage: lineage,
                assertion: assertion,
                effectiveAt: effective ?? signed,
                assertedAt: signed,
                envelopeSignedAt: envelope,
                learnedAt: learned ?? signed,
                rank: rank,
                source: .appStoreNotification,
                evidence: message ?? EvidenceID(hex: "\(lineage.id)-\(counter)")
            )
        )
    }

    package mutating func term(
        _ id: String,
        _ product: String = "monthly",
        from start: Instant,
        to end: Instant?,
        signed: Instant? = nil,
        plan: Term.Plan = .autoRenewable,
        offer: Offer? = nil,
        upgraded: Bool = false,
        revoked: Bool = false,
        origin: Term.Origin = .renewal,
        token: String? = nil,
        rank: Rank = .store
    ) {
        let term = Term(
            transactionId: "t\(id)",
            webOrderLineItemId: plan == .autoRenewable ? "w\(id)" : nil,
            productId: product,
            plan: plan,
            start: start,
            end: end,
            offer: offer,
            isUpgraded: upgraded,
            isRevoked: revoked,
            origin: origin,
            accountToken: token.flatMap { CustomerID($0) }
        )
        say(.term(term), at: signed ?? start, effective: start, rank: rank)
    }

    /// Adds a receipt that lists a term, and none that begins later.
    package mutating func receipt(
        of id: String,
        _ product: String = "monthly",
        from start: Instant,
        to end: Instant,
        made: Instant,
        learned: Instant? = nil
    ) {
        term(id, product, from: start, to: end, signed: made)
        guard let last = facts.indices.last else { return }
        facts[last].source = .appReceipt
        facts[last].learnedAt = learned ?? made
    }

    package mutating func outlook(
        end: Instant?,
        signed: Instant,
        renews: Bool? = true,
        retrying: Bool? = nil,
        grace: Instant? = nil,
        lapse: Outlook.Lapse? = nil,
        product: String = "monthly",
        into: String? = nil,
        rank: Rank = .store
    ) {
        say(
            .outlook(
                Outlook(
                    renewalDate: end,
                    productId: product,
                    renewsInto: into ?? product,
                    willRenew: renews,
                    isRetrying: retrying,
                    graceEnd: grace,
                    lapse: lapse
                )
            ),
            at: signed,
            rank: rank
        )
    }

    package mutating func condition(
        _ status: Condition.Status? = nil,
        notice: Condition.Notice? = nil,
        end: Instant?,
        signed: Instant
    ) {
        say(
            .condition(Condition(status: status, notice: notice, renewalDate: end)),
            at: signed
        )
    }

    package mutating func revoke(
        _ id: String,
        at date: Instant,
        signed: Instant? = nil,
        cause: Revocation.Cause = .refund
    ) {
        say(
            .revocation(Revocation(term: TermKey("w:w\(id)"), date: date, cause: cause)),
            at: signed ?? date,
            effective: date
        )
    }

    package mutating func reverse(_ id: String, at instant: Instant) {
        say(.reversal(Reversal(term: TermKey("w:w\(id)"))), at: instant)
    }

    /// Sets a price on the last reported term.
    package mutating func charge(_ price: String) {
        for position in facts.indices.reversed() {
            guard case .term(var term) = facts[position].assertion else { continue }
            term.price = Money(text: price)
            facts[position].assertion = .term(term)
            return
        }
    }

    package func told(until: Instant) -> LineageTimeline {
        LineageTimeline(
            lineage: lineage,
            facts: facts,
            catalogue: Versioned(catalogue),
            policy: Versioned(policy),
            until: until
        )
    }

    package var history: LineageHistory {
        LineageHistory(lineage: lineage, facts: facts, catalogue: catalogue)
    }

    package func standing(_ instant: Instant) -> Standing {
        history.standing(at: instant, policy: policy)
    }

    /// Returns the standing at each of many instants.
    package func standings(_ instants: [Instant]) -> [Standing] {
        let history = history
        return instants.map { history.standing(at: $0, policy: policy) }
    }

    /// Returns state, reason, rule and confidence in one line, for comparison.
    package func told(_ instant: Instant) -> String {
        standing(instant).told
    }
}

extension Standing {
    package var told: String {
        "\(state.rawValue) \(reason.rawValue) \(rule.rawValue) \(confidence.rawValue)"
    }
}

extension Instant: ExpressibleByStringLiteral {
    /// Reads `2026-05-01` or a full RFC 3339 time.
    public init(stringLiteral text: String) {
        guard let instant = Instant(rfc3339: text.count == 10 ? "\(text)T00:00:00Z" : text) else {
            preconditionFailure("\(text) is no instant")
        }
        self = instant
    }
}

extension Instant {
    package static let millisecond = Milliseconds(1)
    package var justBefore: Instant { self - Self.millisecond }
}
