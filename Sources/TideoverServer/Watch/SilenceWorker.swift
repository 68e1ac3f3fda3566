import TideoverCore
import TideoverStorage

/// Raises an alarm when a renewal fell due and for so long no notification of any kind has arrived:
/// nothing else tells that the store's messages go astray. Then the store is asked, once for each silence,
/// for what did not arrive.
///
/// What it knows is kept in the storage, so that a silence is raised once, however often the server is
/// started.
struct SilenceWorker: Sendable {
    let app: App
    let environment: Environment
    let store: Store
    let book: ArrivalBook
    let storage: any Storage
    let clock: Clock
    let log: Log
    /// Who asks the store; nil where it cannot be asked.
    let backfiller: Backfiller?

    /// How often it looks; what it keeps is at most so old.
    static let interval = Duration.seconds(60)
    /// How long it does not look through the lineages again after it found none that is due.
    private static let rest = Milliseconds.hours(1)

    private var place: ArrivalBook.Place {
        .init(app: app.id, environment: environment, store: store)
    }
    private var bookmarks: Bookmarks {
        Bookmarks(app: app.id, environment: environment, storage: storage)
    }

    /// What one look leaves for the next.
    struct Memory: Hashable {
        /// What was kept last.
        var kept: Silence?
        /// Before this instant no renewal that is owed can be overdue.
        var nextWalk = Instant.distantPast
        /// What that was found under.
        var walkedSince: Instant?
    }

    /// Works until cancelled, which `sleep` tells by throwing.
    func run(sleep: Sleep) async {
        var memory = Memory()
        while !Task.isCancelled {
            await look(&memory)
            do { try await sleep(Self.interval) } catch { break }
        }
        // What arrived since the last look is kept too.
        await look(&memory)
    }

    private func look(_ memory: inout Memory) async {
        do {
            let isRaised = try await judge(&memory)
            // Before the store is asked: a server that ends meanwhile does not ask for this silence again.
            try await keep(&memory)
            if isRaised { await askStore() }
        } catch {
            let detail =
                (error as? StorageError)?.description ?? String(reflecting: type(of: error))
            log(
                LogLine(
                    .error,
                    "silence not judged",
                    app: app.id,
                    environment: environment,
                    code: "storage",
                    detail: detail
                )
            )
        }
    }

    /// Whether a silence was raised now.
    private func judge(_ memory: inout Memory) async throws -> Bool {
        let now = clock()
        guard app.silence > .zero, let silence = book.page(place)?.silence,
            silence.raisedAt == nil
        else { return false }
        let unheardSince = silence.unheardSince
        if memory.walkedSince != unheardSince { memory.nextWalk = unheardSince + app.silence }
        memory.walkedSince = unheardSince
        guard now >= memory.nextWalk, now - unheardSince >= app.silence else { return false }
        let due = try await firstRenewalDue(after: unheardSince)
        guard let due, due <= now - app.silence else {
            memory.nextWalk = min(due.map { $0 + app.silence } ?? .distantFuture, now + Self.rest)
            return false
        }
        guard book.raise(at: now, in: place, unheardSince: unheardSince) else { return false }
        log(
            LogLine(
                .error,
                "no notifications arrive",
                app: app.id,
                environment: environment,
                code: "silence",
                detail:
                    "\(store.name): none since \(unheardSince.rfc3339), though a renewal fell due at "
                    + "\(due.rfc3339); `tideover doctor` asks for a test notification"
            )
        )
        return true
    }

    /// Asks the store for what did not arrive, and tells what that found.
    private func askStore() async {
        guard let backfiller, let report = await backfiller.runNext() else { return }
        let finding = SilenceFinding(report)
        backfiller.ingest.metrics.count(
            .silences,
            app.id,
            environment.rawValue,
            finding.word.rawValue
        )
        log(
            LogLine(
                finding.word == .nothing ? .info : .warning,
                "asked the store about the silence",
                app: app.id,
                environment: environment,
                code: finding.word.rawValue,
                detail: finding.sentence
            )
        )
    }

    private func firstRenewalDue(after instant: Instant) async throws -> Instant? {
        let (storage, app, environment, store) = (storage, app.id, environment, store)
        return try await onQuietThread { read in
            var first: Instant?
            try storage.eachHolding(app: app, environment: environment) { holding in
                try read.goOn()
                guard holding.lineage.store == store,
                    let due = holding.renewalsDue(after: instant).min()
                else { return }
                first = min(first ?? due, due)
            }
            return first
        }
    }

    private func keep(_ memory: inout Memory) async throws {
        guard let silence = book.page(place)?.silence, silence != memory.kept else { return }
        try await bookmarks.keep(silence, of: store)
        memory.kept = silence
    }
}

extension ArrivalBook {
    /// Notes an arrival, and tells where it ends a silence that was raised.
    func note(_ arrival: Instant, in place: Place, test: Test?, telling log: Log) {
        guard heard(at: arrival, in: place, test: test) else { return }
        log(
            LogLine(
                .info,
                "notifications arrive again",
                app: place.app,
                environment: place.environment,
                code: "silence",
                detail: place.store.name
            )
        )
    }
}

extension Store {
    /// For people.
    var name: String {
        switch self {
        case .appStore: "the App Store"
        case .googlePlay: "Google Play"
        case .revenueCat: "RevenueCat"
        case .tideover: "Tideover"
        }
    }
}
