public import TideoverHTTP
public import TideoverSignatures

/// The simulated App Store as other programs meet it: customers act, time passes, notifications are posted
/// and tried again, and its Server API answers. It reads no clock; whoever holds it lets its time pass.
public actor SimulatedAppStore {
    private(set) var service: AppStoreService
    private let wait: @Sendable (_ milliseconds: Int64) async throws -> Void

    /// A store without customers.
    ///
    /// - Parameters:
    ///   - app: What is on sale, and in which environment.
    ///   - seed: What every number the store gives away follows from.
    ///   - now: What its clock shows, in milliseconds since 1970.
    ///   - authority: What everything it says is signed with.
    ///   - lag: How long after its signature a notification is sent, in milliseconds.
    ///   - keys: Whose tokens open the Server API.
    ///   - limits: Over which time its calls are counted before it answers 429.
    ///   - wait: How a slow answer is waited for; without one in real time.
    public init(
        _ app: AppStoreApp,
        seed: UInt64,
        now: Int64,
        authority: SandboxAuthority,
        lag: Int64 = 1000,
        keys: [AppStoreAPIKey] = [],
        limits: AppStoreRateLimits = .byTheHour,
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = {
            try await Task.sleep(for: .milliseconds($0))
        }
    ) {
        service = AppStoreService(
            machine: AppStoreMachine(app: app, seed: seed, now: now),
            seed: seed,
            lag: lag,
            keys: keys,
            limits: limits,
            authority: authority
        )
        self.wait = wait
    }

    /// A store as it stands.
    init(
        _ service: AppStoreService,
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void
    ) {
        self.service = service
        self.wait = wait
    }

    /// Has the store go on where another was saved.
    func restore(_ saved: SavedAppStore) { saved.restore(&service) }

    /// The store's clock, in milliseconds since 1970.
    public var now: Int64 { service.now }

    /// When the store will next do something by itself: change a subscription or send a notification.
    public var nextEvent: Int64? {
        [service.machine.nextEvent, service.post.nextAttempt].compactMap(\.self).min()
    }

    /// When the last notification not yet sent will be sent for the first time; nil if there is none.
    public var lastFirstAttempt: Int64? { service.post.lastFirstAttempt }

    /// The notifications posted and the attempts at sending them, oldest first; what is older than any history
    /// reaches back, 180 days, is forgotten.
    public var letters: [AppStorePost.Letter] { service.post.letters }

    /// Makes a customer known; refused with `customerExists` when the name is taken.
    public func register(_ customer: StoreCustomer) throws(AppStoreRefusal) {
        try service.machine.register(customer)
    }

    /// Carries out an action now; what the store notifies of is posted, and returned.
    @discardableResult
    public func perform(
        _ action: AppStoreAction,
        by customer: String
    ) throws(AppStoreRefusal) -> [AppStoreNotification] {
        let notifications = try service.machine.perform(action, by: customer)
        service.post.post(notifications)
        return notifications
    }

    /// Posts the notification that an operator can ask for to see whether any arrive.
    @discardableResult
    public func requestTestNotification() -> AppStoreNotification {
        let notification = service.machine.requestTestNotification()
        service.post.post([notification])
        return notification
    }

    /// The number of the order that a transaction belongs to, as it stands on the customer's receipt.
    public func order(of transactionId: String) -> String? {
        service.machine.finding(transactionId, asOf: now)?.ids.orderId
    }

    /// What the store held to be so at an instant up to `now`; of several subscriptions the best one.
    public func truth(of customer: String, at instant: Int64) -> AppStoreTruth {
        service.machine.truth(of: customer, at: instant)
    }
}

// MARK: - Devices

extension SimulatedAppStore {
    /// What StoreKit shows of a customer's subscriptions, signed now; nothing of an unknown customer.
    ///
    /// - Throws: `tooLarge` for content that no receiver would read.
    public func device(
        of customer: String
    ) throws(SignatureRefusal) -> [AppStoreDevicePurchase] {
        try service.device(of: customer)
    }
}

// MARK: - Time and the post

