import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/export`: all data of an app in an environment, page by page, as
/// lines for `tideover import`.
struct ExportRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    private static let pageLength = 500

    func respond(to request: Request) async throws -> Response {
        let environment = try app.environment(askedIn: request)
        let holds: ExportHeader.Content =
            try request.flag("answers") ? .answers : .everything
        let start = RecordPlace(holds == .answers ? .customer : .evidence)
        let place = try request.recordPlace("after") ?? start
        // A page can be long, so it leaves the thread that reads sockets.
        return .json(
            bytes: try await onPool { try page(environment, from: place, holds) },
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private func page(
        _ environment: Environment,
        from place: RecordPlace,
        _ holds: ExportHeader.Content
    ) throws -> [UInt8] {
        let page = try context.storage.records(
            in: AppScope(app.id, environment),
            from: place,
            limit: Self.pageLength
        )
        return JSONWriter.object { writer in
            writer.key("header")
            writer.raw(ExportLine.header(ExportHeader(app: app.id, holds: holds)).json)
            writer.field("lines", each: page.records) { record, writer in
                writer.raw(ExportLine.record(record, environment).json)
            }
            writer.field("next", page.next?.text)
        }
    }
}

extension RecordPlace {
    /// The place as text in a query.
    fileprivate var text: String {
        let parts = [kind.rawValue] + key
        return Base64.encodeString(
            JSONValue.array(parts.map(JSONValue.string)).encoded(),
            .urlSafe
        )
    }

    /// Parses `text`; nil for any other text.
    fileprivate init?(_ text: String) {
        guard let bytes = Base64.decode(text.utf8, .urlSafe),
            let parts = try? JSONDocument(bytes).root.elements.map(\.string),
            let word = parts.first.flatMap(\.self),
            let kind = StoredRecord.Kind(rawValue: word)
        else { return nil }
        self.init(kind, key: parts.dropFirst().compactMap(\.self))
    }
}

extension Request {
    fileprivate func recordPlace(_ name: String) throws -> RecordPlace? {
        guard let text = queryValue(name) else { return nil }
        guard let place = RecordPlace(text) else { throw Problem.badCursor(name, found: text) }
        return place
    }
}
