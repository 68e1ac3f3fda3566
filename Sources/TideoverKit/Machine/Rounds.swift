import TideoverCore

// The full reconcile: reads the store, presents everything, and applies the final response.

extension EntitlementMachine {
    /// Starts a round. Only one runs at a time; events during it start another one.
    mutating func beginRound() -> [Action] {
        guard round == nil else {
            isRoundWanted = true
            return []
        }
        isRoundWanted = false
        retryAt = nil
        finishedInRound = []
        lastRound += 1
        round = Round(number: lastRound)
        return [.readStore]
    }

    mutating func readStore(_ store: StoreReading, at reading: ClockReading) -> [Action] {
        guard round != nil, round?.pages == nil else { return [] }
        let (former, asked) = (self.reading, environment)
        self.reading = store
        // StoreKit may be unable to name the app's environment again, but it remains the same.
        self.reading?.environment = store.environment ?? former?.environment
        readAt = clock.now(reading)
        facts = nil
        // The store may have been read before a transaction was finished.
        for purchase in store.unfinished
        where unfinished[purchase.transactionId] == nil
            && !finishedInRound.contains(purchase.transactionId)
        {
            take(purchase)
        }
        if settings.server == nil {
            // Transactions that the store no longer offers were finished before the file was
            // updated.
            kept.queue.removeAll { unfinished[$0.purchase.transactionId] == nil }
        }
        if let newest = currentFacts?.newestDate { clock.see(verified: newest, at: reading) }
        guard settings.server != nil else { return endRound(answered: true, at: reading) }
        let pages = pages(of: store, at: reading)
        round?.pages = pages
        // The store names the environment for which the pass must be.
        if let held = pass?.environment, held != environment { pass = nil }
        let isDue = former == nil || environment != asked
        let checking = isDue && pass == nil ? checkKept() : []
        return checking + presentPage()
    }

    private func pages(of store: StoreReading, at reading: ClockReading) -> [EvidencePage] {
        let queued = kept.queue.filter { isOwn($0) && !$0.isRefused }.map(\.purchase)
        let unqueued = unfinished.values.map(\.purchase).filter { purchase in
            refusals[purchase.transactionId] == nil
                && !kept.queue.contains { $0.purchase.jws == purchase.jws }
        }
        var pages = EvidencePage.pages(
            of: queued + unqueued.sorted { $0.transactionId < $1.transactionId }
                + store.purchases.filter(isPresentable),
            and: store.statuses.filter { isPresentable($0.transaction) }
        )
        pages[pages.count - 1].conclusion = conclusion(of: store, at: reading)
        return pagesOfOthers + pages
    }

    /// What other customers of this app bought, as theirs. These pages come first: the last page of
    /// a round is this customer's, and its response the answer.
    private var pagesOfOthers: [EvidencePage] {
        let queue = kept.queue.filter { !isOwn($0) && !$0.isRefused }
        return Set(queue.compactMap(\.customer)).sorted().flatMap { customer in
            let purchases = queue.filter { $0.customer == customer }.map(\.purchase)
            return EvidencePage.pages(of: purchases, and: []).map { page in
                var page = page
                page.customer = customer
                return page
            }
        }
    }

    /// A transaction that neither the device nor the server could verify is not presented twice.
    private func isPresentable(_ purchase: SignedPurchase) -> Bool {
        purchase.isVerified || refusals[purchase.transactionId] == nil
    }

    private func conclusion(
        of store: StoreReading,
        at reading: ClockReading
    ) -> DeviceConclusionDocument? {
        guard let readAt, let decision = decision(at: reading), !settings.catalogue.products.isEmpty
        else { return nil }
        let unverified = store.transactions.filter { !$0.isVerified }
        return DeviceConclusionDocument(
            decision,
            unfinished: store.unfinished,
            unverified: Set(
                unverified.flatMap { settings.catalogue[$0.productId]?.entitlements ?? [] }
            ),
            askedAt: readAt,
            deviceTime: reading.clock
        )
    }

    private func presentPage() -> [Action] {
        guard let round, let pages = round.pages, round.page < pages.count else { return [] }
        return [
            .reconcile(
                round: round.number,
                page: round.page,
                pages[round.page],
                environment: environment
            )
        ]
    }

    private func isCurrent(_ number: Int, _ page: Int) -> Bool {
        round.map { $0.number == number && $0.page == page && $0.pages != nil } ?? false
    }

    // MARK: - Answers

