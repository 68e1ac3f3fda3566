import TideoverConfiguration
import TideoverCore
import TideoverJSON
import TideoverLocks
import TideoverStorage

/// A request of the App Store for consumption information, before it decides on a refund.
struct ConsumptionRequest: Hashable, Sendable {
    /// The time within which the store accepts an answer.
    static let window = Milliseconds.hours(12)
    /// How long before its deadline an unanswered request raises an alarm.
    static let alarm = Milliseconds.hours(2)

    let transactionId: String
    let lineage: Lineage
    let requestedAt: Instant
    var attempts = 0
    var nextAt: Instant
    var state = State.waiting
    /// Whether the alarm was raised.
    var isRaised = false

    enum State: String, FormWord, Hashable, Sendable { case waiting, settled }

    init(transactionId: String, lineage: Lineage, requestedAt: Instant, now: Instant) {
        self.transactionId = transactionId
        self.lineage = lineage
        self.requestedAt = requestedAt
        nextAt = now
    }

    var deadline: Instant { requestedAt + Self.window }

    func isSame(as other: ConsumptionRequest) -> Bool {
        transactionId == other.transactionId && requestedAt == other.requestedAt
    }

    /// When the next action is due.
    var dueAt: Instant {
        guard state == .waiting else { return deadline }
        let alarm = isRaised ? deadline : deadline + Milliseconds(-Self.alarm.count)
        return min(nextAt, alarm, deadline)
    }

    /// Schedules another attempt after a minute; the delay doubles up to half an hour.
    mutating func putOff(from now: Instant) {
        attempts += 1
        nextAt = now + Milliseconds.minutes(min(30, 1 << min(attempts - 1, 5)))
    }
}

extension ConsumptionRequest {
    /// Decodes the form in `text`; nil for any other text.
    init?(_ text: String, in environment: Environment) {
        guard let document = try? JSONDocument(Array(text.utf8), limits: .local) else {
            return nil
        }
        var fields = FormReader(document.root)
        guard let request = try? Self.form(&fields, nil, in: environment) else { return nil }
        self = request
    }

    var text: String {
        var writer = JSONWriter()
        writer.object { _ = Self.form(&$0, self, in: lineage.environment) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ request: Self?,
        in environment: Environment
    ) throws(Fields.Failure) -> Self {
        let id = try fields.required("transaction", request?.transactionId)
        let original = try fields.required("original", request?.lineage.id)
        var form = Self(
            transactionId: id,
            lineage: Lineage(store: .appStore, environment: environment, id: original),
            requestedAt: try fields.required("requestedAt", request?.requestedAt),
            now: try fields.required("nextAt", request?.nextAt)
        )
        form.state = try fields.required("state", request?.state)
        form.attempts = try fields.optional("attempts", request?.attempts) ?? 0
        form.isRaised = try fields.optional("raised", request?.isRaised) ?? false
        return form
    }
}

/// The App Store's open requests about one app in one environment.
///
/// Each request has a numbered place with its own bookmark, so that restarts lose none and writes
/// never conflict. A settled request keeps its place until its deadline, because the notification
/// can arrive again, unless another request needs the place.
final class ConsumptionQueue: Sendable {
    /// The maximum number of waiting requests; further ones must be answered by hand.
    static let places = 128

    let environment: Environment
    private let cursors: Cursors
    private let requests: Locked<[ConsumptionRequest?]>

    /// - Throws: `StorageError` if the waiting requests cannot be read.
    init(
        app: String,
        _ environment: Environment,
        storage: any Storage
    ) throws(StorageError) {
        self.environment = environment
        cursors = Cursors(app: app, environment: environment, storage: storage)
        var requests: [ConsumptionRequest?] = []
        for place in 0..<Self.places {
            let text = try cursors.text(Self.name(place))
            requests.append(text.flatMap { ConsumptionRequest($0, in: environment) })
        }
        self.requests = Locked(requests)
    }

    private static func name(_ place: Int) -> String { "consumption:\(place)" }

    /// Returns the place of the earliest settled request; nil if none is settled.
    private static func oldestSettled(_ requests: [ConsumptionRequest?]) -> Int? {
        requests.enumerated().compactMap { place, request in
            request.flatMap { $0.state == .settled ? (place, $0.requestedAt) : nil }
        }.min { $0.1 < $1.1 }?.0
    }

    /// Adds a request unless it is known; false if every place is taken by one without an answer.
    func add(_ request: ConsumptionRequest) async throws(StorageError) -> Bool {
        let place = requests.withLock { requests -> Int? in
            if let known = requests.firstIndex(where: { $0?.isSame(as: request) ?? false }) {
                return known
            }
            guard let free = requests.firstIndex(of: nil) ?? Self.oldestSettled(requests) else {
                return nil
            }
            requests[free] = request
            return free
        }
        guard let place else { return false }
        try await store(place)
        return true
    }

    /// Returns the requests with a due action, including expired ones.
    func due(at now: Instant) -> [ConsumptionRequest] {
        requests.withLock { $0.compactMap(\.self).filter { $0.dueAt <= now } }
    }

    /// The requests without an answer.
    var waiting: [ConsumptionRequest] {
        requests.withLock { $0.compactMap(\.self).filter { $0.state == .waiting } }
    }

    /// When the next action is due; nil if there is none.
    var nextAt: Instant? {
        requests.withLock { $0.compactMap { $0?.dueAt }.min() }
    }

    /// Replaces a request by its new state; nil removes it.
    func replace(
        _ request: ConsumptionRequest,
        by next: ConsumptionRequest?
    ) async throws(StorageError) {
        let place = requests.withLock { requests -> Int? in
            let place = requests.firstIndex { $0?.isSame(as: request) ?? false }
            if let place { requests[place] = next }
            return place
        }
        if let place { try await store(place) }
    }

    /// Settles the requests of a transaction that was answered by hand.
    func settle(_ transactionId: String) async throws(StorageError) {
        let waiting = requests.withLock { requests in
            requests.compactMap(\.self).filter {
                $0.transactionId == transactionId && $0.state == .waiting
            }
        }
        for request in waiting {
            var settled = request
            settled.state = .settled
            try await replace(request, by: settled)
        }
    }

    private func store(_ place: Int) async throws(StorageError) {
        let text = requests.withLock { $0[place]?.text ?? "" }
        try await cursors.keep(text, Self.name(place))
    }
}

/// The queues of all apps and environments with automatic answers.
struct ConsumptionQueues: Sendable {
    private struct Place: Hashable {
        let app: String
        let environment: Environment
    }

    private let queues: [Place: ConsumptionQueue]

    /// - Throws: `StorageError` if the waiting requests cannot be read.
    init(
        of apps: [App],
        storage: any Storage,
        succeeding former: ConsumptionQueues? = nil
    ) throws(StorageError) {
        var queues: [Place: ConsumptionQueue] = [:]
        for app in apps where app.appStore != nil && app.consumption.customersConsent {
            for environment in app.environments {
                let place = Place(app: app.id, environment: environment)
                if let known = former?.queues[place] {
                    queues[place] = known
                } else {
                    queues[place] = try ConsumptionQueue(
                        app: app.id,
                        environment,
                        storage: storage
                    )
                }
            }
        }
        self.queues = queues
    }

    subscript(_ app: String, _ environment: Environment) -> ConsumptionQueue? {
        queues[Place(app: app, environment: environment)]
    }
}
