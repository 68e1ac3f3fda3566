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
                let stored = try read(question)
                let reading = CustomerReading(question, stored.lineages, of: app)
                var writer = JSONWriter()
                CustomerExplanation(
                    reading,
                    CustomerDrift(reading, stored.drift),
                    sandbox: stored.sandbox.map { ruling(question, reading, sandbox: $0) },
                    lacksServiceAccount: app.googlePlay?.hasServiceAccount == false
                ).write(to: &writer)
                return writer.bytes
            },
            headers: ["Cache-Control": "private, no-store"]
        )
    }

    /// What is stored of a customer; of the sandbox only if it may answer for production.
    private struct Stored {
        let lineages: CustomerLineages
        let drift: [Drift]
        let sandbox: CustomerLineages?
    }

    /// Reads from one snapshot, so that no commit comes between the parts of an explanation.
    private func read(_ question: CustomerQuestion) throws(StorageError) -> Stored {
        let sandbox =
            app.servesSandboxBeside(question.key.environment) ? question.asked(in: .sandbox) : nil
        return try context.storage.read { reader throws(StorageError) in
            Stored(
                lineages: try reader.knownLineages(of: question.key, now: question.now),
                drift: try reader.drift(of: question.key, limit: CustomerDrift.mostDrift),
                sandbox: try sandbox.map { question throws(StorageError) in
                    try reader.knownLineages(of: question.key, now: question.now)
                }
            )
        }
    }

    /// Returns the policy's ruling on the customer's sandbox purchases at the same instant.
    private func ruling(
        _ question: CustomerQuestion,
        _ production: CustomerReading,
        sandbox: CustomerLineages
    ) -> SandboxRuling {
        let sandbox = CustomerReading(question.asked(in: .sandbox), sandbox, of: app)
        let policy = production.record.policy.value(at: production.asOf)
        return SandboxRuling(
            policy,
            for: [production.record.customer, production.record.identity.primary],
            production: AnswerGist(production.record.history.snapshot(at: production.asOf)),
            sandbox: AnswerGist(sandbox.record.history.snapshot(at: production.asOf))
        )
    }
}
