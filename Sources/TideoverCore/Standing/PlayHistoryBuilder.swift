/// Collects the observations of the purchase tokens of a chain, and orders them.
struct PlayHistoryBuilder {
    let catalogue: Versioned<Catalogue>
    private var reads: [PlayToken: [Observation<PlaySubscription>]] = [:]
    private var notices: [PlayToken: [HeardNotice]] = [:]
    private var voids: [PlayToken: [Observation<PlayVoidedOrder>]] = [:]
    private var replacements: [PlayReplacement] = []
    /// The product that devices presented each token for. The first observation wins.
    private var presented: [PlayToken: Observation<PlayNotice>] = [:]

    /// A bare notification, with when it was first received.
    private struct HeardNotice {
        let word: Observation<PlayNotice>
        var learnedAt: Instant
    }

    init(catalogue: Versioned<Catalogue>) {
        self.catalogue = catalogue
    }

    mutating func add(_ fact: Fact) {
        switch fact.assertion {
        case .playSubscription(let read):
            // An unrecognised state must not displace a recognised one.
            guard read.state.unrecognisedValue == nil else { return }
            reads[read.token, default: []].append(Observation(read, of: fact))
        case .playNotice(let notice):
            if notice.kind == .presented { present(Observation(notice, of: fact)) }
            guard notice.kind.isOfSubscriptions else { return }
            hear(HeardNotice(word: Observation(notice, of: fact), learnedAt: fact.learnedAt))
        case .playVoidedOrder(let void):
            voids[void.token, default: []].append(Observation(void, of: fact))
        case .playReplacement(let replacement): replacements.append(replacement)
        default: break
        }
    }

    /// Records a notification once. The store may send the same one twice.
    private mutating func hear(_ notice: HeardNotice) {
        var known = notices[notice.word.value.token, default: []]
        let same = known.firstIndex {
            $0.word.value == notice.word.value && $0.word.assertedAt == notice.word.assertedAt
        }
        guard let same else {
            known.append(notice)
            notices[notice.word.value.token] = known
            return
        }
        let learnedAt = min(known[same].learnedAt, notice.learnedAt)
        if notice.word.evidence < known[same].word.evidence { known[same] = notice }
        known[same].learnedAt = learnedAt
        notices[notice.word.value.token] = known
    }

    private mutating func present(_ notice: Observation<PlayNotice>) {
        guard let known = presented[notice.value.token] else {
            presented[notice.value.token] = notice
            return
        }
        if Observation.isOlder(notice, known) { presented[notice.value.token] = notice }
    }

    /// Returns the product that a device presented a token for, if it is a subscription.
    private func subscription(presentedAs token: PlayToken, at instant: Instant) -> Observation<
        PlayNotice
    >? {
        guard let word = presented[token], let id = word.value.productId else { return nil }
        let item = PlayItem(productId: id, expiresAt: nil, plan: .unstated)
        switch catalogue.value(at: instant).product(of: item)?.kind {
        case .autoRenewable, .nonRenewing: return word
        case .nonConsumable, .consumable, nil: return nil
        }
    }

    // MARK: The history

    /// Returns the history; nil if no observation concerns a subscription.
    func history(pace: Pace) -> PlayHistory? {
        guard !reads.isEmpty || !notices.isEmpty else { return nil }
        let said = Set(reads.keys).union(notices.keys).sorted()
            .map { (token: $0, observations: observations(of: $0)) }.filter {
                !$0.observations.isEmpty
            }
        guard !said.isEmpty else { return nil }
        let starts = Dictionary(
            uniqueKeysWithValues: said.map { token, observations in
                (token, observations.map { $0.startedAt ?? $0.said }.min() ?? .distantFuture)
            }
        )
        let counted = said.map { token, observations in
            (token: token, observations: observations.map { $0.withoutStart(before: starts) })
        }
        return history(of: counted, pace)
    }

    private func history(
        of said: [(token: PlayToken, observations: [PlayObservation])],
        _ pace: Pace
    ) -> PlayHistory {
        let retiredFrom = retirements(by: said)
        var builder = PlayPeriodBuilder(catalogue: catalogue, pace: pace)
        let records = said.map { token, observations in
            let voids = voids[token, default: []].sorted(by: Observation.isOlder)
            return builder.record(of: token, observations, voids, retiredFrom: retiredFrom[token])
        }
        return builder.history(of: records)
    }

