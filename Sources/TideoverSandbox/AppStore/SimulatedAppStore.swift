public import TideoverHTTP
public import TideoverSignatures

/// The interface of the simulated App Store: customers act, time passes, notifications are sent and
/// retried, and the Server API answers. It reads no clock; its owner advances the time.
public actor SimulatedAppStore {
    private(set) var service: AppStoreService
    private let wait: @Sendable (_ milliseconds: Int64) async throws -> Void

    /// Creates a store without customers.
    ///
    /// - Parameters:
    ///   - app: The app on sale, and its environment.
    ///   - seed: The seed of every number that the store generates.
    ///   - now: The time on its clock, in milliseconds since 1970.
    ///   - authority: Signs everything that the store issues.
    ///   - lag: The delay between a notification's signature and its delivery, in milliseconds.
    ///   - keys: The API keys that the Server API accepts.
    ///   - limits: The time over which calls are counted before it answers 429.
    ///   - wait: Waits for a slow answer; in real time by default.
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

    /// Creates a store with this state.
    init(
        _ service: AppStoreService,
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void
    ) {
        self.service = service
        self.wait = wait
    }

    /// Restores the saved state of another store.
    func restore(_ saved: SavedAppStore) { saved.restore(&service) }

    /// The store's clock, in milliseconds since 1970.
    public var now: Int64 { service.now }

    /// The next instant at which the store changes a subscription or sends a notification by
    /// itself.
    public var nextEvent: Int64? {
        [service.machine.nextEvent, service.post.nextAttempt].compactMap(\.self).min()
    }

    /// When the last notification not yet sent will be sent for the first time; nil if there is
    /// none.
    public var lastFirstAttempt: Int64? { service.post.lastFirstAttempt }

    /// The queued notifications and their delivery attempts, oldest first. The store drops those
    /// older than the 180-day history.
    public var letters: [AppStorePost.DeliveryRecord] { service.post.letters }

    /// Adds a customer; refused with `customerExists` when the name is taken.
    public func register(_ customer: StoreCustomer) throws(AppStoreRefusal) {
        try service.machine.register(customer)
    }

    /// Performs an action now. Queues and returns the store's notifications.
    @discardableResult
    public func perform(
        _ action: AppStoreAction,
        by customer: String
    ) throws(AppStoreRefusal) -> [AppStoreNotification] {
        let notifications = try service.machine.perform(action, by: customer)
        service.post.post(notifications)
        return notifications
    }

    /// Queues the test notification that an operator can request to check delivery.
    @discardableResult
    public func requestTestNotification() -> AppStoreNotification {
        let notification = service.machine.requestTestNotification()
        service.post.post([notification])
        return notification
    }

    /// Returns the number of a transaction's order, as printed on the customer's receipt.
    public func order(of transactionId: String) -> String? {
        service.machine.finding(transactionId, asOf: now)?.ids.orderId
    }

    /// Returns the store's state at an instant up to `now`; of several subscriptions the best one.
    public func truth(of customer: String, at instant: Int64) -> AppStoreExpectedState {
        service.machine.truth(of: customer, at: instant)
    }
}

// MARK: - Devices

extension SimulatedAppStore {
    /// Returns what StoreKit shows of a customer's subscriptions, signed now; nothing for an
    /// unknown customer.
    ///
    /// - Throws: `tooLarge` for content that no receiver would read.
    public func device(
        of customer: String
    ) throws(SignatureRefusal) -> [AppStoreDevicePurchase] {
        try service.device(of: customer)
    }
}

// MARK: - Time and delivery

extension SimulatedAppStore {
    /// A delivery attempt in progress: the notification and the request body.
    public struct Attempt: Sendable {
        /// The number with which the attempt is ended.
        public let number: AppStorePost.Number
        /// The notification that is sent.
        public let notification: AppStoreNotification
        /// `{"signedPayload":"..."}`, or the part that a fault leaves.
        public let body: [UInt8]
        /// The fault of this attempt; nil if there is none.
        public let fault: AppStoreWireFault?
    }

    /// Advances the clock to the next delivery attempt, or to the instant if none is due by then.
    ///
    /// - Returns: the attempt, which must be passed to `end` before time goes on; nil at the
    ///   instant.
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

    /// Records how an attempt ended. After a failure, the store retries according to its schedule.
    public func end(_ attempt: Attempt, _ result: AppStorePost.SendResult) {
        service.post.ended(attempt.number, at: now, result)
    }

    /// Advances the clock to an instant, and sends everything that is due on the way. The receiver
    /// gets each body and returns the status of its response. An error that it throws counts as no
    /// response.
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

    /// The calls of the Server API with a recognised path, oldest first. Keeps at least the latest
    /// ten thousand.
    public var calls: [AppStoreCallRecord] { service.calls }

    /// The consumption information that back ends sent in the last 180 days, oldest first.
    public var consumptions: [AppStoreConsumption] { service.consumptions }

    /// Whether a back end has reported to the store that it finished a transaction.
    public func isFinished(_ transactionId: String) -> Bool {
        service.finished.contains(transactionId)
    }

    /// Adds a fault rule for calls. Of several rules, the first that matches decides.
    public func add(_ rule: AppStoreFaultRule) {
        if case .stale(let lag) = rule.fault {
            precondition(
                (0...AppStoreMachine.longestLag).contains(lag),
                "the store remembers what it would have said for a day"
            )
        }
        service.faults.add(rule)
    }

    /// Removes all fault rules for calls.
    public func clearFaults() { service.faults.clear() }

    /// Adds a fault rule for notifications. Of several rules, the first that matches decides.
    public func add(_ rule: AppStoreWireFaultRule) { service.wire.faults.add(rule) }

    /// Removes all fault rules for notifications. Sends a notification that a rule has delayed.
    public func clearWireFaults() { service.clearWireFaults() }

    /// Opens the app as a customer, and returns the outcome of the billing problem message.
    public func openApp(
        _ customer: String,
        delaysMessages: Bool = false
    ) throws(AppStoreRefusal) -> AppStoreMessageOutcome {
        try service.machine.openApp(customer, delaysMessages: delaysMessages)
    }

    /// Sets whether the app has a URL for notifications. Without one, no test notification can be
    /// requested.
    public func setHasNotificationURL(_ hasURL: Bool) { service.hasNotificationURL = hasURL }
}
