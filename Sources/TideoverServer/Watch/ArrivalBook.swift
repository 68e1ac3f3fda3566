import TideoverCore
import TideoverLocks
import TideoverStorage

/// When notifications arrived, by app and environment: the last of any kind, and the latest tests.
final class ArrivalBook: Sendable {
    /// Names one app in one environment.
    struct Place: Hashable, Sendable {
        let app: String
        let environment: Environment
    }

    /// A test notification that arrived.
    struct Test: Hashable, Sendable {
        let notificationUUID: String
        let signedAt: Instant
        let arrivedAt: Instant
    }

    struct Page: Hashable, Sendable {
        var silence: Silence
        /// Newest last.
        var tests: [Test] = []
    }

    private static let mostTests = 32
    private let pages: Locked<[Place: Page]>

    /// Every environment of every app that sells on the App Store, with what was kept of it.
    ///
    /// - Throws: `StorageError`.
    init(
        of apps: [App],
        storage: any Storage,
        now: Instant
    ) throws(StorageError) {
        var pages: [Place: Page] = [:]
        for app in apps where app.appStore != nil {
            for environment in app.environments {
                let bookmarks = Bookmarks(app: app.id, environment: environment, storage: storage)
                let silence = try bookmarks.silence(startedAt: now)
                pages[Place(app: app.id, environment: environment)] = Page(silence: silence)
            }
        }
        self.pages = Locked(pages)
    }

    /// In the order of apps and environments.
    var places: [Place] {
        pages.withLock {
            $0.keys.sorted { ($0.app, $0.environment.rawValue) < ($1.app, $1.environment.rawValue) }
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
