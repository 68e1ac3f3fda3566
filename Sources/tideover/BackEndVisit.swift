import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
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
    private static let path = ValueForm<String>("a path that begins with /") { text in
        text.hasPrefix("/") ? text : nil
    }
    private static let deliver = Parameter.option(
        "--deliver",
        "PATH",
        "Where it takes the App Store's notifications; {app} stands for the app's id",
        as: path,
        default: "/v1/apps/{app}/notifications/app-store"
    )
    private static let deliverGoogle = Parameter.option(
        "--deliver-google",
        "PATH",
        "Where it takes Google Play's, as Pub/Sub pushes them",
        as: path,
        default: "/v1/apps/{app}/notifications/google-play"
    )
    private static let pull = Parameter.flag(
        "--pull",
        "It pulls Google Play's notifications itself, and is not pushed to"
    )
    private static let pushAudience = Parameter.option(
        "--push-audience",
        "TEXT",
        "What the tokens of pushes are addressed to",
        default: ScenarioPlayTarget().audience
    )
    private static let pushEmail = Parameter.option(
        "--push-email",
        "ADDRESS",
        "The service account in whose name Pub/Sub pushes",
        default: ScenarioPlayTarget().email
    )
    private static let readBack = Parameter.option(
        "--read-back",
        "PATH",
        "Where it is asked; {customer} stands for the appAccountToken or obfuscatedAccountId",
        as: path,
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
        "A header field for questions; one with a secret goes into --header-file",
        as: ValueForm("a header field such as 'Name: value'") { Headers.Field(line: $0) }
    )
    private static let headerFile = Parameter.option(
        "--header-file",
        "FILE",
        "Header fields for questions, one a line, such as 'Authorization: Bearer ...'"
    )
    private static let wait = Parameter.option(
        "--wait",
        "MILLISECONDS",
        "How long to wait after time has passed, for a back end that looks at the clock now and then",
        as: .integer(in: 0...60_000),
        default: "0"
    )
    /// What of the command line is about the back end.
    static let parameters: [any DeclaredParameter] = [
        url, deliver, deliverGoogle, pull, pushAudience, pushEmail, readBack, access, headers,
        headerFile, wait, AuthorityFolder.option, WallPace.month,
    ]

    /// Has every run meet customers that the back end has not met before.
    var salt: UInt64 = 0
    /// Where the store's certificates are kept; nil where they last for one run.
    let folder: AuthorityFolder?
    let authority: SandboxAuthority
    /// Where the back end reaches the stores, once somebody has it listen.
    let front: StoreFront
    /// Where the stores listen as soon as a scenario has Google Play; nil where they do already.
    var address: ListenAddress?
    /// How long things take; nil where the back end goes by the store's time.
    var pace: ScenarioPace?
    private let backEnd: ForeignBackEnd
    private let output: Output

    /// Nil where no back end is named.
    init?(_ arguments: Arguments, _ output: Output) throws {
        guard let url = arguments[Self.url] else {
            // Whoever describes a back end does not mean to rehearse Tideover.
            for parameter in Self.parameters where arguments.has(parameter) {
                throw arguments.usageError(
                    .needs(parameter.declaration.name, other: Self.url.declaration.name)
                )
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
        backEnd.googlePlay.deliverPath = arguments[Self.deliverGoogle]
        backEnd.googlePlay.isPushedTo = !arguments[Self.pull]
        backEnd.googlePlay.audience = arguments[Self.pushAudience]
        backEnd.googlePlay.email = arguments[Self.pushEmail]
        backEnd.readHeaders = try Self.readHeaders(arguments)
        backEnd.access = arguments[Self.access]
        let wait = arguments[Self.wait]
        // Only a cancelled command is not waited for, and it ends anyway.
        if wait > 0 { backEnd.rest = { try? await Task.sleep(for: .milliseconds(wait)) } }
        folder = arguments[AuthorityFolder.option].map(AuthorityFolder.init)
        if let folder {
            authority = try folder.authority()
            output.message("tideover: the store's root is \(folder.rootPath)")
        } else {
            authority = try SandboxAuthority()
        }
        // One for all scenarios: a back end keeps the keys that it has fetched.
        backEnd.googlePlay.authority =
            try folder?.pushAuthority() ?? PlayAuthority(seed: .random(in: .min ... .max))
        self.backEnd = backEnd
        pace = arguments[WallPace.month].map { WallPace.pace(month: $0, output) }
        front = StoreFront(root: authority.root)
        self.output = output
    }

    /// What the customers of a scenario are drawn with: those of one file are not those of another, nor are
    /// their purchases.
    func salt(of path: String) -> UInt64 {
        let name = path.split(separator: "/").last ?? ""
        return salt ^ name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) } << 32
    }

    /// The back end as the runner of scenarios takes one, with the stores behind the front; `tellClock` is
    /// told of the store's time too, in milliseconds since 1970.
    func target(
        for scenario: Scenario,
        tellClock: @escaping @Sendable (Int64) -> Void = { _ in }
    ) throws -> ScenarioTarget {
        let front = front
        front.clear()
        var target = backEnd.target(for: scenario) { now in
            front.tell(now)
            tellClock(now)
        }
        target.pace = pace
        target.meetStore = { api in front.meet(appStore: api) }
        target.googlePlay.meetGoogle = { google in front.meet(google: google) }
        if let folder {
            target.storeKeys = [try folder.key()]
            if scenario.googlePlay != nil, let url = front.url {
                let account = try folder.serviceAccount(askingAt: url)
                target.googlePlay.account = account.account
                target.googlePlay.tokenURL = account.tokenURL
            }
        }
        return target
    }

    /// Why a scenario is not played with the back end.
    enum Omission: CaseIterable {
        case device, revenueCat

        /// For people, behind how many scenarios that concerns.
        var words: String {
            switch self {
            case .device: "what devices do is asked of Tideover alone"
            case .revenueCat: "what RevenueCat relays is told to Tideover alone"
            }
        }
    }

    /// Why a scenario is not played with the back end; nil where it is.
    func omission(of scenario: Scenario) -> Omission? {
        guard scenario.needsDevice else { return nil }
        return scenario.revenueCat == nil ? .device : .revenueCat
    }

    /// Plays a scenario from start to end; answers with what happened and where the clock stands.
    func play(_ scenario: Scenario) async throws -> (ScenarioReport, Instant) {
        if scenario.googlePlay != nil, let address {
            try listen(at: address, orWith: "--store-listen")
        }
        if let pace {
            let length = WallPace.words(pace.length(of: scenario))
            output.message("tideover: \(TextLayout.visible(scenario.name)): \(length) in all")
        }
        let end = Locked(scenario.start)
        let target = try target(for: scenario) { now in end.withLock { $0 = now } }
        let runner = ScenarioRunner(target: target, authority: authority)
        let report = try await runner.run(scenario)
        return (report, Instant(millisecondsSince1970: end.withLock { $0 }))
    }

    /// Has the stores listen, and says how the back end may ask them; once is enough.
    func listen(at address: ListenAddress, orWith option: String) throws(CommandFailure) {
        guard front.url == nil else { return }
        try front.listen(at: address, otherwise: "Choose another with \(option).")
        guard let url = front.url else { return }
        output.message("tideover: the simulated stores are on \(url)")
        output.message("tideover: their clock is \(url)/clock, Apple's root \(url)/root.der")
        guard let folder else {
            output.message("tideover: give --authority FOLDER for keys to ask them with")
            return
        }
        output.message(
            "tideover: the App Store may be asked with issuer id \(AuthorityFolder.issuerId), key id "
                + "\(AuthorityFolder.keyId) and the key in \(folder.keyPath)"
        )
        output.message("tideover: Google may be asked with the key file \(folder.accountPath)")
    }
}

