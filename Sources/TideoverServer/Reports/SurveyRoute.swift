import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/survey`.
struct SurveyRoute {
    let context: AppContext

    func respond(to request: Request) async throws -> Response {
        let (app, storage) = (context.app, context.storage)
        let environment = try app.environment(askedIn: request)
        let store = try app.store(askedIn: request)
        guard app.stores.contains(store) else { throw Problem.notConfigured(store, app.id) }
        let survey = try await context.longRead { read in
            var survey = StoreSurvey()
            try storage.eachLineageRecord(in: AppScope(app.id, environment), of: store) {
                try read.goOn()
                survey.add($0, app.catalogue)
            }
            return survey
        }
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            writer.field("store", store.rawValue)
            survey.writeFields(to: &writer)
        }
    }
}
