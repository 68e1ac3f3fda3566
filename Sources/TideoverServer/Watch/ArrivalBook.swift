import TideoverCore
import TideoverLocks
import TideoverStorage

/// When notifications arrived, by app, environment and store: the last of any kind, and the latest tests.
final class ArrivalBook: Sendable {
    /// Names one app in one environment of one store.
    struct Place: Hashable, Sendable {
        let app: String
        let environment: Environment
        let store: Store
    }

    /// A test notification that arrived.
    struct Test: Hashable, Sendable {
        /// The App Store's `notificationUUID`, or Pub/Sub's id of the message.
        let id: String
        let signedAt: Instant
        let arrivedAt: Instant
    }

    struct Page: Hashable, Sendable {
        var silence: Silence
        /// Newest last.
        var tests: [Test] = []
        /// The latest push of Google's that was not ours.
        var misdirected: MisdirectedPush?
    }

    private static let mostTests = 32
    private let pages: Locked<[Place: Page]>

    /// Every environment of every app in each store that it sells on, with what was kept of it.
    ///
    /// - Throws: `StorageError`.
    init(
        of apps: [App],
        storage: any Storage,
        now: Instant,
        succeeding former: ArrivalBook? = nil
    ) throws(StorageError) {
        var pages: [Place: Page] = [:]
        for app in apps {
            for environment in app.environments {
                let bookmarks = Bookmarks(app: app.id, environment: environment, storage: storage)
                for store in app.stores {
                    let place = Place(app: app.id, environment: environment, store: store)
                    if let page = former?.page(place) {
                        pages[place] = page
                        continue
                    }
                    let silence = try bookmarks.silence(of: store, startedAt: now)
                    pages[place] = Page(silence: silence)
                }
            }
        }
        self.pages = Locked(pages)
    }

    /// In the order of apps, environments and stores.
    var places: [Place] {
        pages.withLock {
            $0.keys.sorted {
                ($0.app, $0.environment.rawValue, $0.store.rawValue)
                    < ($1.app, $1.environment.rawValue, $1.store.rawValue)
            }
        }
    }

    func page(_ place: Place) -> Page? { pages.withLock { $0[place] } }

    /// Notes that a notification arrived and was believed, a repeated one too; true if that ends a silence
    /// that was raised.
    func heard(at now: Instant, in place: Place, test: Test? = nil) -> Bool {
        pages.withLock { pages in
            if let test {
                let tests = (pages[place]?.tests ?? []) + [test]
                pages[place]?.tests = tests.suffix(Self.mostTests)
            }
            return pages[place]?.silence.heard(at: now) ?? false
        }
    }

    /// Notes a push that Google signed for somebody else, or that bore no token at all.
    func note(_ push: MisdirectedPush, in place: Place) {
        pages.withLock { $0[place]?.misdirected = push }
    }

    /// Notes that a silence was raised, unless something has arrived meanwhile.
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
