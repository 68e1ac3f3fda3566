/// RevenueCat's queue of webhook deliveries and retries. Instants are in milliseconds since 1970.
/// https://www.revenuecat.com/docs/integrations/webhooks
public struct RelayPost: Sendable {
    /// An event and its delivery attempts.
    public struct DeliveryRecord: Hashable, Sendable {
        /// The event that is sent.
        public let event: RelayEvent
        /// The response's status of each attempt so far; nil without a response.
        public fileprivate(set) var statuses: [Int?] = []

        /// Whether it was accepted.
        public var isDelivered: Bool { statuses.contains(200) }
    }

    /// The delay after each failed attempt until the next one.
    public static let retries: [Int64] = [5, 10, 20, 40, 80].map { $0 * 60_000 }

    /// In the order of the events.
    public private(set) var letters: [DeliveryRecord] = []
    /// Sorted by instant, then in the order scheduled.
    private var outstanding: [(at: Int64, number: Int)] = []

    mutating func add(_ event: RelayEvent) {
        plan(letters.count, at: event.at)
        letters.append(DeliveryRecord(event: event))
    }

    var nextAttempt: Int64? { outstanding.first?.at }

    /// When the last of the first attempts outstanding is due; retries do not count.
    var lastFirstAttempt: Int64? {
        outstanding.last { letters[$0.number].statuses.isEmpty }?.at
    }

    /// Removes the next delivery from the queue, if it is due by the instant; `ended` returns it.
    mutating func take(dueBy instant: Int64) -> Int? {
        guard let next = outstanding.first, next.at <= instant else { return nil }
        outstanding.removeFirst()
        return next.number
    }

    /// Only 200 accepts an event. After any other outcome it is retried, five times at most.
    mutating func ended(_ number: Int, at instant: Int64, _ status: Int?) {
        letters[number].statuses.append(status)
        let tries = letters[number].statuses.count
        guard status != 200, tries <= Self.retries.count else { return }
        plan(number, at: instant + Self.retries[tries - 1])
    }

    private mutating func plan(_ number: Int, at instant: Int64) {
        let place = outstanding.firstIndex { $0.at > instant } ?? outstanding.endIndex
        outstanding.insert((instant, number), at: place)
    }
}