extension SimulatedAppStore {
    /// An attempt at sending that is under way: the notification, and the body to be posted.
    public struct Attempt: Sendable {
        /// The letter's number, with which the attempt is ended.
        public let number: AppStorePost.Number
        /// What is sent.
        public let notification: AppStoreNotification
        /// `{"signedPayload":"..."}`, or what is left of it.
        public let body: [UInt8]
        /// What went wrong on the way.
        public let fault: AppStoreWireFault?
    }

    /// Lets time pass up to the next attempt at sending, or to the instant if none is due by then.
    ///
    /// - Returns: the attempt, which `end` is to end before time goes on; nil at the instant.
    /// - Throws: `tooLarge` for a notification that no receiver would read.
    public func advance(to instant: Int64) throws(SignatureRefusal) -> Attempt? {
        while true {
            let attempt = service.post.nextAttempt ?? .max
            let event = service.machine.nextEvent ?? .max
            guard min(attempt, event) <= instant else { break }
            service.post.post(service.machine.advance(to: max(min(attempt, event), now)))
            if attempt <= event, let taken = service.post.take(dueBy: now) {
                if let attempt = try service.attempt(taken.number, taken.letter) { return attempt }
            }
        }
        service.post.post(service.machine.advance(to: instant))
        service.forget()
        return nil
    }

    /// Notes how an attempt ended; if it failed, the store tries again as its schedule has it.
    public func end(_ attempt: Attempt, _ result: AppStorePost.SendResult) {
        service.post.ended(attempt.number, at: now, result)
    }

    /// Lets time pass up to an instant, and posts on the way whatever falls due. The receiver is given
    /// each body, and says with which status it answered; what it throws counts as no response.
    public func advance(
        to instant: Int64,
        posting receiver: @Sendable (_ body: [UInt8]) async throws -> Int
    ) async throws(SignatureRefusal) {
        while let attempt = try advance(to: instant) {
            end(attempt, await result(of: attempt, receiver))
        }
    }

    private func result(
        of attempt: Attempt,
        _ receiver: (_ body: [UInt8]) async throws -> Int
    ) async -> AppStorePost.SendResult {
        do {
            return AppStorePost.SendResult(status: try await receiver(attempt.body))
        } catch {
            return .noResponse
        }
    }
}

// MARK: - The Server API

extension SimulatedAppStore {
    /// The App Store Server API of this store.
    public nonisolated var serverAPI: Handler {
        { request in try await self.answer(request) }
    }

    private func answer(_ request: Request) async throws -> Response {
        let answer = try service.answer(request)
        if answer.delay > 0 { try await wait(answer.delay) }
        guard let response = answer.response else { throw AppStoreNoAnswer() }
        return response
    }

    /// The calls of the Server API whose path was recognised, oldest first; of very many the latest ten
    /// thousand at least.
    public var calls: [AppStoreCallRecord] { service.calls }

    /// The consumption information that back ends sent in the last 180 days, oldest first.
    public var consumptions: [AppStoreConsumption] { service.consumptions }

    /// Whether a back end has told the store that it finished a transaction.
    public func isFinished(_ transactionId: String) -> Bool {
        service.finished.contains(transactionId)
    }

    /// Has calls go wrong from now on; of several rules the first that strikes decides.
    public func add(_ rule: AppStoreFaultRule) {
        if case .stale(let lag) = rule.fault {
            precondition(
                (0...AppStoreMachine.longestLag).contains(lag),
                "the store remembers what it would have said for a day"
            )
        }
        service.faults.add(rule)
    }

    /// Takes every rule back.
    public func clearFaults() { service.faults.clear() }

    /// Has notifications go wrong from now on; of several rules the first that strikes decides.
    public func add(_ rule: AppStoreWireFaultRule) { service.wire.faults.add(rule) }

    /// Takes every rule for notifications back; one that waits to be overtaken is sent.
    public func clearWireFaults() { service.clearWireFaults() }

    /// A customer opens the app: what becomes of the message of a billing problem.
    public func openApp(
        _ customer: String,
        delaysMessages: Bool = false
    ) throws(AppStoreRefusal) -> AppStoreMessageOutcome {
        try service.machine.openApp(customer, delaysMessages: delaysMessages)
    }

    /// Says whether the app has a URL for notifications; without one no test can be asked for.
    public func setHasNotificationURL(_ hasURL: Bool) { service.hasNotificationURL = hasURL }
}
