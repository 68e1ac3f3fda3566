/// One purchase of a subscription, identified by one purchase token: its products and its state.
struct GooglePlaySubscription: Hashable, Codable, Sendable {
    /// Google's `subscriptionState`.
    enum State: String, Hashable, Sendable {
        case pending = "SUBSCRIPTION_STATE_PENDING"
        case active = "SUBSCRIPTION_STATE_ACTIVE"
        case paused = "SUBSCRIPTION_STATE_PAUSED"
        case grace = "SUBSCRIPTION_STATE_IN_GRACE_PERIOD"
        case hold = "SUBSCRIPTION_STATE_ON_HOLD"
        case cancelled = "SUBSCRIPTION_STATE_CANCELED"
        case expired = "SUBSCRIPTION_STATE_EXPIRED"
        case dropped = "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED"
    }

    enum Signup: Hashable, Codable, Sendable {
        /// The payment is pending.
        case awaited
        /// The payment was abandoned.
        case dropped
        case granted(at: Int64)
    }

    /// Google's `canceledStateContext`.
    enum Cancellation: Hashable, Codable, Sendable {
        case user(at: Int64, GooglePlayAction.CancelSurvey?)
        case system
        case developer
        case replacement
    }

    /// An earlier, expired purchase, used if the app did not identify the buyer of the new one.
    struct Predecessor: Hashable, Codable, Sendable {
        let token: String
        let buyer: GooglePlayBuyer
    }

    typealias Kind = GooglePlayEvent.SubscriptionType

    let token: String
    /// The number of this purchase among the customer's purchases, in the order made.
    let sequence: Int
    let buyer: GooglePlayBuyer
    let tempo: GooglePlayBillingSpeed
    var signup: Signup
    var items: [GooglePlayItem]
    /// The purchase that this one replaces.
    var linkedToken: String?
    var predecessor: Predecessor?
    var cancellation: Cancellation?
    /// The cancellation that ends an instalment plan after the last committed payment.
    var pendingCancellation: Cancellation?
    /// The length of the pause that begins at the next expiry.
    var pauseLength: StorePeriod?
    private(set) var acknowledgeBy: Int64?
    private(set) var isAcknowledged = false
    var isRevoked = false
    /// The number of its first order.
    let order: String
    private(set) var orders = 0
    /// The order of a charge that failed. When a retry succeeds, it is the order of the payment.
    private(set) var declinedOrder: String?
    private(set) var renewals = 0
    /// The number of its changes; the etag is derived from it.
    private(set) var version: Int64 = 0

    init(
        token: String,
        sequence: Int,
        buyer: GooglePlayBuyer,
        items: [GooglePlayItem],
        order: String,
        _ tempo: GooglePlayBillingSpeed
    ) {
        self.token = token
        self.sequence = sequence
        self.buyer = buyer
        self.items = items
        self.order = order
        self.tempo = tempo
        signup = .awaited
    }

    var isPrepaid: Bool { items.contains(where: \.isPrepaid) }
    var isInstalment: Bool {
        items.contains {
            if case .instalments = $0.plan.basePlan.kind { true } else { false }
        }
    }

    /// Whether it has been granted and an item of it is live.
    var isAlive: Bool { items.contains(where: \.isLive) }

    /// Google requires `all items` for grace, hold and pause. For a mixture, this returns the state
    /// with the most access.
    var state: State {
        switch signup {
        case .awaited: return .pending
        case .dropped: return .dropped
        case .granted: break
        }
        let live = items.filter(\.isLive)
        if live.isEmpty { return .expired }
        func has(_ matches: (GooglePlayItem.Phase) -> Bool) -> Bool {
            live.contains { matches($0.phase) }
        }
        let serves = live.contains { !$0.isFailing && !$0.isSuspended && ($0.renews || isPrepaid) }
        if serves || has({ if case .silent = $0 { true } else { false } }) { return .active }
        if has({ if case .grace = $0 { true } else { false } }) { return .grace }
        if has({ $0 == .running }) { return .cancelled }
        return has({ if case .hold = $0 { true } else { false } }) ? .hold : .paused
    }

    /// The past expiry, or the next one if nothing changes.
    var expiry: Int64? {
        items.filter { $0.phase != .awaited && $0.phase != .following }.map(\.end).max()
    }

    /// The next instant at which the store changes it by itself.
    var due: Int64? {
        let deadlines = items.compactMap { item in
            item.stepUp.flatMap { item.isLive && $0.state == .pending ? $0.deadline : nil }
        }
        return (items.compactMap(\.due) + deadlines + [acknowledgeBy].compactMap(\.self)).min()
    }

    /// Records a change.
    mutating func record(at instant: Int64) {
        version += 1
        if signup != .awaited, !isAlive { acknowledgeBy = nil }
        for index in items.indices {
            items[index].record(
                at: instant,
                isRevoked: isRevoked,
                isDropped: signup == .dropped
            )
        }
    }

    /// Returns the number of the next order.
    mutating func nextOrder() -> String {
        defer { orders += 1 }
        return upcomingOrder
    }

