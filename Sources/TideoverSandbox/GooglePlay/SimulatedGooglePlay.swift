public import TideoverHTTP
public import TideoverJSON
public import TideoverSignatures

/// The interface of the simulated Google Play: customers act, time passes, and its APIs answer.
/// Notifications are published and pushed until they are acknowledged. It reads no clock; its owner
/// advances the time.
public actor SimulatedGooglePlay {
    private(set) var service: PlayService
    /// The push subscription.
    public let push: PubSubPush
    private let wait: @Sendable (_ milliseconds: Int64) async throws -> Void

    /// The token endpoint of service accounts, unless their key file names another.
    public static let tokenURL = "https://oauth2.googleapis.com/token"

    /// Creates a store without customers.
    ///
    /// - Parameters:
    ///   - app: The app on sale.
    ///   - seed: The seed of every number that the store generates.
    ///   - now: The time on its clock, in milliseconds since 1970.
    ///   - authority: Signs its pushes.
    ///   - push: The recipient and the format of its pushes.
    ///   - habits: How reliably Pub/Sub delivers them.
    ///   - accounts: The service accounts that exist.
    ///   - tokenURL: `token_uri` of their key files. An assertion names it, or one of Google's own
    ///     token endpoints, as its audience.
    ///   - dial: The clock that dates all output and applies to all input.
    ///   - wait: Waits for a slow answer; in real time by default.
    public init(
        _ app: GooglePlayApp,
        seed: UInt64,
        now: Int64,
        authority: PlayAuthority,
        push: PubSubPush,
        habits: PubSubDeliveryFaults = PubSubDeliveryFaults(),
        accounts: [PlayServiceAccount] = [],
        tokenURL: String = SimulatedGooglePlay.tokenURL,
        dial: StoreTimeScale = .identity,
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = {
            try await Task.sleep(for: .milliseconds($0))
        }
    ) {
        service = PlayService(
            machine: GooglePlayMachine(app: app, seed: seed, now: now),
            seed: seed,
            habits: habits,
            accounts: accounts,
            tokenURL: tokenURL,
            authority: authority,
            dial: dial
        )
        self.push = push
        self.wait = wait
    }

    /// Creates a store with this state.
    init(
        _ service: PlayService,
        push: PubSubPush,
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void
    ) {
        self.service = service
        self.push = push
        self.wait = wait
    }

    /// Restores the saved state of another store.
    func restore(_ saved: SavedGooglePlay) { saved.restore(&service) }

    /// The store's clock, in milliseconds since 1970.
    public var now: Int64 { service.now }

    /// The next instant at which the store changes a purchase or pushes a message by itself.
    public var nextEvent: Int64? {
        [service.machine.nextEvent, service.post.nextAttempt].compactMap(\.self).min()
    }

    /// When the last message not yet pushed will be pushed for the first time; nil if there is
    /// none.
    public var lastFirstAttempt: Int64? { service.post.lastFirstAttempt }

    /// The published messages and their push attempts, oldest first. The store drops those older
    /// than Pub/Sub's retention of a week.
    public var letters: [PlayPost.DeliveryRecord] { service.post.letters }

    /// Adds a customer; refused with `customerExists` when the name is taken.
    public func register(_ customer: GooglePlayCustomer) throws(GooglePlayRefusal) {
        try service.change { machine throws(GooglePlayRefusal) in
            try machine.register(customer)
            return []
        }
    }

    /// Performs an action now. Publishes and returns the store's notifications.
    @discardableResult
    public func perform(
        _ action: GooglePlayAction,
        by customer: String
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        try service.change { machine throws(GooglePlayRefusal) in
            try machine.perform(action, by: customer)
        }
    }

    /// Performs a developer's request from the Play Console or by other means than the handler.
    @discardableResult
    public func write(
        _ write: GooglePlayWrite
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        try service.change { machine throws(GooglePlayRefusal) in try machine.write(write) }
    }

    /// Publishes the test notification that an operator can request to check delivery.
    @discardableResult
    public func requestTestNotification() throws(GooglePlayRefusal) -> GooglePlayNotification {
        let notification = service.machine.requestTestNotification()
        try service.change { _ in [notification] }
        return notification
    }

    /// The tokens of a customer's purchases, oldest first.
    public func tokens(of customer: String) -> [String] { service.machine.tokens(of: customer) }

    /// Returns `purchases.subscriptionsv2` of a token now; nil if it belongs to no subscription.
    public func subscription(token: String) -> JSONObject? {
        service.machine.subscription(token: token)
    }

    /// Returns the same with the end of a planned pause, which only the API's first version names.
    func subscriptionWithPause(token: String) -> JSONObject? {
        var resource = service.machine.subscription(token: token)
        let end = service.machine.pauseEnd(of: token)
        resource?["autoResumeTimeMillis"] = end.map { .string(String($0)) }
        return resource
    }

    /// Returns the newest order of a purchase; nil for a token without an order.
    public func newestOrder(of token: String) -> String? {
        if let product = service.machine.product(token: token) { return product["orderId"]?.string }
        let items = service.machine.subscription(token: token)?["lineItems"]?.array
        return items?.last?["latestSuccessfulOrderId"]?.string
    }

    /// Returns the store's state at an instant up to `now`; of several purchases the best one.
    public func truth(of customer: String, at instant: Int64) -> GooglePlayExpectedState {
        service.machine.truth(of: customer, at: instant)
    }

    /// Returns the state of each product of each purchase, in the order bought.
    public func holdings(of customer: String, at instant: Int64) -> [GooglePlayHolding] {
        service.machine.holdings(of: customer, at: instant)
    }
}

