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

    /// The maximum number of differences in a response.
    static let mostDifferences = 100
    /// The length of the test without `from`.
    private static let usualLength = Milliseconds.days(90)

    func respond(to request: Request) async throws -> Response {
        let environment = try app.environment(askedIn: request)
        let test = try test(request)
        let until = test.range.upperBound
        let report = try await context.longRead { read in
            let walk = PurchaseWalk(context, environment, until: until, read)
            return try test.report { try walk.eachRecord($0) }
        }
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("app", app.id)
            writer.field("environment", environment.rawValue)
            writer.field("knowledge", test.knowledge.rawValue)
            report.writeMembers(to: &writer, differences: Self.mostDifferences)
            writer.field("moreDifferences", report.differences.count > Self.mostDifferences)
        }
    }

    /// - Throws: `bad-policy`, `bad-instant`, `bad-knowledge`.
    private func test(_ request: Request) throws -> BackTest {
        let policy: Policy
        do {
            policy = try Configuration.policy(request.body, of: app.catalogue)
        } catch {
            throw Problem.badPolicy(error)
        }
        let now = context.clock()
        let end = min(try request.instant("to") ?? now, now)
        let start = try request.instant("from") ?? end - Self.usualLength
        guard start < end else { throw Problem.badRange(found: start) }
        let name = request.queryValue("knowledge") ?? BackTest.Knowledge.then.rawValue
        guard let knowledge = BackTest.Knowledge(rawValue: name) else {
            throw Problem.badKnowledge(name)
        }
        return BackTest(over: start..<end, policy: Versioned(policy), knowledge: knowledge)
    }
}

extension Problem {
    fileprivate static func badPolicy(_ problems: ConfigurationProblems) -> Problem {
        Problem(
            "bad-policy",
            status: 400,
            title: "Invalid policy.",
            detail: "The body is a policy as the configuration has it.",
            members: ["problems": .array(problems.problems.map { .string("\($0)") })]
        )
    }

    fileprivate static func badKnowledge(_ found: String) -> Problem {
        Problem(
            "bad-knowledge",
            status: 400,
            title: "Unknown knowledge.",
            detail: "`knowledge` is `then` or `now`.",
            members: ["parameter": "knowledge", "found": .string(found)]
        )
    }
}
