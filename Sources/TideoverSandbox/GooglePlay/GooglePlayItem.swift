/// One product of a subscription, from the first payment to its end.
struct GooglePlayItem: Hashable, Codable, Sendable {
    enum Phase: Hashable, Codable, Sendable {
        /// The first payment is pending.
        case awaited
        /// It replaces another product at that product's expiry.
        case following
        case running
        /// The charge due at the instant failed, and no notification is sent.
        case silent(since: Int64)
        /// The charge due at the instant failed; service continues.
        case grace(since: Int64)
        /// No service since the instant.
        case hold(since: Int64)
        case paused(until: Int64)
        case ended
    }

    /// The kind of the current period.
    enum Kind: Hashable, Codable, Sendable {
        case base
        case freeTrial
        case introductory
        /// Uses the remaining value of another plan.
        case proration(of: Original)

        enum Original: String, Hashable, Codable, Sendable {
            case base = "BASE"
            case freeTrial = "FREE_TRIAL"
            case introductory = "INTRODUCTORY"
        }

        var original: Original {
            switch self {
            case .base: .base
            case .freeTrial: .freeTrial
            case .introductory: .introductory
            case .proration(let original): original
            }
        }
    }

    /// Counts the ends of periods from an anchor, so that short months do not move the billing day
    /// for good.
    struct Cycle: Hashable, Codable, Sendable {
        let anchor: Int64
        var count = 0
        /// Nil for a cycle that starts with the next period, of any length.
        var period: StorePeriod?

        /// Adds a period that begins at an instant, and returns its end. A period of another length
        /// begins a new cycle.
        mutating func next(_ period: StorePeriod, from instant: Int64) -> Int64 {
            if self.period != period { self = Cycle(anchor: instant, period: period) }
            count += 1
            return period.end(of: count, from: anchor)
        }
    }

    struct PriceChange: Hashable, Codable, Sendable {
        enum State: String, Hashable, Codable, Sendable {
            case outstanding = "OUTSTANDING"
            case confirmed = "CONFIRMED"
            case applied = "APPLIED"
        }

        let price: StorePrice
        let mode: GooglePlayAction.PriceChangeMode
        var state: State

        /// Whether the price can be charged at all.
        var allowsCharge: Bool { mode != .increase || state != .outstanding }
        var isPending: Bool { state == .outstanding || state == .confirmed }
    }

    /// A step from an introductory price to the full one.
    struct StepUp: Hashable, Codable, Sendable {
        enum State: String, Hashable, Codable, Sendable {
            case pending = "PENDING"
            case confirmed = "CONFIRMED"
            case completed = "COMPLETED"
        }

        let deadline: Int64
        var state: State
    }

    /// The item of an earlier purchase that this one replaced.
    struct Replaced: Hashable, Codable, Sendable {
        let plan: GooglePlayPlan
        /// Google's `replacementMode`.
        let mode: String
        let at: Int64
    }

    struct Span: Hashable, Codable, Sendable {
        let from: Int64
        let truth: GooglePlayExpectedState
    }

    let plan: GooglePlayPlan
    let region: String
    let tempo: GooglePlayBillingSpeed
    var phase: Phase
    var kind: Kind = .base
    /// The start of the current or last period.
    var start: Int64
    /// Google's `expiryTime`.
    var end: Int64
    /// The value of the current period, in thousandths of the currency's main unit.
    var paid: Int64 = 0
    /// The amount that its newest order charged for it.
    var charged: Int64 = 0
    /// The price of a period of the base plan, in the customer's country.
    var price: StorePrice
    var cycle: Cycle
    /// The remaining phases of the offer, each repeated for every payment.
    var phasesToCome: [GooglePlayOffer.Phase]
    var orderId: String?
    var renews: Bool
    var priceChange: PriceChange?
    var stepUp: StepUp?
    /// The number of committed payments that remain.
    var paymentsLeft: Int64 = 0
    /// Whether the first commitment has begun; another one, or none, follows it.
    private var hasCommitted = false
    /// When the charge failed that was outstanding at a cancellation. It is still due if renewal is
    /// turned on again.
    var unpaidSince: Int64?
    /// The plan that replaces it at its expiry.
    var successor: GooglePlayPlan?
    /// Whether it is removed at its expiry.
    var isRemoved = false
    var replaced: Replaced?
    private(set) var history: [Span] = []

    init(_ plan: GooglePlayPlan, region: String, _ tempo: GooglePlayBillingSpeed, at instant: Int64)
    {
        self.plan = plan
        self.region = region
        self.tempo = tempo
        phase = .awaited
        start = instant
        end = instant
        price = plan.basePlan.price.price(in: region)
        cycle = Cycle(anchor: instant)
        phasesToCome = (plan.offer?.phases ?? []).flatMap {
            Array(repeating: $0, count: $0.price == nil ? 1 : $0.count)
        }
        renews = plan.basePlan.kind != .prepaid
    }

    var isPrepaid: Bool { plan.basePlan.kind == .prepaid }
    var grace: Int64 { tempo.grace(of: plan.basePlan) }
    var hold: Int64 { tempo.hold(of: plan.basePlan) }

    /// Whether it has begun and not ended, in service or not.
    var isLive: Bool {
        switch phase {
        case .running, .silent, .grace, .hold, .paused: true
        case .awaited, .following, .ended: false
        }
    }

