/// Builds the statements and the paid periods of each product of each token.
struct PlayPeriodBuilder {
    private let catalogue: Versioned<Catalogue>
    private let pace: Pace
    private var periods: [TermDraft] = []
    /// The largest number of unreported periods that may lie between two reads.
    private static let longestGap: Int64 = 60
    /// The longest grace that a developer can choose.
    private static let longestGrace = Period(days: 30)

    init(catalogue: Versioned<Catalogue>, pace: Pace) {
        self.catalogue = catalogue
        self.pace = pace
    }

    /// Returns the history of the tokens, with the periods in order.
    func history(of tokens: [PlayTokenRecord]) -> PlayHistory {
        let order = periods.indices.sorted { a, b in
            (periods[a].term.start, periods[a].key) < (periods[b].term.start, periods[b].key)
        }
        var places = [Int](repeating: 0, count: order.count)
        for (place, position) in order.enumerated() { places[position] = place }
        let tokens = tokens.map { $0.movingPeriods { places[$0] } }
        return PlayHistory(
            tokens: tokens.sorted { ($0.begun, $0.token) < ($1.begun, $1.token) },
            periods: order.map { TermRecord(periods[$0]) },
            pending: tokens.flatMap(\.pendingSpans)
        )
    }

    mutating func record(
        of token: PlayToken,
        _ observations: [PlayObservation],
        _ voids: [Observation<PlayVoidedOrder>],
        retiredFrom: Instant?
    ) -> PlayTokenRecord {
        var products: [String] = []
        for item in observations.flatMap(\.items) where !products.contains(item.productId) {
            products.append(item.productId)
        }
        let items = products.map { product in
            var item = PlayItemRecord(
                productId: product,
                statements: statements(on: product, observations)
            )
            findPeriods(of: &item, token, observations, voids, retiredFrom)
            return item
        }
        return PlayTokenRecord(
            token: token,
            begun: items.compactMap(\.statements.first?.from).min() ?? .distantFuture,
            retiredFrom: retiredFrom,
            items: items,
            voids: voids
        )
    }

    // MARK: Statements

    private func statements(on product: String, _ observations: [PlayObservation])
        -> [PlayStatement]
    {
        var statements: [PlayStatement] = []
        var last: PlayStatement?
        var lastRead: PlayStatement?
        var order: String?
        for observation in observations {
            guard let item = observation.items.first(where: { $0.productId == product }) else {
                if last != nil, statements.last?.item != nil {
                    statements.append(PlayStatement(nil, in: observation, catalogue))
                }
                continue
            }
            var statement = PlayStatement(item, in: observation, catalogue)
            if let last { statement.keepEnd(of: last, lastRead, paidBy: order) }
            if let lastRead,
                isUnpaidBesideOthers(statement, in: observation, after: lastRead, order)
            {
                statement.state = .inGrace
            }
            let isPaid = item.orderId == nil || item.orderId != order
            order = item.orderId ?? order
            let read = lastRead.flatMap { failed(statement, after: $0) ? $0 : nil }
            let grace = graceOf(item, at: observation.said)
            statement.place(after: read ?? last, isPaid: isPaid) { end in
                grace.map { length(of: $0, from: end) }
            }
            statement.from = max(
                begin(of: statement, after: last),
                statements.last?.from ?? .distantPast
            )
            if statement.isFailing, last != nil, statement.from < statement.said {
                statement.failedFrom = statement.from
            }
            statement.heldFrom = holdStart(of: statement, after: last)
            statements.append(statement)
            last = statement
            if statement.rank == .store { lastRead = statement }
        }
        let isFirst = observations.first?.items.contains { $0.productId == product } ?? false
        return isFirst ? leading(statements) : statements
    }

    /// The precision of a response's date, in whole seconds. An expiry has fractions of a second.
    private static let datePrecision = Milliseconds(1_000)

    /// Whether the renewal of one product of several failed although the purchase is active.
    ///
    /// The state describes the whole purchase, which is active while any product of it is paid. For
    /// a product in grace Google moves the expiry by a day at a time and names no new order.
    ///
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2#SubscriptionState
    private func isUnpaidBesideOthers(
        _ statement: PlayStatement,
        in observation: PlayObservation,
        after read: PlayStatement,
        _ order: String?
    ) -> Bool {
        guard statement.rank == .store, statement.state == .active, let item = statement.item,
            case .autoRenewing(isOn: true) = item.plan, let order, item.orderId == order,
            let end = read.periodEnd, end <= statement.said + Self.datePrecision,
            end < statement.expiry
        else { return false }
        let others = observation.items.filter { $0.productId != item.productId }
        guard others.contains(where: { $0.expiresAt.map { $0 > observation.said } ?? false }) else {
            return false
        }
        let grace = graceOf(item, at: statement.said) ?? Self.longestGrace
        return statement.expiry <= length(of: grace, from: end)
            && statement.expiry <= statement.said + pace.scale(.days(1)) + Self.datePrecision
    }

