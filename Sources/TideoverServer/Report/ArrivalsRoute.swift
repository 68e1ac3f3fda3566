import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Answers `GET /v1/apps/{app}/arrivals`: when notifications last arrived, and which tests did.
struct ArrivalsRoute {
    let app: App
    let book: ArrivalBook
    let clock: Clock

    func respond(to request: Request) throws -> Response {
        let environment = try app.environment(askedIn: request)
        let place = ArrivalBook.Place(app: app.id, environment: environment)
        guard let page = book.page(place) else { throw Problem.appStoreNotConfigured(app.id) }
        return .json(
            bytes: answer(place, page, at: clock()),
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private func answer(
        _ place: ArrivalBook.Place,
        _ page: ArrivalBook.Page,
        at now: Instant
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("app", place.app)
            writer.field("environment", place.environment.rawValue)
            writer.field("asOf", now.rfc3339)
            writer.field("since", page.silence.since.rfc3339)
            writer.field("lastArrivedAt", page.silence.lastArrivedAt?.rfc3339)
            writer.field("silenceSeconds", page.silence.length(at: now).seconds)
            writer.field("alarmSince", page.silence.raisedAt?.rfc3339)
            writer.field(
                "tests",
                array: { writer in
                    for test in page.tests {
                        writer.object { writer in
                            writer.field("notificationUUID", test.notificationUUID)
                            writer.field("signedAt", test.signedAt.rfc3339)
                            writer.field("arrivedAt", test.arrivedAt.rfc3339)
                        }
                    }
                }
            )
        }
        return writer.bytes
    }
}
