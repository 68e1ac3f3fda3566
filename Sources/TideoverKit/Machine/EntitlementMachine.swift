package import TideoverCore

/// All decisions of the kit, as one value: events go in, actions come out. It reads no clock and
/// has no side effects, so that a test can stop it at every action.
///
/// A transaction is finished only after the server has committed it, or after the queue that
/// contains it is durable. An unverified one is finished only after the server's commit.
package struct EntitlementMachine: Hashable, Sendable {
    package let settings: KitSettings
    package internal(set) var kept: KeptState
    /// The verified pass.
    package internal(set) var pass: Pass?
    /// The reason why the latest pass is not used; nil if it is.
    package internal(set) var passRejection: PassRejection?
    /// The server's refusal codes, by transaction.
    package internal(set) var refusals: [UInt64: String] = [:]

    // The store
    var reading: StoreReading?
    var readAt: Instant?
    var unfinished: [UInt64: Unfinished] = [:]
    var facts: DeviceFacts?
    /// Transactions that the server committed in this process.
    var committed: Set<UInt64> = []
    /// Transactions that were finished since the latest round began.
    var finishedInRound: Set<UInt64> = []

    // The server
    var round: Round?
    var lastRound = 0
    /// Whether something happened that the current round does not include.
    var isRoundWanted = false
    /// Whether a round ended in this process, with any result.
    var hasTried = false
    package internal(set) var reply: ServerReply?
    var failures = 0
    /// When to begin a round without an event: after a failure, and a day after a response.
    var retryAt: Instant?
    /// The ids of missing keys for which the keys were fetched, or are being fetched.
    var askedForKeys: Set<String> = []

    // Restoring
    var restore: Restore?

    // Messages of the store
    var delaysMessages = false
    var delayedMessages: [StoreMessage] = []

    // Time, reading and writing
    var clock: DeviceClock
    /// Whether the kept file was read, or there is none. Until then nothing is written.
    private var isKeptRead: Bool
    /// When to read the kept file again after a failure.
    var readKeptAt: Instant?
    var revision = 0
    /// The queued documents in each pending write.
    var writes: [Int: Set<String>] = [:]
    /// The documents known to be in the file.
    var durable: Set<String>
    private var durableRevision = 0
    package internal(set) var published: EntitlementState?
    var wakeAt: Instant?
    /// When the timer for it ends, by the clock that only moves forward.
    var timerEnd = Milliseconds.zero

    /// `isKeptRead` is false if the kept file could not be read. It may contain purchases that the
    /// store no longer offers, so it is read again before anything is written.
    package init(settings: KitSettings, kept: KeptState? = nil, isKeptRead: Bool = true) {
        self.settings = settings
        self.isKeptRead = isKeptRead
        let state = Self.state(kept, of: settings.customer)
        clock = DeviceClock(lastSeen: state.lastSeen)
        durable = state.documents
        self.kept = state
    }

    /// Only the queue of another customer's state is used. Purchases without a customer become
    /// those of the file's: they must not become the next customer's.
    private static func state(_ kept: KeptState?, of customer: CustomerID) -> KeptState {
        var queue = kept?.queue ?? []
        for position in queue.indices where queue[position].customer == nil {
            queue[position].customer = kept?.customer
        }
        var state = KeptState(customer: customer)
        if let kept, kept.customer == customer { state = kept }
        state.queue = queue
        return state
    }

    /// A transaction that the store offers again until it is finished.
    struct Unfinished: Hashable, Sendable {
        var purchase: SignedPurchase
        /// Whether `finish` was requested.
        var isFinishing = false
        /// Whether the app delivered it, or it needs no delivery.
        var isDelivered: Bool
    }

    /// One full reconcile: the store is read, and everything is presented page by page.
    struct Round: Hashable, Sendable {
        var number: Int
        /// Nil while the store is read.
        var pages: [EvidencePage]?
        var page = 0
    }

    /// A restore in progress. Its result is taken from a round that began after the request.
    struct Restore: Hashable, Sendable {
        var stage: Stage
        /// The first round that may end it.
        var round: Int

        enum Stage: Hashable, Sendable { case looking, synchronising, lookingAgain }
    }

    // MARK: - Events

    /// Handles an event.
    ///
    /// - Returns: The actions, in order. A write precedes the actions that rely on it.
    package mutating func happened(_ event: Event, at reading: ClockReading) -> [Action] {
        clock.see(reading)
        let (before, wasKeptRead) = (kept, isKeptRead)
        var actions = respond(to: event, at: reading)
        actions += finishWhatIsAccepted()
        actions += publishIfChanged(at: reading)
        rememberTime(at: reading, event)
        if kept != before || isKeptRead != wasKeptRead {
            actions.insert(isKeptRead ? write() : .readKept, at: 0)
        }
        return actions
    }

    private mutating func respond(to event: Event, at reading: ClockReading) -> [Action] {
        switch event {
        case .launched: launch(at: reading)
        case .foregrounded: readKeptAgain() + beginRound()
        case .statusChanged: beginRound()
        case .clockSeen: seeClock(at: reading)
        case .transactionUpdated(let purchase): update(purchase)
        case .purchaseEnded(let productId, let result):
            endPurchase(of: productId, result, at: reading)
        case .storeRead(let store): readStore(store, at: reading)
        case .keptRead(let earlier): receive(earlier)
        case .keptUnreadable: keptUnreadable(at: reading)
        case .written(let revision): written(revision)
        case .writingFailed(let revision): writingFailed(revision)
        case .reconcileAccepted(let round, let page, let reply):
            accept(reply, round, page, at: reading)
        case .reconcileRefused(let round, let page, let status):
            fail(round, page, mayRetry: status == 408 || status == 429, at: reading)
        case .reconcileFailed(let round, let page): fail(round, page, mayRetry: true, at: reading)
        case .finished(let id): finished(id)
        case .delivered(let id): delivered(id)
        case .restoreAsked: beginRestore()
        case .synced: synced()
        case .syncFailed: syncFailed()
        case .messageReceived(let message): receiveMessage(message)
        case .messagesDelayed(let delays): delayMessages(delays)
        case .passVerified(let compact, let claims): believe(claims, of: compact, at: reading)
        case .passForged(let compact): reject(compact, .forged)
        case .keysReceived(let keys): receive(keys)
        case .keysFailed: keysFailed()
        }
    }

    private mutating func launch(at reading: ClockReading) -> [Action] {
        beginProcess()
        return checkKept() + beginRound()
    }

    /// Removes what a kept state contains only until the next launch.
    private mutating func beginProcess() {
        for position in kept.queue.indices { kept.queue[position].isRefused = false }
        kept.artifacts.removeAll { $0.until == nil }
    }

    private mutating func seeClock(at reading: ClockReading) -> [Action] {
        let now = clock.now(reading)
        kept.artifacts.removeAll { $0.until.map { $0 <= now } ?? false }
        // The timer may have ended early: the clock can be corrected while it runs.
        wakeAt = nil
        var actions: [Action] = []
        if let readKeptAt, readKeptAt <= now { actions += readKeptAgain() }
        if let retryAt, retryAt <= now { actions += beginRound() }
        return actions
    }

    // MARK: - Reading

    private mutating func readKeptAgain() -> [Action] {
        readKeptAt = nil
        return isKeptRead ? [] : [.readKept]
    }

    private mutating func keptUnreadable(at reading: ClockReading) -> [Action] {
        if !isKeptRead { readKeptAt = clock.now(reading) + .minutes(1) }
        return []
    }

    /// Continues with the state in the file, and adds what happened in this process before the file
    /// could be read.
    private mutating func receive(_ earlier: KeptState?) -> [Action] {
        guard !isKeptRead else { return [] }
        isKeptRead = true
        readKeptAt = nil
        let current = kept
        kept = Self.state(earlier, of: settings.customer)
        durable = kept.documents
        beginProcess()
        if let lastSeen = kept.lastSeen { clock.see(lastSeen: lastSeen) }
        for queued in current.queue where !durable.contains(queued.purchase.jws) {
            // The store offers the others again: only those in the file are finished.
            if kept.queue.count < settings.capacity { kept.queue.append(queued) }
        }
        let waiting = Set(current.waiting.map(\.productId))
        kept.waiting = kept.waiting.filter { !waiting.contains($0.productId) } + current.waiting
        let noted = Set(current.granted.map(\.entitlement) + current.artifacts.map(\.entitlement))
        kept.granted = current.granted + kept.granted.filter { !noted.contains($0.entitlement) }
        kept.artifacts =
            current.artifacts + kept.artifacts.filter { !noted.contains($0.entitlement) }
        if !current.keys.isEmpty { kept.keys = current.keys }
        kept.pass = current.pass ?? kept.pass
        kept.candidate = current.candidate ?? kept.candidate
        let checking = pass == nil ? checkKept() : []
        return checking + beginRound()
    }

    // MARK: - Writing

    /// The time is stored with every write, and at least once an hour.
    private mutating func rememberTime(at reading: ClockReading, _ event: Event) {
        switch event {
        case .keptUnreadable, .written, .writingFailed, .finished: return
        default: break
        }
        let now = clock.passTime(reading).now
        let isDue = kept.lastSeen.map { now >= $0 + .hours(1) || now < $0 } ?? true
        if isDue { kept.lastSeen = now }
    }

    private mutating func write() -> Action {
        revision += 1
        writes[revision] = kept.documents
        return .write(kept, revision: revision)
    }

    /// Writes complete in order; the latest one decides the content of the file.
    private mutating func written(_ revision: Int) -> [Action] {
        guard let documents = writes[revision], revision > durableRevision else { return [] }
        durableRevision = revision
        durable = documents
        writes = writes.filter { $0.key > revision }
        return []
    }

    private mutating func writingFailed(_ revision: Int) -> [Action] {
        writes[revision] = nil
        return []
    }
}

extension KeptState {
    /// The documents in the queue.
    var documents: Set<String> { Set(queue.map(\.purchase.jws)) }
}
