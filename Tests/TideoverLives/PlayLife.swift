package import TideoverCore

/// Reports of one subscription on Google Play, collected for a test.
extension Life {
    private static let anna = CustomerID("anna").unsafelyUnwrapped

    package static func play(_ id: String = "chain", environment: Environment = .production) -> Life
    {
        Life(id, store: .googlePlay, environment: environment)
    }

    /// Adds one read of a token with one product. It is sent at the instant it is asserted.
    package mutating func read(
        _ state: PlaySubscription.State,
        _ token: String = "a",
        until expiry: Instant?,
        at asked: Instant,
        product: String = "play",
        plan: PlayItem.Plan = .autoRenewing(isOn: true),
        phase: PlayItem.Phase? = .base,
        code: PlayItem.PromotionCode? = nil,
        order: String? = nil,
        started: Instant? = "2026-05-01",
        replaces: String? = nil,
        resumes: Instant? = nil,
        by cancellation: PlaySubscription.Cancellation? = nil,
        becomes replacement: String? = nil,
        begun: Instant? = nil
    ) {
        let item = PlayItem(
            productId: product,
            expiresAt: expiry,
            plan: plan,
            phase: phase,
            promotionCode: code,
            orderId: order,
            replacement: replacement
        )
        read(
            PlaySubscription(
                token: PlayToken(token),
                askedAt: begun ?? asked,
                state: state,
                items: [item],
                startedAt: started,
                replaces: replaces.map { PlayToken($0) },
                resumesAt: resumes,
                cancellation: cancellation
            ),
            at: asked
        )
    }

    package mutating func read(_ read: PlaySubscription, at asked: Instant) {
        say(.playSubscription(read), at: asked)
    }

    package mutating func notice(
        _ kind: PlayNotice.Kind,
        at said: Instant,
        _ token: String = "a",
        product: String? = nil,
        learned: Instant? = nil
    ) {
        let notice = PlayNotice(token: PlayToken(token), kind: kind, productId: product)
        say(.playNotice(notice), at: said, learned: learned, rank: .inferred)
    }

    package mutating func void(
        _ order: String?,
        at date: Instant,
        _ token: String = "a",
        rank: Rank = .store
    ) {
        let void = PlayVoidedOrder(token: PlayToken(token), orderId: order, date: date)
        say(.playVoidedOrder(void), at: date, effective: date, rank: rank)
    }

    package mutating func ask(_ outcome: Inquiry.Outcome, at asked: Instant) {
        say(.inquiry(Inquiry(askedAt: asked, outcome: outcome)), at: asked)
    }

    /// Adds one read of a one-time purchase.
    package mutating func bought(
        _ state: PlayPurchase.State,
        _ product: String = "lifetime",
        at asked: Instant,
        paid: Instant? = "2026-05-01",
        consumed: Bool = false
    ) {
        let read = PlayPurchase(
            token: PlayToken("p"),
            askedAt: asked,
            state: state,
            items: [PlayPurchase.Item(productId: product, isConsumed: consumed)],
            orderId: paid == nil ? nil : "GPA.9",
            completedAt: paid
        )
        say(.playPurchase(read), at: asked)
    }

    package mutating func grant(
        _ entitlement: String = "premium",
        from start: Instant,
        to end: Instant?,
        said: Instant? = nil
    ) {
        let grant = Grant(
            id: lineage.id,
            customer: Life.anna,
            entitlement: entitlement,
            start: start,
            end: end,
            why: "a week of trouble"
        )
        say(.grant(grant), at: said ?? start)
    }
}
