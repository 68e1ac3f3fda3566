import TideoverCore
import TideoverStorage

/// Raises an alarm if a renewal is due and no notification of any kind has arrived for the
/// configured time. Nothing else reveals that the store's messages do not arrive. It then queries
/// the store once for each gap.
///
/// Its state is stored, so that each gap raises one alarm, however often the server restarts. The
/// servers of an app share it: a notification that one received ends the gap of all.
struct MissingNotificationWorker: Sendable {
    let context: AppContext
    let environment: Environment
    let store: Store
    /// The client that queries the store; nil if it cannot be queried.
    let backfiller: Backfiller?

    /// The interval of the checks, and the maximum age of the stored and the adopted state.
    static let interval = Duration.seconds(60)
    /// How long it does not read the lineages again after it found none due.
    private static let rest = Milliseconds.hours(1)

    private var app: App { context.app }
    private var notificationLog: NotificationLog { context.arrivals }
    private var place: NotificationLog.Place {
        .init(app: app.id, environment: environment, store: store)
    }

    /// The state between two checks.
    struct Memory: Hashable {
        /// The instant before which no known renewal can be overdue.
        var nextWalk = Instant.distantPast
        /// The start of the gap that `nextWalk` was computed for.
        var walkedSince: Instant?
    }

    var worker: Worker {
        Worker(.silences, app: app.id, environment: environment, store: store) { sleep in
            var memory = Memory()
            while true {
                try await look(&memory)
                do {
                    try await sleep(Self.interval)
                } catch {
                    // Stores the arrivals since the last check.
                    try await look(&memory)
                    throw error
                }
            }
        }
    }

    private func look(_ memory: inout Memory) async throws {
        try context.adoptArrivals(in: place)
        let raisedAt = try await judge(&memory)
        // Store before the query, so that a restarted server does not query for this gap again, nor
        // does another server.
        try await context.keepArrivals(in: place)
        guard let raisedAt, notificationLog.page(place)?.silence.raisedAt == raisedAt else {
            return
        }
        await askStore()
    }

    /// Returns when an alarm was raised; nil if none was raised now.
    private func judge(_ memory: inout Memory) async throws -> Instant? {
        let now = context.clock()
        guard app.silence > .zero, let silence = notificationLog.page(place)?.silence,
            silence.raisedAt == nil
        else { return nil }
        let unheardSince = silence.unheardSince
        if memory.walkedSince != unheardSince { memory.nextWalk = unheardSince + app.silence }
        memory.walkedSince = unheardSince
        guard now >= memory.nextWalk, now - unheardSince >= app.silence else { return nil }
        let due = try await firstRenewalDue(after: unheardSince)
        guard let due, due <= now - app.silence else {
            memory.nextWalk = min(due.map { $0 + app.silence } ?? .distantFuture, now + Self.rest)
            return nil
        }
        guard notificationLog.raise(at: now, in: place, unheardSince: unheardSince) else {
            return nil
        }
        context.log(
            .error,
            "no notifications arrive",
            in: environment,
            code: "silence",
            detail:
                "\(store.name): none since \(unheardSince.rfc3339), though a renewal fell due at "
                + "\(due.rfc3339); `tideover doctor` asks for a test notification"
        )
        return now
    }

    /// Queries the store for missing notifications, and logs the result.
    private func askStore() async {
        guard let backfiller, let report = await backfiller.runNext() else { return }
        let finding = MissingNotificationFinding(report)
        context.metrics.count(
            .silences,
            app.id,
            environment.rawValue,
            finding.word.rawValue
        )
        context.log(
            finding.word == .nothing ? .info : .warning,
            "asked the store about the silence",
            in: environment,
            code: finding.word.rawValue,
            detail: finding.sentence
        )
    }

    private func firstRenewalDue(after instant: Instant) async throws -> Instant? {
        let (storage, app, environment, store) = (context.storage, app.id, environment, store)
        return try await onQuietThread { read in
            var first: Instant?
            try storage.eachLineageRecord(in: AppScope(app, environment)) { lineageRecord in
                try read.goOn()
                guard lineageRecord.lineage.store == store,
                    let due = lineageRecord.renewalsDue(after: instant).min()
                else { return }
                first = min(first ?? due, due)
            }
            return first
        }
    }
}

extension Service {
    var silenceWorkers: [MissingNotificationWorker] {
        arrivals.places.compactMap { place in
            contexts[place.app].map { context in
                MissingNotificationWorker(
                    context: context,
                    environment: place.environment,
                    store: place.store,
                    backfiller: place.store == .appStore
                        ? clients.backfillers.first(place.app, place.environment) : nil
                )
            }
        }
    }
}

extension Store {
    /// The readable name.
    var name: String {
        switch self {
        case .appStore: "the App Store"
        case .googlePlay: "Google Play"
        case .revenueCat: "RevenueCat"
        case .tideover: "Tideover"
        }
    }
}
