import TideoverCore
import TideoverStorage

/// Finds answers that were derived later than now, because a clock was ahead and was corrected.
///
/// The index of due answers does not show them: they fall due only after that later instant. So
/// every customer is examined, page by page. This needs a reason: this server's clock was set back,
/// or at the start an app's latest event is dated later than now.
struct AheadAnswers: Sendable {
    private static let pageLength = 500

    /// The customers of an app in an environment.
    private struct Place: Sendable {
        let context: AppContext
        let environment: Environment
        /// The last examined id.
        var last: String?

        var scope: AppScope { AppScope(context.app.id, environment) }
    }

    /// Some customers of one place, with those of them that must be derived again.
    struct Page: Sendable {
        let context: AppContext
        let environment: Environment
        let customers: [CustomerKey]
        /// The last id of the page; nil if no customer follows.
        fileprivate let last: String?
    }

    private var isStarted = false
    /// The latest instant of this server's clock since it was set back.
    private var latest = Instant.distantPast
    /// The places with customers that were not examined yet, the next one last.
    private var places: [Place] = []

    /// Looks for a reason to examine the customers.
    mutating func look(at now: Instant, in contexts: [AppContext]) throws(StorageError) {
        if latest.isAhead(of: now) {
            places = contexts.flatMap(Self.places)
            (isStarted, latest) = (true, now)
        }
        latest = max(latest, now)
        guard !isStarted else { return }
        var found: [Place] = []
        for context in contexts {
            let event = try context.storage.latestEvents(app: context.app.id, limit: 1).last
            guard let event, event.id > .earliest(at: now + .clockTolerance) else { continue }
            found += Self.places(of: context)
        }
        (isStarted, places) = (true, found)
    }

    private static func places(of context: AppContext) -> [Place] {
        context.app.environments.map { Place(context: context, environment: $0) }
    }

    /// Returns the next page; nil if there is nothing to examine.
    func page(at now: Instant) throws(StorageError) -> Page? {
        guard let place = places.last else { return nil }
        let page = try place.context.storage.customers(
            in: place.scope,
            prefix: "",
            after: place.last,
            limit: Self.pageLength
        )
        let ahead = page.filter { $0.derivedAt?.isAhead(of: now) ?? false }
        return Page(
            context: place.context,
            environment: place.environment,
            customers: ahead.map { place.scope.key($0.customer) },
            last: page.count < Self.pageLength ? nil : page.last?.id.text
        )
    }

    /// Goes on after a page.
    mutating func finish(_ page: Page) {
        if let last = page.last {
            places[places.count - 1].last = last
        } else {
            places.removeLast()
        }
    }
}

extension Instant {
    /// Whether an answer derived at this instant is from a clock that was ahead. The clocks of
    /// several servers may differ by the tolerance.
    func isAhead(of now: Instant) -> Bool { self > now + .clockTolerance }
}
