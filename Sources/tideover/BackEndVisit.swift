import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverLocks
import TideoverSandbox

/// Rehearsals with a back end somewhere else, as the command line describes it.
struct BackEndVisit {
    private static let url = Parameter.option(
        "--target",
        "URL",
        "Rehearse with the back end there instead of Tideover",
        as: ValueForm("an http or https URL") { try? HTTPURL($0) }
    )
    private static let deliver = Parameter.option(
        "--deliver",
        "PATH",
        "Where it takes notifications; {app} stands for the app's id",
        default: "/v1/apps/{app}/notifications/app-store"
    )
    private static let readBack = Parameter.option(
        "--read-back",
        "PATH",
        "Where it is asked; {customer} stands for the appAccountToken",
        default: "/v1/apps/{app}/customers/{customer}?environment=simulated"
    )
    private static let access = Parameter.option(
        "--access",
        "PLACE",
        "Where its answer says true or false, such as rights.{entitlement}.active",
        as: ValueForm("keys with points between them") { AccessPlace($0) }
    )
    private static let headers = Parameter.repeatedOption(
        "--header",
        "FIELD",
        "A header field for questions, such as 'Authorization: Bearer ...'",
        as: ValueForm("a header field such as 'Name: value'") { Headers.Field(line: $0) }
    )
    private static let wait = Parameter.option(
        "--wait",
        "MILLISECONDS",
        "How long to wait after time has passed, for a back end that looks at the clock now and then",
        as: .integer(in: 0...60_000),
        default: "0"
    )
    private static let salt = Parameter.option(
        "--salt",
        "NUMBER",
        "Draw the same customers as an earlier run, which said its number",
        as: .integer(in: 0...Int(Int32.max))
    )

    /// What of the command line is about the back end.
    static let parameters: [any DeclaredParameter] = [
        url, deliver, readBack, access, headers, wait, salt, AuthorityFolder.option,
    ]

    /// Has every run meet customers that the back end has not met before.
    let salt: UInt64
    /// Where the store's certificates are kept; nil where they last for one run.
    let folder: AuthorityFolder?
    let authority: SandboxAuthority
    private let backEnd: ForeignBackEnd

    /// Nil where no back end is named.
    init?(_ arguments: Arguments, _ output: Output) throws {
        guard let url = arguments[Self.url] else {
            if arguments[Self.access] != nil {
                throw arguments.usageError(.needs("--access", other: "--target"))
            }
            if arguments[AuthorityFolder.option] != nil {
                throw arguments.usageError(.needs("--authority", other: "--target"))
            }
            return nil
        }
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        // Named by the operator, and as a rule this very machine.
        let place = Destination(url, addresses: .any, limits: .storeAnswer)
        var backEnd = ForeignBackEnd(
            handler: client.handler(under: place),
            deliverPath: arguments[Self.deliver],
            readPath: arguments[Self.readBack]
        )
        backEnd.readHeaders = Headers(arguments[Self.headers])
        backEnd.access = arguments[Self.access]
        let wait = arguments[Self.wait]
        // Only a cancelled command is not waited for, and it ends anyway.
        if wait > 0 { backEnd.rest = { try? await Task.sleep(for: .milliseconds(wait)) } }
        self.backEnd = backEnd
        folder = arguments[AuthorityFolder.option].map(AuthorityFolder.init)
        if let folder {
            authority = try folder.authority()
            output.message("tideover: the store's root is \(folder.rootPath)")
        } else {
            authority = try SandboxAuthority()
        }
        let drawn = arguments[Self.salt] ?? Int.random(in: 0...Int(Int32.max))
        output.message("tideover: customers are drawn with --salt \(drawn)")
        salt = UInt64(drawn)
    }

    /// The back end as the runner of scenarios takes one.
    func target(for scenario: Scenario) -> ScenarioTarget { backEnd.target(for: scenario) }

    /// The keys with which the back end may ask the store.
    func storeKeys() throws -> [AppStoreAPIKey] {
        guard let folder else { return [] }
        return [try folder.key()]
    }

    /// Why a scenario is not played with the back end, in few words.
    func omission(of scenario: Scenario) -> String? {
        scenario.needsDevice || scenario.googlePlay != nil ? "not played" : nil
    }

    /// Plays a scenario from start to end; answers with what happened and where the clock stands.
    func play(_ scenario: Scenario) async throws -> (ScenarioReport, Instant) {
        let end = Locked(scenario.start)
        var target = backEnd.target(for: scenario) { now in end.withLock { $0 = now } }
        target.storeKeys = try storeKeys()
        let runner = ScenarioRunner(target: target, authority: authority)
        let report = try await runner.run(backEnd.asked(of: scenario))
        return (report, Instant(millisecondsSince1970: end.withLock { $0 }))
    }
}

extension Headers.Field {
    /// A field as one writes it in a line: a name, a colon, a value.
    init?(line: String) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        self.init(name: String(line[..<colon]), value: String(value))
    }
}
