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
    struct Test: Hashable, Sendable {
        /// The App Store's `notificationUUID`, or Pub/Sub's message id.
        let id: String
        let signedAt: Instant
        let arrivedAt: Instant
    }

    struct Page: Hashable, Sendable {
        var silence: MissingNotificationAlert
        /// Newest last.
        var tests: [Test] = []
        /// The latest push of Google that was not for this app.
        var misdirected: MisdirectedPush?
        /// Whether a notification may be missing since the last look for it.
        var hasMissed = false
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