    /// Whether a read reports that the renewal due after the previous read failed. No bare
    /// notification between the two then states when the period ended.
    private func failed(_ statement: PlayStatement, after read: PlayStatement) -> Bool {
        guard statement.rank == .store, statement.isFailing, let item = statement.item,
            let end = read.periodEnd
        else { return false }
        let grace = graceOf(item, at: statement.said) ?? Self.longestGrace
        return end <= statement.expiry && statement.expiry <= length(of: grace, from: end)
    }

    /// Extends the first read back to the start of the subscription.
    private func leading(_ statements: [PlayStatement]) -> [PlayStatement] {
        guard let first = statements.first,
            var read = statements.first(where: { $0.rank == .store && !$0.isUnpaid }),
            let start = read.startedAt, start < first.from
        else { return statements }
        read.from = start
        if read.said == first.said { return [read] + statements.dropFirst() }
        return [read] + statements
    }

    /// Returns when a statement begins to count: when it was asserted, or at the start of the time
    /// that it covers, if no earlier statement covers that time.
    ///
    /// A recovery in grace that was not read in time counts from the last expiry that was read in
    /// grace. No read reports when it was paid, and access is the same either way.
    private func begin(of statement: PlayStatement, after last: PlayStatement?) -> Instant {
        guard let last, let item = statement.item else { return statement.said }
        if last.state == .pending, !statement.isUnpaid, let start = statement.startedAt {
            return min(statement.said, max(start, last.from))
        }
        guard !statement.provesNoPayment,
            statement.rank == .store, item.expiresAt != nil, last.item?.expiresAt != nil,
            last.expiry < statement.said, statement.expiry > last.expiry,
            let start = silentStart(of: statement, item, after: last)
        else { return statement.said }
        return min(statement.said, max(last.said, last.expiry, start))
    }

    /// Returns when the hold began; nil if the statement reports none. A hold longer than the
    /// maximum began later, after an unreported pause; it then starts when the store reported it.
    private func holdStart(of statement: PlayStatement, after last: PlayStatement?) -> Instant? {
        guard statement.state == .onHold else { return nil }
        let start = statedHoldStart(of: statement, after: last)
        return statement.said < start + pace.scale(PlayRuleContext.hold) ? start : statement.said
    }

    /// Returns when the hold began: at the end of grace, or at the end of a pause that was not
    /// paid.
    private func statedHoldStart(
        of statement: PlayStatement,
        after last: PlayStatement?
    ) -> Instant {
        guard let last, statement.expiry <= last.expiry else { return statement.stoppedAt }
        switch last.state {
        case .onHold: return last.heldFrom ?? statement.stoppedAt
        case .paused: return min(statement.said, last.resumesAt ?? statement.said)
        default: return statement.stoppedAt
        }
    }

    /// Returns the start of the time that a statement covers.
    ///
    /// This is the end of the previous period if the expiry kept its cadence or the payment failed
    /// then. Otherwise it is the start of the statement's own period. A hold or a pause starts a
    /// new cadence.
    private func silentStart(
        of statement: PlayStatement,
        _ item: PlayItem,
        after last: PlayStatement
    ) -> Instant? {
        guard statement.isFailing else {
            return isOnCadence(statement, item, after: last)
                ? last.expiry
                : start(of: item, endingAt: statement.expiry, by: statement.said)
        }
        let grace = graceOf(item, at: statement.said) ?? Self.longestGrace
        let end = last.periodEnd ?? last.expiry
        return statement.expiry <= length(of: grace, from: end) ? end : nil
    }

    /// Whether a whole number of periods lies between two expiries, to within a day.
    private func isOnCadence(
        _ statement: PlayStatement,
        _ item: PlayItem,
        after last: PlayStatement
    ) -> Bool {
        guard last.state == .active || last.state == .inGrace,
            let period = catalogue.value(at: last.expiry).product(of: item)?.period
        else { return false }
        return (1...Self.longestGap).contains { count in
            length(of: period.times(count), from: last.expiry)
                .isWithin(pace.scale(.days(1)), of: statement.expiry)
        }
    }

    /// Returns the latest start of a period that ends by `end`. Months end on different days: one
    /// that ends on 28 February may have begun on any day from the 28th to the 31st of January. Of
    /// these, a day after `limit` is not meant, since the period had begun by then.
    private func start(
        of item: PlayItem,
        endingAt end: Instant,
        by limit: Instant
    ) -> Instant? {
        guard let period = catalogue.value(at: end).product(of: item)?.period else { return nil }
        var start = end - period
        for _ in 0..<3 where start + .days(1) + period <= end {
            guard end - pace.scale(end - (start + .days(1))) <= limit else { break }
            start = start + .days(1)
        }
        return end - pace.scale(end - start)
    }

