import TideoverCore
import TideoverLocks
import TideoverStorage

/// The arrival times of notifications, by app, environment and store: the last one, and the latest
/// tests.
final class NotificationLog: Sendable {
    /// One app in one environment of one store.
    struct Place: Hashable, Sendable {
        let app: String
        let environment: Environment
        let store: Store
    }

    /// A test notification that arrived.
    struct Test: FormObject, Hashable, Sendable {
        /// The App Store's `notificationUUID`, or Pub/Sub's message id.
        let id: String
        let signedAt: Instant
        let arrivedAt: Instant

        static func form<Fields: FormFields>(
            _ fields: inout Fields,
            _ test: Self?
        ) throws(Fields.Failure) -> Self {
            Self(
                id: try fields.required("id", test?.id),
                signedAt: try fields.required("signedAt", test?.signedAt),
                arrivedAt: try fields.required("arrivedAt", test?.arrivedAt)
            )
        }
    }

    struct Page: Hashable, Sendable {
        var silence: MissingNotificationAlert
        /// Newest last.
        var tests: [Test] = []
        /// The latest push of Google that was not for this app.
        var misdirected: MisdirectedPush?
        /// Whether a notification may be missing since the last look for it.
        var hasMissed = false

        /// What is stored of the page.
        var stored: StoredArrivals {
            StoredArrivals(
                since: silence.since,
                lastArrivedAt: silence.lastArrivedAt,
                raisedAt: silence.raisedAt,
                tests: tests
            )
        }

        /// Adopts what another server stored; returns true if it ends an alarm.
        mutating func adopt(_ stored: StoredArrivals) -> Bool {
            let others = stored.tests.filter { !tests.contains($0) }
            if !others.isEmpty {
                let all = (tests + others).sorted { $0.arrivedAt < $1.arrivedAt }
                tests = all.suffix(NotificationLog.mostTests)
            }
            return silence.adopt(stored)
        }
    }

    private static let mostTests = 32
    private let pages: Locked<[Place: Page]>

    /// Creates an entry for each app, environment and store, from the stored state.
    ///
    /// - Throws: `StorageError`.
    init(
        of apps: [App],
        storage: any Storage,
        now: Instant,
        succeeding former: NotificationLog? = nil
    ) throws(StorageError) {
        var pages: [Place: Page] = [:]
        for app in apps {
            for environment in app.environments {
                let cursors = Cursors(app: app.id, environment: environment, storage: storage)
                for store in app.stores {
                    let place = Place(app: app.id, environment: environment, store: store)
                    if let page = former?.page(place) {
                        pages[place] = page
                        continue
                    }
                    let silence = try cursors.silence(of: store, startedAt: now)
                    pages[place] = Page(silence: silence)
                }
            }
        }
        self.pages = Locked(pages)
    }

    /// The places in the order of apps, environments and stores.
    var places: [Place] {
        pages.withLock {
            $0.keys.sorted {
                ($0.app, $0.environment.rawValue, $0.store.rawValue)
                    < ($1.app, $1.environment.rawValue, $1.store.rawValue)
            }
        }
    }

    func page(_ place: Place) -> Page? { pages.withLock { $0[place] } }

    /// Records an accepted notification, new or repeated; returns true if it ends an alarm.
    func heard(at now: Instant, in place: Place, test: Test? = nil) -> Bool {
        pages.withLock { pages in
            if let test {
                let tests = (pages[place]?.tests ?? []) + [test]
                pages[place]?.tests = tests.suffix(Self.mostTests)
            }
            return pages[place]?.silence.heard(at: now) ?? false
        }
    }

    /// Adopts what another server stored; returns true if it ends an alarm.
    func adopt(_ stored: StoredArrivals, in place: Place) -> Bool {
        pages.withLock { $0[place]?.adopt(stored) ?? false }
    }

    /// Records a push that Google signed for another audience or sender, or that had no token.
    func note(_ push: MisdirectedPush, in place: Place) {
        pages.withLock { $0[place]?.misdirected = push }
    }

    /// Records that a notification about an app could not be processed, so that the store is asked.
    func missed(of store: Store, in app: String) {
        pages.withLock { pages in
            for place in pages.keys where place.app == app && place.store == store {
                pages[place]?.hasMissed = true
            }
        }
    }

    /// Returns whether a notification may be missing, once.
    func takeMissed(in place: Place) -> Bool {
        pages.withLock { pages in
            defer { pages[place]?.hasMissed = false }
            return pages[place]?.hasMissed ?? false
        }
    }

    /// Records an alarm, unless a notification has arrived meanwhile.
    func raise(at now: Instant, in place: Place, unheardSince: Instant) -> Bool {
        pages.withLock { pages in
            guard let silence = pages[place]?.silence, silence.raisedAt == nil,
                silence.unheardSince == unheardSince
            else { return false }
            pages[place]?.silence.raisedAt = now
            return true
        }
    }
}

/// What the servers of an app store together about the notifications of one store.
struct StoredArrivals: FormObject, Hashable, Sendable {
    let since: Instant?
    let lastArrivedAt: Instant?
    let raisedAt: Instant?
    let tests: [NotificationLog.Test]

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ arrivals: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            since: try fields.optional("since", arrivals?.since),
            lastArrivedAt: try fields.optional("lastArrivedAt", arrivals?.lastArrivedAt),
            raisedAt: try fields.optional("raisedAt", arrivals?.raisedAt),
            tests: try fields.optional("tests", arrivals?.tests, else: [])
        )
    }
}

extension AppContext {
    /// Adopts what another server stored about a place, and returns it.
    @discardableResult
    func adoptArrivals(
        in place: NotificationLog.Place
    ) throws(StorageError) -> Stored<StoredArrivals> {
        let stored = try cursors(in: place.environment).arrivals(of: place.store)
        if let known = stored.value, arrivals.adopt(known, in: place) {
            place.logAlarmEnd(log)
        }
        return stored
    }

    /// Stores the arrivals of a place together with those of other servers.
    func keepArrivals(in place: NotificationLog.Place) async throws(StorageError) {
        let cursors = cursors(in: place.environment)
        while true {
            let stored = try adoptArrivals(in: place)
            guard let own = arrivals.page(place)?.stored, own != stored.value else { return }
            if try await cursors.replace(stored, by: own, of: place.store) { return }
        }
    }

    /// Records an arrival in a place; a test is stored at once, so that any server reports it.
    func noteArrival(
        _ arrivedAt: Instant,
        in place: NotificationLog.Place,
        test: NotificationLog.Test?
    ) async throws(StorageError) {
        if arrivals.heard(at: arrivedAt, in: place, test: test) { place.logAlarmEnd(log) }
        if test != nil { try await keepArrivals(in: place) }
    }
}

extension NotificationLog.Place {
    fileprivate func logAlarmEnd(_ log: Log) {
        log(
            LogLine(
                .info,
                "notifications arrive again",
                app: app,
                environment: environment,
                code: "silence",
                detail: store.name
            )
        )
    }
}
