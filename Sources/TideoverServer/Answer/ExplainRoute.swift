import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/customers/{customer}/explain`.
struct ExplainRoute: Sendable {
    let app: App
    let storage: any Storage
    let clock: Clock

    func respond(to request: Request, customer: String) async throws -> Response {
        guard let customer = CustomerID(customer) else { throw Problem.badCustomer }
        let question = Question(
            key: CustomerKey(
                app: app.id,
                environment: try app.environment(askedIn: request),
                customer: customer
            ),
            at: try request.instant("at"),
            asKnownAt: try request.instant("asKnownAt"),
            now: clock()
        )
        return .json(
            // Every fact of a customer is read and weighed: this leaves the thread that reads sockets.
            bytes: try await onPool { try answer(question) },
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    private struct Question: Sendable {
        let key: CustomerKey
        let at: Instant?
        let asKnownAt: Instant?
        let now: Instant
    }

    private func answer(_ question: Question) throws -> [UInt8] {
        let explanation = try CustomerExplanation(
            of: question.key,
            in: app,
            storage: storage,
            at: question.at,
            asKnownAt: question.asKnownAt,
            now: question.now
        )
        var writer = JSONWriter()
        explanation.write(to: &writer)
        return writer.bytes
    }
}

extension Request {
    /// The instant that a parameter of the query names; nil where it is absent.
    func instant(_ name: String) throws -> Instant? {
        guard let text = queryValue(name) else { return nil }
        guard let instant = Instant(rfc3339: text) else {
            throw Problem.badInstant(name, found: text)
        }
        return instant
    }
}