    private func length(of period: Period, from start: Instant) -> Instant {
        start + pace.scale(period.length(from: start))
    }

    private func graceOf(_ item: PlayItem, at instant: Instant) -> Period? {
        catalogue.value(at: instant).product(of: item)?.grace
    }

    // MARK: Periods

    /// Splits the statements on a product into paid periods, each with its observations.
    private mutating func findPeriods(
        of item: inout PlayItemRecord,
        _ token: PlayToken,
        _ observations: [PlayObservation],
        _ voids: [Observation<PlayVoidedOrder>],
        _ retiredFrom: Instant?
    ) {
        var former: Int?
        var current: Int?
        var order: String?
        // Whether the product gave no access before: awaited, on hold or paused.
        var wasWithheld = observations.contains { $0.awaited.contains(item.productId) }
        for position in item.statements.indices {
            let statement = item.statements[position]
            guard let said = statement.item, !statement.isUnpaid,
                let observation = observations.first(where: {
                    $0.word.evidence == statement.evidence
                })
            else { continue }
            let isNew =
                current.map {
                    isNewPeriod(statement, said, after: periods[$0].end ?? .distantFuture, order)
                } ?? true
            if isNew {
                former = current
                let before = current.map { periods[$0] }
                let term = term(
                    of: statement,
                    said,
                    observation,
                    "\(token.id):\(item.productId):\(periods.count)",
                    after: before,
                    wasWithheld
                )
                current = periods.count
                periods.append(
                    TermDraft(Observation(term, like: observation.word), told: statement)
                )
            }
            guard let current else { continue }
            order = said.orderId ?? order
            wasWithheld = statement.state == .onHold || statement.state == .paused
            periods[current].note(statement, said, observation)
            item.statements[position].period = current
            item.statements[position].formerPeriod = former
        }
        let gone = item.statements.first { $0.item == nil }?.from
        close(item, voids, [gone, retiredFrom].compactMap(\.self).min())
    }

    private mutating func close(
        _ item: PlayItemRecord,
        _ voids: [Observation<PlayVoidedOrder>],
        _ cut: Instant?
    ) {
        for position in Set(item.statements.compactMap(\.period)) {
            let (start, end) = (periods[position].effectiveStart, periods[position].end)
            if let cut, cut >= start, cut < end ?? .distantFuture {
                periods[position].upgradedAt = cut
            }
            periods[position].take(voids)
            periods[position].settle()
        }
    }

    /// Whether a statement starts a new period. Another order is another period; a later expiry of
    /// the same order is an extension. Without an order, an expiry that moved at its end is a
    /// renewal, except in grace.
    private func isNewPeriod(
        _ statement: PlayStatement,
        _ item: PlayItem,
        after end: Instant,
        _ order: String?
    ) -> Bool {
        if let order, let own = item.orderId { return own != order }
        return !statement.isFailing && statement.expiry > end + LineageHistory.sameEnd
            && statement.said + pace.scale(.days(1)) >= end
    }

    private func term(
        of statement: PlayStatement,
        _ item: PlayItem,
        _ observation: PlayObservation,
        _ name: String,
        after before: TermDraft?,
        _ wasWithheld: Bool
    ) -> Term {
        let begun = before?.end ?? statement.startedAt ?? statement.from
        let counted = start(of: item, endingAt: statement.expiry, by: statement.from)
        let isFirst = before == nil && !wasWithheld && !(item.orderId?.contains("..") ?? false)
        let start = isFirst ? begun : max(begun, counted ?? (wasWithheld ? statement.from : begun))
        let isBase = item.phase == .base || item.phase == nil
        return Term(
            transactionId: item.orderId ?? name,
            webOrderLineItemId: name,
            productId: statement.productId,
            plan: item.plan.isPrepaid ? .nonRenewing : .autoRenewable,
            start: min(start, statement.expiry),
            end: statement.periodEnd ?? statement.expiry,
            offer: item.offer,
            price: isBase ? item.price : nil,
            origin: before == nil && isFirst ? .purchase : .renewal,
            storefront: observation.region,
            accountToken: observation.accountId
        )
    }
}

extension PlayStatement {
    /// Sets the end of the period. In grace the expiry moves, so the end comes from the earlier
    /// statement. The same holds for a cancellation in grace and for a restart after it.
    fileprivate mutating func place(
        after last: PlayStatement?,
        isPaid: Bool,
        graceEnd: (Instant) -> Instant?
    ) {
        if !isFailing {
            periodEnd = expiry
            guard !isPaid, state == .cancelled || state == .active && rank < .store,
                let last, last.hasUnpaidEnd
            else { return }
        }
        guard let last, let end = last.periodEnd, end <= expiry, !last.isUnpaid else { return }
        periodEnd = end
        periodEvidence = last.periodEvidence ?? last.evidence
        guard state == .inGrace, let until = graceEnd(end) else { return }
        graceUntil = until >= expiry ? until : nil
    }

