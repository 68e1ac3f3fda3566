import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `POST /v1/apps/{app}/policy/try`: tests another policy on the stored past of an app's
/// customers. Nothing is changed.
struct PolicyTrialRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    /// - Throws: `bad-policy`, `bad-instant`, `bad-knowledge`.
    func respond(to request: Request) async throws -> Response {
        let environment = try app.environment(askedIn: request)
        let policy: Policy
        do {
            policy = try Configuration.policy(request.body, of: app.catalogue)
        } catch {
            throw Problem.badPolicy(
                "The body is a policy as the configuration has it.",
                error.problems.map(\.description)
            )
        }
        let question = try PolicyTrialQuestion(request, now: context.clock())
        let report = try await context.report(of: question.test(of: policy), in: environment)
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            question.writeFields(of: report, to: &writer)
        }
    }
}

/// Answers `GET /v1/reports/policy`: a row for each environment of each app, with a test of the
/// policy in effect with other settings. Nothing is changed.
struct PolicyReportRoute {
    let contexts: [AppContext]
    let now: Instant

    private typealias Copy = @Sendable (inout Policy, _ from: Policy) -> Void

    /// The settings that decide access to stored purchases, which is what a test compares.
    private static let settings: [(name: String, copy: Copy)] = [
        ("billingRetry", { $0.billingRetry = $1.billingRetry }),
        ("renewalLeeway", { $0.renewalLeeway = $1.renewalLeeway }),
        ("unreachable", { $0.unreachable = $1.unreachable }),
        ("unknownProduct", { $0.unknownProduct = $1.unknownProduct }),
    ]

    /// - Throws: `bad-policy`, `bad-instant`, `bad-knowledge`, `unknown-environment`,
    ///   `environment-not-served`.
    func respond(to request: Request) async throws -> Response {
        let environment = try environment(request)
        let question = try PolicyTrialQuestion(request, now: now)
        // A setting that one app refuses is found before the purchases of another are read.
        let tried = try contexts.reduce(into: [:]) { tried, context in
            tried[context.app.id] = try Self.policy(of: context.app, with: request)
        }
        var writer = JSONWriter()
        try await writer.report(of: contexts, at: question.range.upperBound, in: environment) {
            context,
            environment in
            let (current, tried) = (context.app.triablePolicy, tried[context.app.id] ?? Policy())
            let report = try await context.report(of: question.test(of: tried), in: environment)
            return { writer in
                for (name, policy) in [("policy", current), ("tried", tried)] {
                    writer.key(name)
                    policy.write(to: &writer)
                }
                question.writeFields(of: report, to: &writer)
            }
        }
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }

    /// Returns the environment that the query selects; nil for all.
    private func environment(_ request: Request) throws -> Environment? {
        guard let text = request.queryValue("environment") else { return nil }
        if contexts.count == 1 { return try contexts[0].app.environment(askedIn: request) }
        guard let environment = Environment(rawValue: text) else {
            throw Problem.unknownEnvironment(text)
        }
        return environment
    }

    /// Returns the policy in effect with the settings of the query; without any, with the other
    /// `billingRetry`, because that setting decides most.
    private static func policy(of app: App, with request: Request) throws -> Policy {
        var policy = app.triablePolicy
        let named = settings.filter { request.queryValue($0.name) != nil }
        if named.isEmpty {
            policy.billingRetry = policy.billingRetry == .suspend ? .keep(.days(7)) : .suspend
            return policy
        }
        var form = JSONObject()
        for (name, _) in named { form[name] = request.queryValue(name).map(JSONValue.string) }
        do {
            let read = try Configuration.policy(
                JSONValue.object(form).encoded(),
                of: app.catalogue
            )
            for setting in named { setting.copy(&policy, read) }
            return policy
        } catch {
            // The reader's places are those of a text that the caller never saw.
            throw Problem.badPolicy(
                "Send each setting as `policy` of the configuration has it.",
                error.problems.map { "\(app.id): \($0.path): \($0.reason)" }
            )
        }
    }
}

/// The query of a test: `from`, `to` and `knowledge`.
private struct PolicyTrialQuestion {
    let range: Range<Instant>
    private let knowledge: BackTest.Knowledge

    /// The maximum number of differences in a response.
    private static let mostDifferences = 100
    /// The length of the test without `from`.
    private static let usualLength = Milliseconds.days(90)

    /// - Throws: `bad-instant`, `bad-knowledge`.
    init(_ request: Request, now: Instant) throws {
        let end = min(try request.instant("to") ?? now, now)
        let start = try request.instant("from") ?? end - Self.usualLength
        guard start < end else { throw Problem.badRange(found: start) }
        let name = request.queryValue("knowledge") ?? BackTest.Knowledge.then.rawValue
        guard let knowledge = BackTest.Knowledge(rawValue: name) else {
            throw Problem.badKnowledge(name)
        }
        self.range = start..<end
        self.knowledge = knowledge
    }

    func test(of policy: Policy) -> BackTest {
        BackTest(over: range, policy: Versioned(policy), knowledge: knowledge)
    }

    func writeFields(of report: BackTest.Report, to writer: inout JSONWriter) {
        writer.field("knowledge", knowledge.rawValue)
        report.writeMembers(to: &writer, differences: Self.mostDifferences)
        writer.field("moreDifferences", report.differences.count > Self.mostDifferences)
    }
}

extension AppContext {
    /// Runs a test on the customers of an environment.
    fileprivate func report(
        of test: BackTest,
        in environment: Environment
    ) async throws -> BackTest.Report {
        try await longRead { read in
            let walk = PurchaseWalk(self, environment, until: test.range.upperBound, read)
            return try test.report { try walk.eachRecord($0) }
        }
    }
}

extension App {
    /// The policy in effect, in the form of `policy` in the configuration, which has no
    /// experiments. They decide no access.
    fileprivate var triablePolicy: Policy {
        var policy = policy
        policy.experiments = []
        return policy
    }
}

extension Problem {
    fileprivate static func badPolicy(_ detail: String, _ problems: [String]) -> Problem {
        Problem(
            "bad-policy",
            detail: detail,
            members: ["problems": .array(problems.map(JSONValue.string))]
        )
    }

    fileprivate static func badKnowledge(_ found: String) -> Problem {
        Problem(
            "bad-knowledge",
            detail: "`knowledge` is `then` or `now`.",
            members: ["parameter": "knowledge", "found": .string(found)]
        )
    }
}
