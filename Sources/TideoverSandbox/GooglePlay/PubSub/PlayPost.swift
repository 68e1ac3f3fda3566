public import TideoverJSON

/// A subscription's queue of pushes, with their attempts and outcomes. Instants are in milliseconds
/// since 1970. https://cloud.google.com/pubsub/docs/handling-failures
public struct PlayPost: Codable, Sendable {
    /// A message and its delivery attempts.
    public struct DeliveryRecord: Hashable, Codable, Sendable {
        /// The message.
        public let message: PlayMessage
        /// Every attempt made so far, oldest first.
        public fileprivate(set) var attempts: [Attempt] = []

        /// Whether an attempt was acknowledged; another attempt may still follow.
        public var isDelivered: Bool { attempts.contains(where: \.isAcknowledged) }
    }

    /// One delivery attempt.
    public struct Attempt: Hashable, Codable, Sendable {
        /// The instant of the attempt.
        public let at: Int64
        /// The response's status; nil without a response.
        public let status: Int?

        /// Whether it counted as an acknowledgement.
        public var isAcknowledged: Bool { status.map(PlayPost.isAcknowledgement) ?? false }
    }

    /// Whether a status acknowledges a push. Not every success does.
    public static func isAcknowledgement(_ status: Int) -> Bool {
        [102, 200, 201, 202, 204].contains(status)
    }

    /// The number of a delivery: deliveries are numbered from 0 in the order published.
    public typealias Number = Int

    private struct Outstanding: Codable {
        let at: Int64
        let number: Number
    }

    /// The published deliveries that were not yet dropped, oldest first.
    public private(set) var letters: [DeliveryRecord] = []
    /// The number of the oldest of them, equal to the number of dropped ones.
    private(set) var first: Number = 0
    /// Sorted by instant, then in the order scheduled.
    private var outstanding: [Outstanding] = []
    /// How reliably it delivers from now on.
    public var habits: PubSubDeliveryFaults
    private var random: SeededRandom

    /// Creates an empty queue. The seed determines its ids and its delivery faults.
    public init(seed: UInt64, habits: PubSubDeliveryFaults = PubSubDeliveryFaults()) {
        self.habits = habits
        random = SeededRandom(seed: seed ^ 0x7075_6273_7562)
    }

    /// Queues an event for delivery: as one message, or sometimes as two. Returns the messages.
    @discardableResult
    public mutating func publish(
        _ notification: JSONObject,
        about customer: String?,
        at now: Int64
    ) -> [PlayMessage] {
        let count = random.number(in: 1...100) <= habits.republished ? 2 : 1
        let data = JSONValue.object(notification).encoded()
        return (0..<count).map { _ in
            let message = PlayMessage(
                id: random.drawDigits(17),
                publishedAt: now,
                data: data,
                customer: customer
            )
            let wait = habits.lag + random.number(in: 0...habits.scatter)
            if !isLost() { plan(first + letters.count, at: now + wait) }
            letters.append(DeliveryRecord(message: message))
            return message
        }
    }

    private mutating func isLost() -> Bool {
        habits.lost > 0 && random.number(in: 1...100) <= habits.lost
    }

    /// When the next attempt is due.
    public var nextAttempt: Int64? { outstanding.first?.at }

    /// When the last of the outstanding first attempts is due; retries do not count.
    public var lastFirstAttempt: Int64? {
        outstanding.last { letters[$0.number - first].attempts.isEmpty }?.at
    }

    /// Removes the delivery with the next attempt from the queue, if it is due by the instant.
    /// Every removed delivery must be returned with `ended`.
    public mutating func take(dueBy instant: Int64) -> (number: Number, letter: DeliveryRecord)? {
        guard let next = outstanding.first, next.at <= instant else { return nil }
        outstanding.removeFirst()
        return (next.number, letters[next.number - first])
    }

    /// Records how an attempt ended, and schedules the next one if it is needed. `status` is that
    /// of the response; nil without a response.
    public mutating func ended(_ number: Number, at instant: Int64, _ status: Int?) {
        let place = number - first
        let wasDelivered = letters[place].isDelivered
        letters[place].attempts.append(Attempt(at: instant, status: status))
        if letters[place].isDelivered {
            guard !wasDelivered, random.number(in: 1...100) <= habits.redelivered else { return }
            plan(number, at: instant + habits.shortestWait)
            return
        }
        let next = instant + wait(after: letters[place].attempts.count)
        guard next <= letters[place].message.publishedAt + habits.retention else { return }
        plan(number, at: next)
    }

    /// Drops the oldest deliveries that are past Pub/Sub's retention and will not be pushed again.
    /// None may be in progress. Those from the number `held` on are kept, because a fault delays
    /// them.
    mutating func forget(at now: Int64, keeping held: Number?) {
        let isKept = { [habits] (letter: DeliveryRecord) in
            now <= letter.message.publishedAt + habits.retention
        }
        let unwanted = letters.firstIndex(where: isKept) ?? letters.count
        guard unwanted > 0 else { return }
        let coming = outstanding.map(\.number) + [held].compactMap(\.self)
        let next = coming.min() ?? first + letters.count
        let forgotten = min(unwanted, next - first)
        letters.removeFirst(forgotten)
        first += forgotten
    }

    /// Returns the wait after this number of failed attempts.
    private func wait(after attempts: Int) -> Int64 {
        var wait = habits.shortestWait
        for _ in 1..<attempts where wait < habits.longestWait { wait *= 2 }
        return min(wait, habits.longestWait)
    }

    fileprivate mutating func plan(_ number: Number, at instant: Int64) {
        let place = outstanding.firstIndex { $0.at > instant } ?? outstanding.endIndex
        outstanding.insert(Outstanding(at: instant, number: number), at: place)
    }
}

extension PlayPost: DisturbedPost {
    mutating func ended(_ number: Number, at instant: Int64, delivered: Bool) {
        ended(number, at: instant, delivered ? 200 : nil)
    }

    mutating func postpone(_ number: Number, to instant: Int64) { plan(number, at: instant) }
}