    /// Whether its expiry moved past the end of the period without a payment.
    private var hasUnpaidEnd: Bool {
        state == .inGrace || periodEnd.map { $0 < expiry } ?? false
    }
}

extension PlayTokenRecord {
    fileprivate func movingPeriods(_ place: (Int) -> Int) -> PlayTokenRecord {
        PlayTokenRecord(
            token: token,
            begun: begun,
            retiredFrom: retiredFrom,
            items: items.map { item in
                var item = item
                for position in item.statements.indices {
                    let statement = item.statements[position]
                    item.statements[position].period = statement.period.map(place)
                    item.statements[position].formerPeriod = statement.formerPeriod.map(place)
                }
                return item
            },
            voids: voids
        )
    }

    /// How long each product waited for its first payment.
    fileprivate var pendingSpans: [PendingSpan] {
        items.compactMap { item in
            guard let first = item.statements.first(where: { $0.state == .pending }) else {
                return nil
            }
            let settled = item.statements.first { $0.from >= first.from && $0.state != .pending }
            return PendingSpan(
                id: "\(token.id):\(item.productId)",
                productId: first.productId,
                since: first.from,
                until: settled?.from
            )
        }
    }
}

extension PlayItem.Plan {
    /// Whether time is paid in advance and does not renew automatically.
    var isPrepaid: Bool {
        if case .prepaid = self { true } else { false }
    }
}

extension PlayItem {
    /// The discount of the current phase. The store also states the promotion code of the signup
    /// after the discounts that it gave.
    fileprivate var offer: Offer? {
        let discount: Offer.Discount?
        switch phase {
        case .freeTrial: discount = .freeTrial
        case .introductory: discount = nil
        case .base, .proration, .unrecognised, nil: return nil
        }
        guard let promotionCode else {
            return Offer(kind: .introductory, discount: discount, identifier: offerId)
        }
        return Offer(kind: .code, discount: discount, identifier: promotionCode.text)
    }
}

extension TermDraft {
    /// Creates the draft of a period that a read reported.
    fileprivate convenience init(_ word: Observation<Term>, told statement: PlayStatement) {
        self.init(
            key: word.value.key,
            word: word,
            end: word.value.end,
            firstAsserted: statement.said,
            isUnseen: false,
            firstTold: statement.said,
            effectiveStart: max(word.value.start, statement.from)
        )
    }

    /// Adds one more statement on the period, in the terms of the App Store.
    fileprivate func note(
        _ statement: PlayStatement,
        _ item: PlayItem,
        _ observation: PlayObservation
    ) {
        if !statement.isFailing, statement.state != .paused, !isMerelyOver(by: statement) {
            end = statement.periodEnd ?? statement.expiry
        }
        let isOn: Bool? =
            switch item.plan {
            case .autoRenewing(let isOn): isOn && statement.state != .cancelled
            case .prepaid: false
            case .unstated: nil
            }
        let outlook = Outlook(
            renewalDate: end,
            productId: statement.productId,
            renewsInto: statement.nextProductId,
            willRenew: isOn,
            isRetrying: statement.isFailing ? true : nil,
            graceEnd: statement.state == .inGrace
                ? statement.graceUntil ?? statement.expiry : nil,
            renewalPrice: statement.renewalPrice
        )
        outlooks.append(Observation(outlook, like: observation.word))
        guard let status = statement.state.status else { return }
        let condition = Condition(status: status, renewalDate: end)
        conditions.append(Observation(condition, like: observation.word))
    }

    /// Whether a statement reports only the end, after a failed payment or a replacement. Its
    /// expiry is then not the end of the paid period.
    private func isMerelyOver(by statement: PlayStatement) -> Bool {
        guard statement.state == .expired || statement.state == .cancelled else { return false }
        return statement.cancellation == .replacement
            || outlooks.contains { $0.value.isRetrying ?? false }
    }

    /// Adds voided orders as revocations. The effect on access comes from reads.
    fileprivate func take(_ voids: [Observation<PlayVoidedOrder>]) {
        let own = voids.filter { $0.value.orderId == term.transactionId && !$0.value.isPartial }
        revocations = own.map { word in
            Observation(Revocation(term: key, date: word.value.date, cause: .refund), like: word)
        }
    }
}

extension PlaySubscription.State {
    /// The equivalent App Store status; nil without one.
    fileprivate var status: Condition.Status? {
        switch self {
        case .active, .cancelled: .active
        case .inGrace: .grace
        case .onHold: .retry
        case .expired: .expired
        case .paused, .pending, .pendingCancelled, .unrecognised: nil
        }
    }
}