    mutating func accept(
        _ reply: ServerReply,
        _ number: Int,
        _ page: Int,
        at reading: ClockReading
    ) -> [Action] {
        guard isCurrent(number, page), let pages = round?.pages else { return [] }
        for purchase in pages[page].transactions {
            judge(purchase, reply.verdicts[purchase.jws], at: reply.asOf)
        }
        clock.see(serverTime: reply.asOf, at: reading)
        // A timer that was started before by another clock ends at the wrong time.
        wakeAt = nil
        failures = 0
        round?.page += 1
        // The response to an earlier page does not include the rest of the evidence.
        guard page + 1 == pages.count else { return presentPage() }
        self.reply = reply
        let own = pages.filter { $0.customer == nil }
        let presented = Set(own.flatMap(\.transactions).map(\.jws))
        // A refused document was judged in an earlier round, and is not presented again.
        for (position, queued) in kept.queue.enumerated()
        where isOwn(queued) && (queued.isRefused || presented.contains(queued.purchase.jws)) {
            kept.queue[position].isAnswered = true
        }
        let pass = reply.pass.map { receivePass($0) } ?? []
        return pass + endRound(answered: true, at: reading)
    }

    private mutating func judge(
        _ purchase: SignedPurchase,
        _ verdict: ServerReply.Verdict?,
        at serverTime: Instant
    ) {
        let id = purchase.transactionId
        switch verdict {
        case .accepted:
            committed.insert(id)
            refusals[id] = nil
            kept.queue.removeAll { $0.purchase.jws == purchase.jws }
        case .refused(let code):
            refusals[id] = code
            refuse(purchase, at: serverTime)
        case .undecided, nil: break
        }
    }

    /// Marks a queued purchase as refused, and removes it if it was refused long ago already. Most
    /// refusals end with the server's configuration or its next version; none lasts for ever on a
    /// device, which may be another customer's by then.
    private mutating func refuse(_ purchase: SignedPurchase, at serverTime: Instant? = nil) {
        for position in kept.queue.indices.reversed()
        where kept.queue[position].purchase.jws == purchase.jws {
            kept.queue[position].isRefused = true
            guard let serverTime else { continue }
            let first = kept.queue[position].refusedAt ?? serverTime
            kept.queue[position].refusedAt = first
            if serverTime >= first + Self.refusalLife { kept.queue.remove(at: position) }
        }
    }

    /// How long a purchase that the server refuses is presented again.
    private static let refusalLife = Milliseconds.days(30)

    mutating func fail(
        _ number: Int,
        _ page: Int,
        mayRetry: Bool,
        at reading: ClockReading
    ) -> [Action] {
        guard isCurrent(number, page), let pages = round?.pages else { return [] }
        if !mayRetry, pages[page].customer != nil {
            // This customer's answer does not depend on another customer's page.
            for purchase in pages[page].transactions { refuse(purchase) }
            round?.page += 1
            return presentPage()
        }
        failures += 1
        let actions = endRound(answered: false, at: reading)
        if round == nil {
            // What the server refuses now it may accept later, while the app stays on the screen.
            retryAt = clock.now(reading) + (mayRetry ? retryDelay : .days(1))
        }
        return actions
    }

    /// Doubles from 15 seconds to an hour.
    private var retryDelay: Milliseconds {
        .seconds(min(3600, 15 << Int64(min(max(failures - 1, 0), 10))))
    }

    private mutating func endRound(answered: Bool, at reading: ClockReading) -> [Action] {
        let number = round?.number ?? 0
        round = nil
        hasTried = true
        var actions = advanceRestore(afterRound: number, answered: answered, at: reading)
        if isRoundWanted, answered { actions += beginRound() }
        isRoundWanted = isRoundWanted && answered && round == nil
        // An app can stay on the screen for weeks, longer than an answer counts.
        if answered, round == nil, settings.server != nil {
            retryAt = clock.now(reading) + .days(1)
        }
        return actions
    }

    // MARK: - Restoring

    mutating func beginRestore() -> [Action] {
        guard restore == nil else { return [] }
        // The current round may have read the store before the user's request.
        restore = Restore(stage: .looking, round: lastRound + 1)
        return beginRound()
    }

    mutating func synced() -> [Action] {
        guard restore?.stage == .synchronising else { return [] }
        restore = Restore(stage: .lookingAgain, round: lastRound + 1)
        return beginRound()
    }

    mutating func syncFailed() -> [Action] {
        guard restore?.stage == .synchronising else { return [] }
        restore = nil
        return [.endRestore(.notSynchronised)]
    }

    private mutating func advanceRestore(
        afterRound number: Int,
        answered: Bool,
        at reading: ClockReading
    ) -> [Action] {
        guard let restore, restore.stage != .synchronising else { return [] }
        guard number >= restore.round else {
            isRoundWanted = true
            return answered ? [] : beginRound()
        }
        let state = state(by: decision(at: reading), at: reading)
        if state.entitlements.values.contains(where: { $0.access == .granted }) {
            self.restore = nil
            return [.endRestore(.found)]
        }
        switch restore.stage {
        case .looking where answered:
            self.restore?.stage = .synchronising
            return [.sync]
        case .looking, .synchronising, .lookingAgain:
            self.restore = nil
            return [.endRestore(answered ? .nothingFound : .notAnswered)]
        }
    }
}