    /// Returns the effective observations of a token, ordered by the store's clock. A notification
    /// is dropped if a read that is not dated after it was started after it arrived.
    private func observations(of token: PlayToken) -> [PlayObservation] {
        let reads = reads[token, default: []].sorted(by: Observation.isAskedEarlier)
        let standing = notices[token, default: []].filter { notice in
            !reads.contains {
                $0.value.askedAt >= notice.learnedAt && $0.assertedAt <= notice.word.assertedAt
            }
        }
        let heard = standing.map(\.word).sorted(by: Observation.isOlder)
        var observations: [PlayObservation] = []
        var (read, notice) = (reads.startIndex, heard.startIndex)
        while read < reads.endIndex || notice < heard.endIndex {
            let isNoticeNext =
                notice < heard.endIndex
                && (read == reads.endIndex || heard[notice].assertedAt < reads[read].assertedAt)
            if isNoticeNext {
                let word = heard[notice]
                let product = subscription(presentedAs: token, at: word.assertedAt)
                if let observation = PlayObservation(
                    word,
                    after: observations.last,
                    product,
                    period(of:at:)
                ) {
                    observations.append(observation)
                }
                notice += 1
            } else {
                observations.append(PlayObservation(reads[read], after: observations.last))
                read += 1
            }
        }
        return observations
    }

    private func period(of item: PlayItem, at instant: Instant) -> Period? {
        catalogue.value(at: instant).product(of: item)?.period
    }

    /// Returns when each token was replaced: the first instant at which its replacement was itself
    /// entitled.
    private func retirements(
        by said: [(token: PlayToken, observations: [PlayObservation])]
    ) -> [PlayToken: Instant] {
        var found: [PlayToken: Instant] = [:]
        for (token, observations) in said {
            let entitled = observations.filter { !$0.isUnpaid }.map { $0.startedAt ?? $0.said }
                .min()
            guard let entitled else { continue }
            for replaced in Set(observations.compactMap(\.replaces)) where replaced != token {
                found[replaced] = min(found[replaced] ?? entitled, entitled)
            }
        }
        for replacement in replacements {
            let (token, from) = (replacement.token, replacement.from)
            found[token] = min(found[token] ?? from, from)
        }
        return found
    }

    // MARK: Pace

    /// The smallest ratio of actual to nominal length among plain periods.
    var pace: Pace {
        reads.values.reduce(.real) { slowest, reads in
            let ordered = reads.sorted(by: Observation.isAskedEarlier).filter {
                $0.value.state == .active
            }
            let first = ordered.first.map(firstPaces) ?? []
            let later = zip(ordered, ordered.dropFirst()).flatMap(laterPaces)
            return (first + later).reduce(slowest, Pace.slower)
        }
    }

    /// Returns the paces of first periods. A replacement may keep the old billing date, so a short
    /// first period is no evidence of pace.
    private func firstPaces(of word: Observation<PlaySubscription>) -> [Pace] {
        guard word.value.replaces == nil, let start = word.value.startedAt else { return [] }
        return word.value.items.compactMap { item in
            guard let end = item.expiresAt, let length = nominalLength(of: item, from: start)
            else { return nil }
            return Pace(of: end - start, nominally: length)
        }
    }

    /// Returns the paces of consecutive periods. An expiry that moved within one order is no
    /// evidence.
    private func laterPaces(_ a: Observation<PlaySubscription>, _ b: Observation<PlaySubscription>)
        -> [Pace]
    {
        b.value.items.compactMap { item in
            guard let before = a.value.items.first(where: { $0.productId == item.productId }),
                let start = before.expiresAt, let end = item.expiresAt,
                let order = item.orderId, order != before.orderId,
                let length = nominalLength(of: item, from: start)
            else { return nil }
            return Pace(of: end - start, nominally: length)
        }
    }

    private func nominalLength(of item: PlayItem, from start: Instant) -> Milliseconds? {
        let product = catalogue.value(at: start).product(of: item)
        let period = item.phase == .freeTrial ? product?.trial : product?.period
        return period?.length(from: start)
    }
}

extension Catalogue {
    /// Returns the catalogue ID of a Google Play product: `product:base-plan` if the catalogue has
    /// it, otherwise the product ID alone.
    func id(of item: PlayItem) -> String {
        guard let plan = item.basePlan else { return id(ofAnyPlanOf: item.productId) }
        let full = "\(item.productId):\(plan)"
        return products[full] == nil ? item.productId : full
    }

    /// Returns the ID under which the catalogue lists a product that a fact names.
    package func listedID(of productId: String, by fact: Fact) -> String {
        fact.mayNamePlan ? id(ofPlan: productId) : productId
    }

    /// Returns the catalogue ID of a product that is named with its base plan: that name if the
    /// catalogue has it or has neither, otherwise the product ID alone. RevenueCat names products
    /// from before base plans without one.
    func id(ofPlan full: String) -> String {
        guard products[full] == nil else { return full }
        guard let colon = full.firstIndex(of: ":") else { return id(ofAnyPlanOf: full) }
        let product = String(full[..<colon])
        return products[product] == nil ? full : product
    }