    private var upcomingOrder: String { orders == 0 ? order : "\(order)..\(orders - 1)" }
}

/// The store's information about a buyer.
struct GooglePlayBuyer: Hashable, Codable, Sendable {
    let region: String
    /// The id that the app set at the purchase; nil for a purchase made in the Play Store.
    var obfuscatedAccountId: String?
    var obfuscatedProfileId: String?
}

// MARK: - Buying

extension GooglePlaySubscription {
    /// Grants it, and starts the time to acknowledge it.
    mutating func grant(at instant: Int64) {
        signup = .granted(at: instant)
        let prepaid = items.first { $0.isPrepaid && $0.phase == .running }.map { $0.end - $0.start }
        acknowledgeBy = instant + tempo.acknowledgement(ofPrepaid: prepaid)
    }

    mutating func acknowledge() {
        isAcknowledged = true
        acknowledgeBy = nil
    }

    /// Records the first payment: every awaited item begins its first period.
    mutating func beginAll(at instant: Int64, order: String) {
        for index in items.indices where items[index].phase == .awaited {
            items[index].restartCycle(at: instant)
            items[index].begin(at: instant, order: order)
        }
    }
}

// MARK: - Renewing

extension GooglePlaySubscription {
    /// Whether an item can be charged at its expiry.
    private func renews(_ item: GooglePlayItem) -> Bool {
        if pendingCancellation != nil, item.paymentsLeft == 0 { return false }
        if let most = tempo.mostRenewals, renewals >= most { return false }
        return item.renews && !item.isRemoved && !item.lacksConsent
    }

    /// The items with a payment due now: at the end of their period, or of a pause.
    func itemsToCharge(at instant: Int64) -> [Int] {
        items.indices.filter { index in
            guard items[index].due == instant else { return false }
            switch items[index].phase {
            case .running: return renews(items[index])
            case .paused: return true
            case .awaited, .following, .silent, .grace, .hold, .ended: return false
            }
        }
    }

    /// Suspends the items for which a pause was requested.
    mutating func pauseItems(at instant: Int64) -> [Kind] {
        let indices = itemsToCharge(at: instant).filter { items[$0].phase == .running }
        guard let length = pauseLength, !indices.isEmpty else { return [] }
        pauseLength = nil
        for index in indices {
            let until = tempo.pause(length).end(of: 1, from: items[index].end)
            items[index].phase = .paused(until: until)
        }
        return [.paused]
    }

    /// The end of the pause, also of one that begins at the next expiry.
    var pauseEnd: Int64? {
        items.compactMap { item -> Int64? in
            switch item.phase {
            case .paused(let until): until
            case .running: pauseLength.map { tempo.pause($0).end(of: 1, from: item.end) }
            case .awaited, .following, .silent, .grace, .hold, .ended: nil
            }
        }.min()
    }

    /// Ends the items that do not renew at their expiry.
    mutating func endItems(at instant: Int64) -> [Kind] {
        let ending = items.indices.filter {
            items[$0].phase == .running && items[$0].end == instant && !renews(items[$0])
        }
        guard !ending.isEmpty else { return [] }
        let wasCancelled = cancellation != nil
        for index in ending {
            items[index].phase = .ended
            items[index].renews = false
        }
        guard !isAlive else { return [.itemsChanged] }
        return isPrepaid ? [.expired] : expire(wasCancelled: wasCancelled)
    }

    /// Expires it after its last item has ended. Without an earlier cancellation, it is also
    /// cancelled now.
    private mutating func expire(wasCancelled: Bool) -> [Kind] {
        cancellation = cancellation ?? pendingCancellation ?? .system
        pendingCancellation = nil
        return wasCancelled ? [.expired] : [.cancelled, .expired]
    }

    /// Renews these items after their charge succeeded.
    mutating func renew(_ indices: [Int], at instant: Int64, order: String) -> [Kind] {
        var recovers = false
        renewals += 1
        declinedOrder = nil
        for index in indices {
            let from: Int64
            switch items[index].phase {
            case .silent(let since), .grace(let since): from = since
            case .hold, .paused:
                recovers = true
                items[index].restartCycle(at: instant)
                from = instant
            case .running, .awaited, .following, .ended: from = items[index].end
            }
            renew(index, from: from, order)
        }
        return [recovers ? .recovered : .renewed]
    }

    private mutating func renew(_ index: Int, from instant: Int64, _ order: String) {
        guard let successor = items[index].successor,
            let next = items.firstIndex(where: {
                $0.phase == .following && $0.plan.product == successor.product
            })
        else { return items[index].begin(at: instant, order: order) }
        items[index].phase = .ended
        items[index].isRemoved = true
        items[next].restartCycle(at: instant)
        items[next].begin(at: instant, order: order)
    }

