public import TideoverHTTP
public import TideoverJSON
public import TideoverSignatures

/// The simulated Google Play as other programs meet it: customers act, time passes, notifications are
/// published and pushed until they are acknowledged, and its APIs answer. It reads no clock; whoever holds
/// it lets its time pass.
public actor SimulatedGooglePlay {
    private(set) var service: PlayService
    /// The subscription that pushes.
    public let push: PubSubPush
    private let wait: @Sendable (_ milliseconds: Int64) async throws -> Void

    /// Where service accounts ask for tokens unless their key file says otherwise.
    public static let tokenURL = "https://oauth2.googleapis.com/token"

    /// A store without customers.
    ///
    /// - Parameters:
    ///   - app: What is on sale.
    ///   - seed: What every number the store gives away follows from.
    ///   - now: What its clock shows, in milliseconds since 1970.
    ///   - authority: What its pushes are signed with.
    ///   - push: To whom its notifications are pushed, and in which form.
    ///   - habits: How well Pub/Sub delivers them.
    ///   - accounts: The service accounts that there are.
    ///   - tokenURL: `token_uri` of their key files. An assertion names it, or one of Google's own
    ///     token endpoints, as its audience.
    ///   - dial: By which clock everything said is dated, and what comes in is meant.
    ///   - wait: How a slow answer is waited for; without one in real time.
    public init(
        _ app: GooglePlayApp,
        seed: UInt64,
        now: Int64,
        authority: PlayAuthority,
        push: PubSubPush,
        habits: PubSubHabits = PubSubHabits(),
        accounts: [PlayServiceAccount] = [],
        tokenURL: String = SimulatedGooglePlay.tokenURL,
        dial: StoreDial = .identity,
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

    /// A store as it stands.
    init(
        _ service: PlayService,
        push: PubSubPush,
        wait: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void
    ) {
        self.service = service
        self.push = push
        self.wait = wait
    }

    /// Has the store go on where another was saved.
    func restore(_ saved: SavedGooglePlay) { saved.restore(&service) }

    /// The store's clock, in milliseconds since 1970.
    public var now: Int64 { service.now }

    /// When the store will next do something by itself: change a purchase or push a message.
    public var nextEvent: Int64? {
        [service.machine.nextEvent, service.post.nextAttempt].compactMap(\.self).min()
    }

    /// When the last message not yet pushed will be pushed for the first time; nil if there is none.
    public var lastFirstAttempt: Int64? { service.post.lastFirstAttempt }

    /// The messages published and the attempts at pushing them, oldest first; what is older than Pub/Sub keeps
    /// anything, a week, is forgotten.
    public var letters: [PlayPost.Letter] { service.post.letters }

    /// Makes a customer known; refused with `customerExists` when the name is taken.
    public func register(_ customer: GooglePlayCustomer) throws(GooglePlayRefusal) {
        try service.change { machine throws(GooglePlayRefusal) in
            try machine.register(customer)
            return []
        }
    }

    /// Carries out an action now; what the store notifies of is published, and returned.
    @discardableResult
    public func perform(
        _ action: GooglePlayAction,
        by customer: String
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        try service.change { machine throws(GooglePlayRefusal) in
            try machine.perform(action, by: customer)
        }
    }

    /// Carries out what the developer asks for in the Play Console or by other means than the handler.
    @discardableResult
    public func write(
        _ write: GooglePlayWrite
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        try service.change { machine throws(GooglePlayRefusal) in try machine.write(write) }
    }

    /// Publishes the notification that an operator can ask for to see whether any arrive.
    @discardableResult
    public func requestTestNotification() throws(GooglePlayRefusal) -> GooglePlayNotification {
        let notification = service.machine.requestTestNotification()
        try service.change { _ in [notification] }
        return notification
    }

    /// The tokens of a customer's purchases, oldest first.
    public func tokens(of customer: String) -> [String] { service.machine.tokens(of: customer) }

    /// `purchases.subscriptionsv2` as it stands now; nil for a token of no subscription.
    public func subscription(token: String) -> JSONObject? {
        service.machine.subscription(token: token)
    }

    /// The newest order of a purchase; nil for a token of none.
    public func newestOrder(of token: String) -> String? {
        if let product = service.machine.product(token: token) { return product["orderId"]?.string }
        let items = service.machine.subscription(token: token)?["lineItems"]?.array
        return items?.last?["latestSuccessfulOrderId"]?.string
    }

    /// What the store held to be so at an instant up to `now`; of several purchases the best one.
    public func truth(of customer: String, at instant: Int64) -> GooglePlayTruth {
        service.machine.truth(of: customer, at: instant)
    }

    /// The same of each product of each purchase, in the order bought.
    public func holdings(of customer: String, at instant: Int64) -> [GooglePlayHolding] {
        service.machine.holdings(of: customer, at: instant)
    }
}

// MARK: - Time and the post

extension SimulatedGooglePlay {
    /// An attempt at pushing that is under way.
    public struct Attempt: Sendable {
        /// The letter's number, with which the attempt is ended.
        public let number: PlayPost.Number
        /// What is pushed.
        public let message: PlayMessage
        /// With the token, made now, in `Authorization`.
        public let headers: Headers
        /// What is posted.
        public let body: [UInt8]
        /// What went wrong on its way; nil when nothing did.
        public let fault: PlayWireFault?
    }

    /// Lets time pass up to the next attempt at pushing, or to the instant if none is due by then.
    ///
    /// - Returns: the attempt, which `end` is to end before time goes on; nil at the instant.
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

    /// Notes how an attempt ended: with the status answered, or nil where no answer came. Unless that
    /// acknowledges the message it is pushed again.
    public func end(_ attempt: Attempt, _ status: Int?) {
        service.post.ended(attempt.number, at: now, status)
    }

    /// Lets time pass up to an instant, and pushes on the way whatever falls due. The receiver is given
    /// each attempt, and says with which status it answered; what it throws counts as no answer.
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

// MARK: - What Google answers

extension SimulatedGooglePlay {
    /// Google as a back end asks it: the Play Developer API, Pub/Sub, the endpoint for tokens and the
    /// keys of pushes. Their paths do not meet, so that one handler serves for all their hosts.
    public nonisolated var google: Handler {
        { request in try await self.answer(request) }
    }

    private func answer(_ request: Request) async throws -> Response {
        let answer = service.answer(request)
        if answer.delay > 0 { try await wait(answer.delay) }
        guard let response = answer.response else { throw PlayNoAnswer() }
        return response
    }

    /// The calls whose path was recognised, oldest first; of very many the latest ten thousand at least.
    public var calls: [PlayCallRecord] { service.calls }

    /// The ids of the messages that wait to be pulled and acknowledged, oldest first.
    public var unacknowledged: [String] { service.queue.unacknowledged }

    /// Has calls go wrong from now on; of several rules the first that strikes decides.
    public func add(_ rule: PlayFaultRule) { service.faults.add(rule) }

    /// Has pushes go wrong from now on; of several rules the first that strikes decides.
    public func add(_ rule: PlayWireFaultRule) { service.wire.faults.add(rule) }

    /// Takes every rule for pushes back; one that waits to be overtaken is sent.
    public func clearWireFaults() { service.clearWireFaults() }

    /// Has Pub/Sub push otherwise from now on.
    public func setHabits(_ habits: PubSubHabits) { service.post.habits = habits }

    /// Takes every rule for calls back.
    public func clearFaults() { service.faults.clear() }

    /// Withdraws every access token given so far.
    public func withdrawTokens() { service.desk.withdrawTokens() }

    /// Signs pushes with a new key from now on; with `withdrawing` the old one is published no more.
    public func rotateKeys(withdrawing: Bool = false) {
        service.authority.rotate()
        if withdrawing { service.authority.withdrawOldKeys() }
    }
}