    /// Returns the catalogue ID of a product without its base plan. If the product is not listed
    /// alone, assumes the base plan that gives least: fewest entitlements, then shortest
    /// period.
    private func id(ofAnyPlanOf product: String) -> String {
        guard products[product] == nil else { return product }
        let plans = products.filter { $0.key.hasPrefix("\(product):") }
        return plans.min { ($0.value.worth, $0.key) < ($1.value.worth, $1.key) }?.key ?? product
    }

    func product(of item: PlayItem) -> Product? { products[id(of: item)] }
}

extension Product {
    /// The value of a purchase of the product: entitlements first, then length.
    fileprivate var worth: Worth {
        let start = Instant(millisecondsSince1970: 0)
        return Worth(
            entitlements: entitlements.count,
            length: period.map { $0.length(from: start) } ?? .zero
        )
    }

    fileprivate struct Worth: Comparable {
        let entitlements: Int
        let length: Milliseconds

        static func < (a: Worth, b: Worth) -> Bool {
            (a.entitlements, a.length) < (b.entitlements, b.length)
        }
    }
}

extension Observation<PlaySubscription> {
    /// Orders reads by when the store was queried. Our clock separates two requests of one second.
    static func isAskedEarlier(_ a: Observation, _ b: Observation) -> Bool {
        (a.assertedAt, a.value.askedAt, a.evidence) < (b.assertedAt, b.value.askedAt, b.evidence)
    }
}

extension PlaySubscription {
    /// The items that are owned: those with an expiry, and one for each product, the one that ends
    /// last. If no item has an expiry, or before the first payment, every item counts.
    ///
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#SubscriptionPurchaseLineItem
    fileprivate var ownedItems: [PlayItem] {
        guard !state.isUnpaid, items.count > 1, items.contains(where: { $0.expiresAt != nil })
        else { return items }
        var owned: [PlayItem] = []
        for item in items {
            guard let end = item.expiresAt else { continue }
            if let position = owned.firstIndex(where: { $0.productId == item.productId }) {
                if end > owned[position].expiresAt ?? end { owned[position] = item }
            } else {
                owned.append(item)
            }
        }
        return owned
    }
}

extension PlaySubscription.State {
    /// Whether the first payment was outstanding.
    var isUnpaid: Bool { self == .pending || self == .pendingCancelled }

    /// Whether it was ever paid, or a trial started; false if that is not known.
    var isPaid: Bool { !isUnpaid && unrecognisedValue == nil }
}

extension PlayNotice.Kind {
    fileprivate var isOfSubscriptions: Bool {
        switch self {
        case .oneTimePurchased, .oneTimeCancelled, .presented, .unrecognised: false
        default: true
        }
    }
}

/// The known state of a token after one more observation.
struct PlayObservation: Sendable {
    private(set) var word: Observation<PlayToken>
    /// The other evidence that it rests on.
    private(set) var basis: [EvidenceID] = []
    private(set) var state: PlaySubscription.State
    private(set) var items: [PlayItem]
    /// The products that a deferred replacement awaits: listed, and not owned yet.
    private(set) var awaited: Set<String> = []
    /// What is listed without an expiry, such as the product or plan of a deferred replacement.
    private var unbegun: [PlayItem] = []
    private(set) var startedAt: Instant?
    private(set) var resumesAt: Instant?
    private(set) var cancellation: PlaySubscription.Cancellation?
    private(set) var replaces: PlayToken?
    private(set) var region: String?
    private(set) var accountId: CustomerID?

    var said: Instant { word.assertedAt }
    var isUnpaid: Bool { state.isUnpaid }

    /// Creates the state after a read. A read replaces everything; one that lists no product
    /// concerns those listed before. Of several items of one product the one that ends last counts.
    init(_ read: Observation<PlaySubscription>, after previous: PlayObservation?) {
        word = Observation(read.value.token, like: read)
        state = read.value.state
        items = read.value.ownedItems
        unbegun = read.value.items.filter { $0.expiresAt == nil }
        awaited = Set(read.value.items.map(\.productId)).subtracting(items.map(\.productId))
        startedAt = read.value.startedAt
        resumesAt = read.value.resumesAt
        cancellation = read.value.cancellation
        replaces = read.value.replaces
        region = read.value.region
        accountId = read.value.accountId
        guard items.isEmpty else { return }
        items = previous?.items ?? [PlayItem(productId: "", expiresAt: nil, plan: .unstated)]
        unbegun = previous?.unbegun ?? []
        basis = previous.map { $0.basis + [$0.word.evidence] } ?? []
    }

    /// Returns the item that replaces one at its expiry; nil without a replacement. If the read
    /// does not list it, only its product is known.
    func successor(of item: PlayItem) -> PlayItem? {
        guard let product = item.replacement else { return nil }
        return unbegun.first { $0.productId == product }
            ?? PlayItem(productId: product, expiresAt: nil, plan: .unstated)
    }