// MARK: - Time and delivery

extension SimulatedGooglePlay {
    /// A push attempt in progress.
    public struct Attempt: Sendable {
        /// The number with which the attempt is ended.
        public let number: PlayPost.Number
        /// The message that is pushed.
        public let message: PlayMessage
        /// The headers, with a newly created token in `Authorization`.
        public let headers: Headers
        /// The request body.
        public let body: [UInt8]
        /// The fault of this attempt; nil if there is none.
        public let fault: PlayWireFault?
    }

    /// Advances the clock to the next push attempt, or to the instant if none is due by then.
    ///
    /// - Returns: the attempt, which must be passed to `end` before time goes on; nil at the
    ///   instant.
    /// - Throws: `tooLarge` for a token that no receiver would read.
    public func advance(to instant: Int64) throws(SignatureRefusal) -> Attempt? {
        while true {
            let attempt = service.post.nextAttempt ?? .max
            let event = service.machine.nextEvent ?? .max
            guard min(attempt, event) <= instant else { break }
            service.advance(to: max(min(attempt, event), now))
            if attempt <= event, let taken = service.post.take(dueBy: now),
                let attempt = try service.attempt(taken.number, taken.letter.message, push)
            {
                return attempt
            }
        }
        service.advance(to: instant)
        service.forget()
        return nil
    }

    /// Records how an attempt ended: with the response's status, or nil without a response. A
    /// message that was not acknowledged is pushed again.
    public func end(_ attempt: Attempt, _ status: Int?) {
        service.post.ended(attempt.number, at: now, status)
    }

    /// Advances the clock to an instant, and pushes everything that is due on the way. The receiver
    /// gets each attempt and returns the status of its response. An error that it throws counts as
    /// no response.
    public func advance(
        to instant: Int64,
        pushing receiver: @Sendable (_ attempt: Attempt) async throws -> Int
    ) async throws(SignatureRefusal) {
        while let attempt = try advance(to: instant) {
            end(attempt, await status(of: attempt, receiver))
        }
    }

    private func status(
        of attempt: Attempt,
        _ receiver: (_ attempt: Attempt) async throws -> Int
    ) async -> Int? {
        do {
            return try await receiver(attempt)
        } catch {
            return nil
        }
    }
}

// MARK: - Google's APIs

extension SimulatedGooglePlay {
    /// Google's endpoints for a back end: the Play Developer API, Pub/Sub, the token endpoint and
    /// the keys of pushes. Their paths do not overlap, so one handler serves all their hosts.
    public nonisolated var google: Handler {
        { request in try await self.answer(request) }
    }

    private func answer(_ request: Request) async throws -> Response {
        let answer = service.answer(request)
        if answer.delay > 0 { try await wait(answer.delay) }
        guard let response = answer.response else { throw PlayNoAnswer() }
        return response
    }

    /// The calls with a recognised path, oldest first. Keeps at least the latest ten thousand.
    public var calls: [PlayCallRecord] { service.calls }

    /// The ids of the messages that wait to be pulled and acknowledged, oldest first.
    public var unacknowledged: [String] { service.queue.unacknowledged }

    /// Adds a fault rule for calls. Of several rules, the first that matches decides.
    public func add(_ rule: PlayFaultRule) { service.faults.add(rule) }

    /// Adds a fault rule for pushes. Of several rules, the first that matches decides.
    public func add(_ rule: PlayWireFaultRule) { service.wire.faults.add(rule) }

    /// Removes all fault rules for pushes. Sends a message that a rule has delayed.
    public func clearWireFaults() { service.clearWireFaults() }

    /// Changes how Pub/Sub pushes from now on.
    public func setHabits(_ habits: PubSubDeliveryFaults) { service.post.habits = habits }

    /// Removes all fault rules for calls.
    public func clearFaults() { service.faults.clear() }

    /// Revokes every access token issued so far.
    public func withdrawTokens() { service.desk.withdrawTokens() }

    /// Signs pushes with a new key from now on. With `withdrawing`, the old key is no longer
    /// published.
    public func rotateKeys(withdrawing: Bool = false) {
        service.authority.rotate()
        if withdrawing { service.authority.withdrawOldKeys() }
    }
}
