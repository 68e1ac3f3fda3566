/// The store's queue of notifications, with their attempts and outcomes. Instants are in
/// milliseconds since 1970.
/// https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications
public struct AppStorePost: Codable, Sendable {
    /// A notification and its delivery attempts.
    public struct DeliveryRecord: Hashable, Codable, Sendable {
        /// The notification.
        public let notification: AppStoreNotification
        /// Every attempt made so far, oldest first; at most six.
        public fileprivate(set) var attempts: [Attempt] = []

        /// Whether an attempt succeeded.
        public var isDelivered: Bool { attempts.last?.result == .success }
    }

    /// One delivery attempt of a notification.
    public struct Attempt: Hashable, Codable, Sendable {
        /// The instant of the attempt.
        public let at: Int64
        /// The outcome.
        public let result: SendResult
    }

    /// Apple's `sendAttemptResult`.
    /// https://developer.apple.com/documentation/appstoreserverapi/sendattemptresult
    public enum SendResult: String, CaseIterable, Hashable, Codable, Sendable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case tlsIssue = "TLS_ISSUE"
        case circularRedirect = "CIRCULAR_REDIRECT"
        case noResponse = "NO_RESPONSE"
        case socketIssue = "SOCKET_ISSUE"
        case unsupportedCharset = "UNSUPPORTED_CHARSET"
        case invalidResponse = "INVALID_RESPONSE"
        case prematureClose = "PREMATURE_CLOSE"
        case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case other = "OTHER"

        /// Creates the result of a response's HTTP status: the store accepts 200 to 206.
        public init(status: Int) {
            self = (200...206).contains(status) ? .success : .unsuccessfulStatus
        }
    }

    /// The number of a delivery: deliveries are numbered from 0 in the order queued.
    public typealias Number = Int

    private struct Outstanding: Codable {
        let at: Int64
        let number: Number
    }

    /// Hours from each failed attempt to the next, in production. A sandbox tries once.
    private static let hoursBetweenAttempts: [Int64] = [1, 12, 24, 48, 72]

    /// The queued deliveries that were not yet dropped, oldest first.
    public private(set) var letters: [DeliveryRecord] = []
    /// The number of the oldest of them, equal to the number of dropped ones.
    private(set) var first: Number = 0
    /// Sorted by instant, then by number.
    private var outstanding: [Outstanding] = []
    private let waits: [Int64]
    private let lag: Int64

    /// Creates a queue that makes first attempts `lag` milliseconds after the signature.
    public init(environment: AppStoreEnvironment, lag: Int64 = 1000) {
        self.lag = lag
        switch environment {
        case .production: waits = AppStorePost.hoursBetweenAttempts.map { $0 * 3_600_000 }
        case .sandbox: waits = []
        }
    }

    /// Queues notifications, and returns the number of the first.
    @discardableResult
    public mutating func post(_ notifications: [AppStoreNotification]) -> Number {
        let first = end
        for notification in notifications {
            schedule(end, at: notification.signedDate + lag)
            letters.append(DeliveryRecord(notification: notification))
        }
        return first
    }

    /// The number of the next delivery.
    var end: Number { first + letters.count }

    /// Returns the delivery with a number; nil if it was dropped.
    func letter(_ number: Number) -> DeliveryRecord? {
        (first..<end).contains(number) ? letters[number - first] : nil
    }

    /// When the next attempt is due.
    public var nextAttempt: Int64? { outstanding.first?.at }

    /// When the last of the first attempts outstanding is due; retries do not count.
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

    /// Records how an attempt ended, and schedules the next one after a failure, if attempts
    /// remain.
    public mutating func ended(_ number: Number, at instant: Int64, _ result: SendResult) {
        letters[number - first].attempts.append(Attempt(at: instant, result: result))
        let made = letters[number - first].attempts.count
        guard result != .success, made <= waits.count else { return }
        schedule(number, at: instant + waits[made - 1])
    }

    /// Drops the oldest deliveries, up to the first that is wanted or will be sent again. None may
    /// be in progress.
    mutating func forget(whereNot isWanted: (DeliveryRecord) -> Bool) {
        let unwanted = letters.firstIndex(where: isWanted) ?? letters.count
        guard unwanted > 0 else { return }
        let next = outstanding.map(\.number).min() ?? end
        let forgotten = min(unwanted, next - first)
        letters.removeFirst(forgotten)
        first += forgotten
    }

    private mutating func schedule(_ number: Number, at instant: Int64) {
        let place = outstanding.firstIndex { $0.at > instant } ?? outstanding.endIndex
        outstanding.insert(Outstanding(at: instant, number: number), at: place)
    }
}

extension AppStorePost: DisturbedPost {
    mutating func ended(_ number: Number, at instant: Int64, delivered: Bool) {
        ended(number, at: instant, delivered ? .success : .noResponse)
    }

    mutating func postpone(_ number: Number, to instant: Int64) { schedule(number, at: instant) }
}