    /// Removes a start that is not after the replaced token's start. Google does not document the
    /// `startTime` of a replacement; such a start belongs to the chain, not to the change.
    func withoutStart(before starts: [PlayToken: Instant]) -> PlayObservation {
        guard let replaces, let former = starts[replaces], let own = startedAt, own <= former else {
            return self
        }
        var observation = self
        observation.startedAt = nil
        return observation
    }

    /// Creates the state after a bare notification, by the documented effect of its kind. Nil if
    /// the kind has no effect. Lengths come from the catalogue. For a product that the catalogue
    /// lacks, they come from the product that a device `presented`.
    init?(
        _ notice: Observation<PlayNotice>,
        after previous: PlayObservation?,
        _ presented: Observation<PlayNotice>?,
        _ period: (PlayItem, Instant) -> Period?
    ) {
        word = Observation(notice.value.token, like: notice)
        basis = previous.map { $0.basis + [$0.word.evidence] } ?? []
        if previous == nil, notice.value.productId == nil, let presented {
            basis = [presented.evidence]
        }
        let product = notice.value.productId ?? presented?.value.productId ?? ""
        items =
            previous?.items
            ?? [PlayItem(productId: product, expiresAt: nil, plan: .autoRenewing(isOn: true))]
        (startedAt, replaces) = (previous?.startedAt, previous?.replaces)
        (region, accountId) = (previous?.region, previous?.accountId)
        unbegun = previous?.unbegun ?? []
        guard let state = notice.value.kind.state(after: previous?.state) else { return nil }
        self.state = state
        let at = notice.assertedAt
        if notice.value.kind.isRenewal { makeDeferredChanges() }
        for position in items.indices {
            items[position].follow(notice.value.kind, at: at) { period($0, at) }
        }
    }

    /// Makes the changes that the last read announced for the renewal: a replaced product becomes
    /// its successor, and a product to be removed is gone.
    private mutating func makeDeferredChanges() {
        let renewed = items.filter { !$0.isRemovedAtExpiry }.map { item in
            guard var next = successor(of: item) else { return item }
            next.expiresAt = item.expiresAt
            return next
        }
        guard !renewed.isEmpty else { return }
        awaited = Set(renewed.map(\.productId)).subtracting(items.map(\.productId))
        items = renewed
        unbegun = []
    }
}

extension PlayNotice.Kind {
    /// Whether it announces the payment of a new period of a known subscription.
    fileprivate var isRenewal: Bool { self == .renewed || self == .recovered }

    /// Returns the state that a notification of this kind announces; nil if it announces none.
    fileprivate func state(
        after previous: PlaySubscription.State?
    ) -> PlaySubscription.State? {
        switch self {
        case .purchased, .renewed, .recovered, .restarted: .active
        case .cancelled: .cancelled
        case .inGrace: .inGrace
        case .onHold: .onHold
        case .paused: .paused
        case .revoked, .expired: .expired
        case .pendingCancelled: previous == .pending ? .pendingCancelled : nil
        case .deferred, .pauseScheduled, .itemsChanged, .cancellationScheduled, .priceChanged,
            .oneTimePurchased, .oneTimeCancelled, .presented, .unrecognised:
            nil
        }
    }
}

extension PlayItem {
    /// How far from the end of a period its renewal may be reported.
    private static let renewalWindow = Milliseconds.days(2)

    /// Applies a notification's kind. `period` returns the length of a renewal.
    fileprivate mutating func follow(
        _ kind: PlayNotice.Kind,
        at instant: Instant,
        _ period: (PlayItem) -> Period?
    ) {
        switch kind {
        case .purchased, .renewed, .recovered:
            renew(at: instant, onCadence: kind == .renewed, period(self))
        case .restarted: switchRenewal(on: true)
        case .cancelled: switchRenewal(on: false)
        case .revoked, .expired: expiresAt = min(expiresAt ?? instant, instant)
        case .onHold, .paused: expiresAt = min(expiresAt ?? instant, instant)
        default: break
        }
    }

    private mutating func renew(at instant: Instant, onCadence: Bool, _ period: Period?) {
        orderId = nil
        phase = nil
        switchRenewal(on: true)
        guard let period else {
            expiresAt = max(expiresAt ?? instant, instant)
            return
        }
        let end = expiresAt ?? instant
        let isNear = onCadence && end.isWithin(Self.renewalWindow, of: instant)
        expiresAt = (isNear ? end : instant) + period
    }

    private mutating func switchRenewal(on isOn: Bool) {
        if case .prepaid = plan { return }
        plan = .autoRenewing(isOn: isOn)
    }
}
