import TideoverHTTP
import TideoverJSON

/// How often customers are prompted, and which messages are planned; durations in milliseconds.
public struct ScenarioPrompts: Hashable, Sendable {
    public let quiet: Int64
    public let interval: Int64
    /// Nil for no limit.
    public let perDay: Int64?
    /// The channel of each planned message, by its name; empty for no plan.
    public let plan: [String: String]
}

/// A prompt that an app showed and reports.
public struct ScenarioShownPrompt: Hashable, Sendable {
    /// Its kind in the answer, such as `soft`; `store` for a message that the store showed.
    public let kind: String
    /// The customer's response; nil for none.
    public let response: String?

    func report(id: String) -> [UInt8] {
        var body: JSONObject = ["id": .string(id), "kind": .string(kind)]
        if let response { body["response"] = .string(response) }
        return JSONValue.object(body).encoded()
    }
}

extension ScenarioPrompts {
    /// Reads `prompts` of a scenario's head.
    static func read(_ node: JSONNode) throws(ScenarioError) -> ScenarioPrompts {
        let keys = ["quiet", "interval", "perDay", "plan"]
        let reader = try ObjectReader(node, "prompts", keys: keys)
        return ScenarioPrompts(
            quiet: try reader.optional("quiet", readSpan)?.end(of: 1, from: 0) ?? 0,
            interval: try reader.optional("interval", readSpan)?.end(of: 1, from: 0) ?? 0,
            perDay: try reader.wholeNumber("perDay"),
            plan: try reader.optional("plan", plan) ?? [:]
        )
    }

    private static let messages = [
        "trialEnding", "graceEntered", "graceEnding", "holdEntered", "recovered", "priceConsent",
        "cleanupDue",
    ]

    private static func plan(_ node: JSONNode) throws(ScenarioError) -> [String: String] {
        let reader = try ObjectReader(node, "plan", keys: messages)
        var plan: [String: String] = [:]
        for name in messages { plan[name] = try reader.optional(name, channel) }
        return plan
    }

    private static func channel(_ node: JSONNode) throws(ScenarioError) -> String {
        try named(node, .choice, ["app", "message"]) { $0 }
    }
}

extension ScenarioShownPrompt {
    static let keys = ["kind", "response"]

    /// Reads the members of a step that does `showPrompt`.
    init(_ reader: ObjectReader) throws(ScenarioError) {
        kind = try reader.optional("kind", readString) ?? "soft"
        response = try reader.optional("response", readString)
    }
}

extension ScenarioPlay {
    /// Reports that the app showed a prompt, which the system under test must accept.
    mutating func show(
        _ prompt: ScenarioShownPrompt,
        to customer: StoreCustomer,
        _ step: ScenarioStep
    ) async {
        await tellClock()
        let body = prompt.report(id: "\(customer.name)-\(step.line)")
        let app = scenario.app.id
        let request = target.report(body, of: customer, to: target.promptsPath, app: app)
        let status = try? await target.readBack(request).status
        let verdict = Verdict(
            label: "report",
            expected: "200",
            actual: status.map { .integer(Int64($0)) },
            holds: status == 200
        )
        let words = "\(customer.name) is shown a prompt."
        note(customer.name, .action(deed(step, words, nil, verdict)))
    }
}