extension BackEndVisit {
    /// The header fields of questions. Whoever lists the processes of a machine sees their arguments, so
    /// that a secret is taken from a file only; a refusal does not repeat it.
    private static func readHeaders(_ arguments: Arguments) throws -> Headers {
        let given = arguments[headers]
        if let field = given.first(where: \.isSecret) {
            throw CommandFailure(
                .usage,
                "--header \(field.name): a secret is visible to every user as an argument\n"
                    + "Write the line into a file that only you can read, and name it with --header-file."
            )
        }
        guard let path = arguments[headerFile] else { return Headers(given) }
        let text = String(decoding: try FileInput.read(path, atMost: 1 << 16), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        let fields = lines.compactMap(Headers.Field.init(line:))
        guard fields.count == lines.count else {
            throw CommandFailure(.data, "\(path): a line is no header field such as 'Name: value'")
        }
        return Headers(given + fields)
    }
}

extension Headers.Field {
    /// Whether its name says that the value opens something.
    fileprivate var isSecret: Bool {
        let name = name.lowercased()
        let words = ["authorization", "cookie", "key", "token", "secret", "password"]
        return words.contains { name.contains($0) }
    }

    /// A field as one writes it in a line: a name, a colon, a value.
    init?(line: String) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        self.init(name: String(line[..<colon]), value: String(value))
    }
}
