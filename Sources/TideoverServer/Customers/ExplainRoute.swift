import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/customers/{customer}/explain`.
struct ExplainRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    func respond(to request: Request, customer: String) async throws -> Response {
        let now = context.clock()
        let question = try CustomerQuestion(request, customer: customer, of: context.app, now: now)
        return .json(
            // It reads all facts of a customer, so it leaves the thread that reads sockets.
            bytes: try await onPool {
                let reading = try CustomerReading(question, in: context)
                var writer = JSONWriter()
                let drift = try CustomerDrift(reading, in: context.storage)
                CustomerExplanation(
                    reading,
                    drift,
                    sandbox: try sandbox(question, reading),
                    lacksServiceAccount: app.googlePlay?.hasServiceAccount == false
                ).write(to: &writer)
                return writer.bytes
            },
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    /// Returns the policy's ruling on the customer's sandbox purchases at the same instant.
    private func sandbox(
        _ question: CustomerQuestion,
        _ production: CustomerReading
    ) throws -> SandboxRuling? {
        guard app.servesSandboxBeside(question.key.environment) else { return nil }
        let sandbox = try CustomerReading(question.asked(in: .sandbox), in: context)
        let policy = production.record.policy.value(at: production.asOf)
        return SandboxRuling(
            policy,
            for: [production.record.customer, production.record.identity.primary],
            production: AnswerGist(production.record.history.snapshot(at: production.asOf)),
            sandbox: AnswerGist(sandbox.record.history.snapshot(at: production.asOf))
        )
    }
}