    /// Records that the charge for these items was declined.
    mutating func fail(_ indices: [Int], at instant: Int64) -> [Kind] {
        let before = state
        declinedOrder = upcomingOrder
        for index in indices {
            if items[index].phase != .running {
                items[index].phase = .hold(since: instant)
            } else if items[index].grace > 0 {
                items[index].phase = .grace(since: instant)
                extendGrace(index, since: instant)
            } else {
                items[index].phase = .silent(since: instant)
                items[index].end = instant + tempo.silentGrace
            }
        }
        return told(since: before)
    }

    private mutating func extendGrace(_ index: Int, since: Int64) {
        let last = since + items[index].grace
        items[index].end = min(items[index].end + tempo.graceStep, last)
    }

    /// Advances the items that wait for a payment and have reached the end of their stage.
    mutating func moveOn(at instant: Int64) -> [Kind] {
        let (before, wasCancelled) = (state, cancellation != nil)
        let ended = Set(items.filter { $0.phase == .ended }.map(\.plan.product))
        for index in items.indices where items[index].due == instant {
            switch items[index].phase {
            case .grace(let since) where items[index].end < since + items[index].grace:
                extendGrace(index, since: since)
            case .grace, .silent: suspend(index, at: instant)
            case .hold:
                // Google moves the expiry to the end of a hold that ends unpaid.
                items[index].end = instant
                items[index].phase = .ended
            case .awaited, .following, .running, .paused, .ended: break
            }
        }
        guard isAlive || before == .expired else {
            for index in items.indices { items[index].renews = false }
            return expire(wasCancelled: wasCancelled)
        }
        let isLess = items.contains { $0.phase == .ended && !ended.contains($0.plan.product) }
        return isLess ? [.itemsChanged] : told(since: before)
    }

    private mutating func suspend(_ index: Int, at instant: Int64) {
        items[index].end = instant
        items[index].phase = items[index].hold > 0 ? .hold(since: instant) : .ended
    }

    /// Returns the notifications of a change of the whole subscription's state.
    private func told(since before: State) -> [Kind] {
        guard state != before else { return [] }
        switch state {
        case .grace: return [.inGracePeriod]
        case .hold: return [.onHold]
        case .paused: return [.paused]
        case .pending, .active, .cancelled, .expired, .dropped: return []
        }
    }

    /// The items with an outstanding charge, which the store can retry at once.
    var outstanding: [Int] { items.indices.filter { items[$0].isFailing } }
}

// MARK: - Cancelling

extension GooglePlaySubscription {
    /// Turns renewal off. Active items keep their access until the stated expiry; suspended items
    /// end.
    mutating func cancel(_ cancellation: Cancellation) -> [Kind] {
        self.cancellation = cancellation
        pauseLength = nil
        pendingCancellation = nil
        for index in items.indices where items[index].isLive {
            items[index].renews = false
            switch items[index].phase {
            case .grace(let since), .silent(let since): items[index].unpaidSince = since
            default: break
            }
            items[index].phase = items[index].isSuspended ? .ended : .running
        }
        items.removeAll { $0.phase == .following }
        for index in items.indices { items[index].successor = nil }
        return isAlive ? [.cancelled] : [.cancelled, .expired]
    }

    /// Turns renewal on again. What was in grace at the cancellation is again, until the same end.
    mutating func restart() -> [Kind] {
        cancellation = nil
        pendingCancellation = nil
        for index in items.indices where items[index].isLive {
            items[index].renews = true
            guard let since = items[index].unpaidSince else { continue }
            items[index].unpaidSince = nil
            items[index].phase =
                items[index].grace > 0 ? .grace(since: since) : .silent(since: since)
        }
        return [.restarted]
    }

    /// Revokes everything now.
    mutating func revoke(by cancellation: Cancellation, at instant: Int64) -> [Kind] {
        self.cancellation = cancellation
        isRevoked = true
        endAll(at: instant)
        return [.revoked]
    }

    /// Ends it, because another purchase has replaced it.
    mutating func replace(at instant: Int64) -> [Kind] {
        cancellation = .replacement
        endAll(at: instant)
        return [.expired]
    }

    private mutating func endAll(at instant: Int64) {
        acknowledgeBy = nil
        pauseLength = nil
        pendingCancellation = nil
        items.removeAll { $0.phase == .following }
        for index in items.indices where items[index].isLive {
            items[index].phase = .ended
            items[index].renews = false
            items[index].end = min(items[index].end, instant)
        }
    }

    /// Revokes one of several products now.
    mutating func revoke(_ index: Int, at instant: Int64) -> [Kind] {
        items[index].phase = .ended
        items[index].isRemoved = true
        items[index].end = min(items[index].end, instant)
        return [.itemsChanged]
    }

    /// Ends the items that lack the required consent to a price step-up.
    mutating func endUnconsented(at instant: Int64) -> [Kind] {
        let due = items.indices.filter {
            items[$0].isLive && items[$0].stepUp?.state == .pending
                && items[$0].stepUp?.deadline == instant
        }
        for index in due { items[index].stepUp = nil }
        guard !due.isEmpty, cancellation == nil else { return [] }
        return cancel(.system)
    }
}
