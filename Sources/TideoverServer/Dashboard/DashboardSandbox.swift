import TideoverCore
import TideoverDashboard
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// The page of an app's simulated stores. It exists only in a rehearsal: for an app that serves
/// nothing else, in a server that follows the stores' clock.
extension DashboardVisit {
    func sandbox() async throws -> Response {
        let (place, control) = try rehearsal()
        return try await sandboxPage(place, control, outcome: nil)
    }

    /// Carries out a form of the page.
    func playSandbox(_ form: DashboardForm) async throws -> Response {
        let (place, control) = try rehearsal()
        guard mayChange else { throw Problem.keyNotAllowed([.secret, .admin]) }
        guard let step = SandboxStep(form) else { throw Problem.notFound }
        let body = JSONValue.object(step.body).encoded()
        guard
            let answer = await read(
                Request(method: "POST", path: "/control", body: body),
                from: control
            )
        else { return respond(SandboxPage.silent(place)) }
        let outcome = SandboxOutcome(answer)
        try await audit(step, place, isRefused: answer["fault"] != nil)
        return try await sandboxPage(place, control, outcome: outcome)
    }

    // MARK: The stores

    private func rehearsal() throws -> (Place, Handler) {
        let place = try place()
        guard let control = service.simulatedStores[place.app],
            try app(place.app).environments == [.simulated]
        else { throw Problem.notFound }
        return (place, control)
    }

    /// Returns nil if the stores do not answer.
    private func read(_ request: Request, from control: Handler) async -> JSONNode? {
        do {
            return try JSONDocument(try await control(request).body, limits: .local).root
        } catch {
            service.log(
                LogLine(.warning, "simulated stores do not answer", detail: "\(error)")
            )
            return nil
        }
    }

    private func sandboxPage(
        _ place: Place,
        _ control: Handler,
        outcome: SandboxOutcome?
    ) async throws -> Response {
        guard let stores = await read(Request(path: "/customers"), from: control) else {
            return respond(SandboxPage.silent(place))
        }
        let customers = stores["customers"]?.elements.map({ $0 }) ?? []
        let part = SandboxPart(call.request.queryValue("page"), of: customers.count)
        var answers: [String: JSONNode] = [:]
        for customer in part.of(customers) {
            guard let id = customer["appAccountToken"]?.string, answers[id] == nil else { continue }
            answers[id] = try await ask(
                "/v1/apps/\(path(place.app))/customers/\(path(id))",
                about: place
            )
        }
        return respond(
            SandboxPage.page(
                place,
                try SandboxView(stores, part: part, answers: answers),
                formToken: mayChange ? DashboardSessions.formToken(of: token) : nil,
                outcome: outcome
            )
        )
    }

    private func audit(_ step: SandboxStep, _ place: Place, isRefused: Bool) async throws {
        let context = try context(place.app)
        let now = context.clock()
        let entry = AuditEntry(
            .storeAction,
            customer: nil,
            actor: .operator,
            by: person.name,
            why: "The page of the simulated stores.",
            at: now,
            change: AuditEntry.StoreChange(
                action: step.action.rawValue,
                detail: step.detail,
                outcome: isRefused ? .rejected : .completed
            )
        )
        let commitRequest = CommitRequest(
            app: context.app.id,
            environment: .simulated,
            audit: [entry],
            now: now
        )
        _ = try await context.commit(commitRequest)
    }
}

/// A step of the simulated stores that a form asks for.
struct SandboxStep: Sendable {
    let action: SandboxAction
    /// The body of a request to the control server.
    let body: JSONObject
    /// The step in one line, for the audit.
    let detail: String

    /// Returns nil for a form that no page contains.
    init?(_ form: DashboardForm) {
        func value(_ field: SandboxAction.Field) -> String { form[field.rawValue] ?? "" }
        guard let action = SandboxAction(rawValue: value(.action)) else { return nil }
        let customer = JSONValue.string(value(.customer))
        let isGoogle = value(.store) == Store.googlePlay.rawValue
        switch action {
        case .buy:
            body = Self.purchase(of: value(.product), by: customer)
        case .fail: body = ["do": "failPayments", "customer": customer]
        case .recover: body = ["do": "fixPayments", "customer": customer]
        case .refund:
            // Google Play leaves access in place unless the refund also revokes it.
            body =
                isGoogle
                ? ["do": "refund", "customer": customer, "revokes": true]
                : ["do": "refund", "customer": customer]
        case .cancel: body = ["do": "cancel", "customer": customer]
        case .step: body = ["do": "nextEvent"]
        case .play:
            guard let factor = Int64(value(.speed)) else { return nil }
            body = ["do": "speed", "factor": .integer(factor)]
        case .leap: body = ["do": "advance", "by": .string(value(.length))]
        }
        self.action = action
        let parts: [SandboxAction.Field] = [.customer, .product, .speed, .length]
        detail = parts.map(value).filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// A base plan follows the product of Google Play after a colon.
    private static func purchase(of product: String, by customer: JSONValue) -> JSONObject {
        let parts = product.split(separator: ":", maxSplits: 1)
        var body: JSONObject = ["do": "buy", "customer": customer]
        body["product"] = .string(parts.first.map(String.init) ?? "")
        body["plan"] = parts.count == 2 ? .string(String(parts[1])) : nil
        return body
    }
}
