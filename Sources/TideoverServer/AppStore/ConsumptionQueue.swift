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
        let json = JSONWriter.object { _ = Self.form(&$0, self, in: lineage.environment) }
        return String(decoding: json, as: UTF8.self)
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
/// Each request has a numbered place with its own bookmark, so that restarts lose none. Several
/// servers share the places: a place is written only while it has the content that was read. A
/// settled request keeps its place until its deadline, because the notification can arrive again,
/// unless another request needs the place.
final class ConsumptionQueue: Sendable {
    /// The maximum number of waiting requests; further ones must be answered by hand.
    static let places = 128
    /// How often requests that another server added are read.
    private static let reading = Milliseconds.minutes(1)
    private static let prefix = "consumption:"

    private struct Place {
        let stored: Stored<String>
        let request: ConsumptionRequest?

        func holds(_ other: ConsumptionRequest) -> Bool { request?.isSame(as: other) ?? false }
    }

    /// The places as last read or written.
    private struct Memory {
        var places: [Place] = []
        var readAt = Instant.distantPast

        var requests: [ConsumptionRequest] { places.compactMap(\.request) }

        func place(of request: ConsumptionRequest) -> Int? {
            places.firstIndex { $0.holds(request) }
        }

        /// A place without a request, else that of the earliest settled one; nil if there is none.
        var free: Int? {
            places.firstIndex { $0.request == nil } ?? oldestSettled
        }

        private var oldestSettled: Int? {
            places.enumerated().compactMap { number, place in
                place.request.flatMap {
                    $0.state == .settled ? (number, $0.requestedAt) : nil
                }
            }.min { $0.1 < $1.1 }?.0
        }
    }

    let environment: Environment
    private let cursors: Cursors
    private let memory = Locked(Memory())

    /// - Throws: `StorageError` if the waiting requests cannot be read.
    init(
        app: String,
        _ environment: Environment,
        storage: any Storage
    ) throws(StorageError) {
        self.environment = environment
        cursors = Cursors(app: app, environment: environment, storage: storage)
        try read()
    }

    private static func name(_ place: Int) -> String { "\(prefix)\(place)" }

    private func read() throws(StorageError) {
        let stored = try cursors.stored(prefix: Self.prefix)
        let places = (0..<Self.places).map { number in
            let stored = stored[Self.name(number)] ?? Stored()
            return Place(
                stored: stored,
                request: stored.value.flatMap { ConsumptionRequest($0, in: environment) }
            )
        }
        memory.withLock { $0.places = places }
    }

    /// Adds a request unless it is known; false if every place is taken by one without an answer.
    func add(_ request: ConsumptionRequest) async throws(StorageError) -> Bool {
        // Each failed attempt is a success of another writer.
        for _ in 0..<Self.places {
            try read()
            let memory = memory.withLock { $0 }
            guard memory.place(of: request) == nil else { return true }
            guard let free = memory.free else { return false }
            if try await put(request, in: free, replacing: memory.places[free]) { return true }
        }
        return false
    }

    /// Returns the requests with a due action, including expired ones.
    func due(at now: Instant) throws(StorageError) -> [ConsumptionRequest] {
        let isOld = memory.withLock { memory in
            let next = memory.readAt + Self.reading
            let isOld = now < memory.readAt || now >= next
            if isOld { memory.readAt = now }
            return isOld || memory.requests.contains { $0.dueAt <= now }
        }
        if isOld { try read() }
        return memory.withLock { $0.requests.filter { $0.dueAt <= now } }
    }

    /// The requests without an answer, as last read.
    var waiting: [ConsumptionRequest] {
        memory.withLock { $0.requests.filter { $0.state == .waiting } }
    }

    /// When the next action is due; nil if there is none.
    var nextAt: Instant? {
        memory.withLock { $0.requests.map(\.dueAt).min() }
    }

    /// Replaces a request by its new state; nil removes it. Returns false if another writer changed
    /// it since it was read.
    func replace(
        _ request: ConsumptionRequest,
        by next: ConsumptionRequest?
    ) async throws(StorageError) -> Bool {
        let memory = memory.withLock { $0 }
        guard let number = memory.place(of: request), memory.places[number].request == request
        else { return false }
        return try await put(next, in: number, replacing: memory.places[number])
    }

    /// Settles a request, whatever another server did with it.
    func settle(_ request: ConsumptionRequest) async throws(StorageError) {
        while true {
            let memory = memory.withLock { $0 }
            guard let place = memory.place(of: request),
                var settled = memory.places[place].request, settled.state == .waiting
            else { return }
            settled.state = .settled
            if try await put(settled, in: place, replacing: memory.places[place]) { return }
            try read()
        }
    }

    /// Settles the requests of a transaction that was answered by hand.
    func settle(_ transactionId: String) async throws(StorageError) {
        try read()
        let waiting = memory.withLock { memory in
            memory.requests.filter { $0.transactionId == transactionId && $0.state == .waiting }
        }
        for request in waiting { try await settle(request) }
    }

    private func put(
        _ request: ConsumptionRequest?,
        in number: Int,
        replacing place: Place
    ) async throws(StorageError) -> Bool {
        let text = request?.text ?? ""
        let name = Self.name(number)
        guard let stored = try await cursors.replace(place.stored, by: text, name) else {
            return false
        }
        memory.withLock { $0.places[number] = Place(stored: stored, request: request) }
        return true
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
