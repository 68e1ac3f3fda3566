public import TideoverJSON

/// What a subscription pushes, when it tries and how each attempt ended. Instants are milliseconds since
/// 1970. https://cloud.google.com/pubsub/docs/handling-failures
public struct PlayPost: Codable, Sendable {
    /// A message and the attempts at delivering it.
    public struct Letter: Hashable, Codable, Sendable {
        /// What is delivered.
        public let message: PlayMessage
        /// Every attempt made so far, oldest first.
        public fileprivate(set) var attempts: [Attempt] = []

        /// Whether an attempt was acknowledged; even so another may follow.
        public var isDelivered: Bool { attempts.contains(where: \.isAcknowledged) }
    }

    /// One attempt at delivering a message.
    public struct Attempt: Hashable, Codable, Sendable {
        /// When it was made.
        public let at: Int64
        /// The status answered; nil when no answer came.
        public let status: Int?

        /// Whether it was taken for an acknowledgement.
        public var isAcknowledged: Bool { status.map(PlayPost.isAcknowledgement) ?? false }
    }

    /// Whether a status acknowledges a push. Not every success does.
    public static func isAcknowledgement(_ status: Int) -> Bool {
        [102, 200, 201, 202, 204].contains(status)
    }

    /// A letter's number: letters are numbered from 0 in the order published.
    public typealias Number = Int

    private struct Outstanding: Codable {
        let at: Int64
        let number: Number
    }

    /// The letters published and not yet forgotten, oldest first.
    public private(set) var letters: [Letter] = []
    /// The number of the oldest of them: as many were forgotten.
    private(set) var first: Number = 0
    /// Sorted by instant, then in the order planned.
    private var outstanding: [Outstanding] = []
    /// How well it delivers what is published, and answered, from now on.
    public var habits: PubSubHabits
    private var random: SeededRandom

    /// A post without letters, whose ids and whims follow from the seed.
    public init(seed: UInt64, habits: PubSubHabits = PubSubHabits()) {
        self.habits = habits
        random = SeededRandom(seed: seed ^ 0x7075_6273_7562)
    }

    /// Takes an event in for delivery: as one message, or now and then as two. Returns them.
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
            letters.append(Letter(message: message))
            return message
        }
    }

    private mutating func isLost() -> Bool {
        habits.lost > 0 && random.number(in: 1...100) <= habits.lost
    }

    /// When the next attempt is due.
    public var nextAttempt: Int64? { outstanding.first?.at }

    /// When the last of the first attempts outstanding is due; retries do not count.
    public var lastFirstAttempt: Int64? {
        outstanding.last { letters[$0.number - first].attempts.isEmpty }?.at
    }

    /// Takes the letter out whose attempt is due next, if it is due by the instant. Every letter taken
    /// is to be brought back by `ended`.
    public mutating func take(dueBy instant: Int64) -> (number: Number, letter: Letter)? {
        guard let next = outstanding.first, next.at <= instant else { return nil }
        outstanding.removeFirst()
        return (next.number, letters[next.number - first])
    }

    /// Notes how an attempt ended, and plans the next where there is to be one. `status` is the one
    /// answered; nil when no answer came.
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

    /// Forgets the oldest letters that nothing becomes of any more: what Pub/Sub has kept for as long as it
    /// keeps anything, and is not to be pushed again. None may be under way, nor any that somebody holds
    /// back, the oldest of which is told.
    mutating func forget(at now: Int64, keeping held: Number?) {
        let isKept = { [habits] (letter: Letter) in
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

    /// How long to wait after so many attempts that failed.
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