    /// Whether it has an outstanding charge.
    var isFailing: Bool {
        switch phase {
        case .silent, .grace, .hold: true
        case .awaited, .following, .running, .paused, .ended: false
        }
    }

    /// Whether it has no service although it has not ended.
    var isSuspended: Bool {
        switch phase {
        case .hold, .paused: true
        case .awaited, .following, .running, .silent, .grace, .ended: false
        }
    }

    /// The next instant at which the store changes it by itself.
    var due: Int64? {
        switch phase {
        case .running: end
        case .silent(let since): since + tempo.silentGrace
        case .grace: end
        case .hold(let since): since + hold
        case .paused(let until): until
        case .awaited, .following, .ended: nil
        }
    }

    /// When a changed price is charged first: after a pause and the rest of the offer.
    var chargesFullPriceAt: Int64 {
        var (cycle, renewal) = (cycle, end)
        if case .paused(let until) = phase { (cycle, renewal) = (Cycle(anchor: until), until) }
        for phase in phasesToCome {
            let length = phase.price == nil ? tempo.trial(phase.period) : tempo.period(phase.period)
            renewal = cycle.next(length, from: renewal)
        }
        return renewal
    }

    /// Whether the next charge lacks the required consent to a higher price. A phase of the offer
    /// and another product have prices of their own.
    var lacksConsent: Bool {
        phasesToCome.isEmpty && successor == nil && priceChange?.allowsCharge == false
    }

    // MARK: Truth

    func truth(at instant: Int64) -> GooglePlayExpectedState {
        history.last { $0.from <= instant }?.truth ?? .never
    }

    mutating func record(at instant: Int64, isRevoked: Bool, isDropped: Bool) {
        let truth = truth(isRevoked: isRevoked, isDropped: isDropped)
        guard history.last?.truth != truth else { return }
        if history.last?.from == instant { history.removeLast() }
        history.append(Span(from: instant, truth: truth))
    }

    private func truth(isRevoked: Bool, isDropped: Bool) -> GooglePlayExpectedState {
        switch phase {
        case .awaited: isDropped ? .never : .pending
        case .following: .never
        case .running, .silent: .active(until: end)
        case .grace(let since): .grace(until: since + grace)
        case .hold(let since): .hold(until: since + hold)
        case .paused(let until): .paused(until: until)
        case .ended: isRevoked ? .revoked : .expired
        }
    }
}

// MARK: - Periods

extension GooglePlayItem {
    /// Begins the next period: of the offer while it lasts, then of the base plan.
    mutating func begin(at instant: Int64, order: String) {
        let next = phasesToCome.isEmpty ? nil : phasesToCome.removeFirst()
        let period: StorePeriod
        switch next {
        case .some(let trial) where trial.price == nil:
            kind = .freeTrial
            period = tempo.trial(trial.period)
        case .some(let introductory):
            kind = .introductory
            period = tempo.period(introductory.period)
        case nil:
            kind = .base
            period = tempo.period(plan.basePlan.period)
            applyPriceChange()
            if stepUp?.state == .confirmed { stepUp?.state = .completed }
        }
        start = instant
        end = cycle.next(period, from: instant)
        paid = next.map { $0.price?.price(in: region).milliunits ?? 0 } ?? price.milliunits
        charged = paid
        payInstalment()
        orderId = order
        phase = .running
    }

    /// Begins with the remaining value of an earlier purchase; periods are counted from its end.
    mutating func takeOver(
        _ kind: Kind,
        from start: Int64,
        until end: Int64,
        worth: Int64,
        charged: Int64,
        order: String
    ) {
        phasesToCome = []
        (self.kind, self.start, self.end) = (kind, start, end)
        (paid, self.charged, orderId) = (worth, charged, order)
        if kind == .base { payInstalment() }
        restartCycle(at: end)
        phase = .running
    }

    /// Returns the same item for a purchase that replaces its own.
    func kept(at instant: Int64) -> GooglePlayItem {
        var item = self
        item.history = []
        item.successor = nil
        item.replaced = Replaced(plan: plan, mode: "KEEP_EXISTING", at: instant)
        return item
    }

    /// Counts periods from this instant on.
    mutating func restartCycle(at instant: Int64) {
        cycle = Cycle(anchor: instant)
    }

    /// Moves the expiry and all later ones.
    mutating func move(by milliseconds: Int64) {
        end += milliseconds
        restartCycle(at: end)
    }

    private mutating func applyPriceChange() {
        guard let change = priceChange, change.isPending else { return }
        price = change.price
        priceChange?.state = .applied
    }

    private mutating func payInstalment() {
        guard case .instalments(let payments, let renewsCommitment) = plan.basePlan.kind,
            kind == .base
        else { return }
        if paymentsLeft > 0 {
            paymentsLeft -= 1
        } else if !hasCommitted || renewsCommitment {
            paymentsLeft = payments - 1
            hasCommitted = true
        }
    }

    /// Returns the unused part of the payment for the current period.
    func credit(at instant: Int64) -> Int64 {
        guard phase == .running, end > instant, end > start else { return 0 }
        return share(of: paid, end - instant, of: end - start)
    }
}

/// Returns the share of an amount for a part of a whole, rounded down.
func share(of amount: Int64, _ part: Int64, of whole: Int64) -> Int64 {
    precondition(whole > 0 && part >= 0 && amount >= 0, "shares are of something")
    return whole.dividingFullWidth(amount.multipliedFullWidth(by: part)).quotient
}
