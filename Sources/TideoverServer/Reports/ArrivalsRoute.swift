import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Answers `GET /v1/apps/{app}/arrivals`: when the last notification and each test notification
/// arrived.
struct ArrivalsRoute {
    let context: AppContext

    func respond(to request: Request) throws -> Response {
        let app = context.app
        let environment = try app.environment(askedIn: request)
        let store = try app.store(askedIn: request)
        let place = NotificationLog.Place(app: app.id, environment: environment, store: store)
        try context.adoptArrivals(in: place)
        guard let page = context.arrivals.page(place) else {
            throw Problem.notConfigured(store, app.id)
        }
        return .json(
            bytes: answer(place, page, at: context.clock()),
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private func answer(
        _ place: NotificationLog.Place,
        _ page: NotificationLog.Page,
        at now: Instant
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.field("app", place.app)
            writer.field("environment", place.environment.rawValue)
            writer.field("store", place.store.rawValue)
            writer.field("asOf", now.rfc3339)
            writer.field("since", page.silence.since.rfc3339)
            writer.field("lastArrivedAt", page.silence.lastArrivedAt?.rfc3339)
            writer.field("silenceSeconds", page.silence.length(at: now).seconds)
            writer.field("alarmSince", page.silence.raisedAt?.rfc3339)
            writer.field("tests", objects: page.tests) { test, writer in
                writer.field(
                    place.store == .appStore ? "notificationUUID" : "messageId",
                    test.id
                )
                writer.field("signedAt", test.signedAt.rfc3339)
                writer.field("arrivedAt", test.arrivedAt.rfc3339)
            }
            guard place.store == .googlePlay else { return }
            writer.field("misdirected", page.misdirected)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func field(_ key: String, _ push: MisdirectedPush?) {
        guard let push else { return field(key, String?.none) }
        field(
            key,
            object: { writer in
                writer.field("at", push.at.rfc3339)
                writer.field("reason", push.reason)
                writer.field("audience", push.audience)
                writer.field("email", push.email)
            }
        )
    }
}

extension App {
    /// Returns the store that `?store=` selects; by default the App Store, if the app sells there.
    ///
    /// - Throws: `unknown-store`.
    func store(askedIn request: Request) throws(Problem) -> Store {
        try request.askedStore() ?? stores.first ?? .appStore
    }
}
