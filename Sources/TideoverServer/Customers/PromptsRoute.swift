import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `POST /v1/apps/{app}/customers/{customer}/prompts`: records that a prompt, a planned
/// message or a message of the store was shown, so that the next one waits as `policy.prompts`
/// requires.
///
/// A device's report proves nothing, so the number stored for one sender is limited.
struct PromptsRoute: Sendable {
    let context: AppContext
    /// Whether the request presents a public key, which anyone can extract from the app.
    let isDevice: Bool

    private var app: App { context.app }

    func respond(to request: Request, customer: String) async throws -> Response {
        let customer = try CustomerID.storable(customer)
        let environment = try app.environment(askedIn: request)
        let key = CustomerKey(app: app.id, environment: environment, customer: customer)
        let now = context.clock()
        let exposure = try PromptExposure(report: request.body, at: now)
        guard try context.storage.row(of: key) != nil else {
            throw Problem.badPromptReport("The customer has no answer with a prompt to show.")
        }
        let sender =
            isDevice ? context.rateLimiter.sender(of: request, to: app.id, for: .change) : nil
        if let objection = context.rateLimiter.objection(to: sender) { throw objection }
        context.rateLimiter.charge(sender)
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            prompts: [ShownPrompt(customer: key, exposure: exposure)],
            now: now
        )
        _ = try await context.commit(commitRequest)
        let json = JSONWriter.text { exposure.write(to: &$0) }
        return .json(bytes: json, headers: ["Cache-Control": "private, no-store"])
    }
}

extension PromptExposure {
    /// The maximum length of an id in Unicode scalars.
    private static let longestID = 100
    private static let members = ["id", "kind", "shownAt", "response"]

    /// Reads `{"id": "...", "kind": "soft", "shownAt": "...", "response": "dismissed"}`; the last
    /// two are optional, and `shownAt` defaults to now.
    ///
    /// - Throws: `bad-prompt-report`, `unknown-member`.
    fileprivate init(report body: [UInt8], at now: Instant) throws(Problem) {
        let root: JSONNode
        do {
            root = try JSONDocument(body).root
        } catch {
            throw .badPromptReport("The body is not strict JSON: \(error).")
        }
        guard root.kind == .object else { throw .badPromptReport("The body is not an object.") }
        try root.requireKnown(Self.members)
        guard let id = root["id"]?.string, (1...Self.longestID).contains(id.unicodeScalars.count)
        else {
            throw .badPromptReport("`id` must be a string of 1 to \(Self.longestID) characters.")
        }
        guard let kind: Kind = try root.word("kind") else {
            throw .badPromptReport("`kind` is missing. It is `soft`, `hard`, `message` or `store`.")
        }
        self.init(
            id: id,
            kind: kind,
            shownAt: try Self.shownAt(root, now),
            response: try root.word("response")
        )
    }

    private static func shownAt(_ root: JSONNode, _ now: Instant) throws(Problem) -> Instant {
        guard let node = root["shownAt"], !node.isNull else { return now }
        guard let instant = node.string.flatMap({ Instant(rfc3339: $0) }) else {
            throw .badPromptReport("`shownAt` must be an RFC 3339 time.")
        }
        guard instant <= now + .clockTolerance else {
            throw .badPromptReport("`shownAt` is in the future. Leave it out for now.")
        }
        return min(instant, now)
    }
}

extension JSONNode {
    /// Returns a case of an enumeration; nil if the member is absent or null.
    fileprivate func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String
    ) throws(Problem) -> Word? {
        guard let node = self[name], !node.isNull else { return nil }
        guard let word = node.string.flatMap({ Word(rawValue: $0) }) else {
            let known = Word.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw .badPromptReport("`\(name)` must be one of \(known).")
        }
        return word
    }
}

extension Problem {
    fileprivate static func badPromptReport(_ detail: String) -> Problem {
        Problem("bad-prompt-report", detail: detail)
    }
}
