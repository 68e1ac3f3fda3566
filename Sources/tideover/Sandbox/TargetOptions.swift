import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverLocks
import TideoverSandbox

/// Runs rehearsals against a back end at a URL, configured by the command line.
struct TargetOptions {
    private static let httpURL = ValueForm("an http or https URL") { try? HTTPURL($0) }
    private static let url = Parameter.option(
        "--target",
        "URL",
        "Rehearse with the back end at this URL instead of Tideover",
        as: httpURL
    )
    private static let neededURL = Parameter.requiredOption(
        "--target",
        "URL",
        "The back end, which gets the stores' messages",
        as: httpURL
    )
    private static let path = ValueForm<String>("a path that begins with /") { text in
        text.hasPrefix("/") ? text : nil
    }
    private static let deliver = Parameter.option(
        "--deliver",
        "PATH",
        "The path for App Store notifications; {app} is the app's id",
        as: path,
        default: "/v1/apps/{app}/notifications/app-store"
    )
    private static let deliverGoogle = Parameter.option(
        "--deliver-google",
        "PATH",
        "The path for Google Play's notifications, pushed by Pub/Sub",
        as: path,
        default: "/v1/apps/{app}/notifications/google-play"
    )
    private static let pull = Parameter.flag(
        "--pull",
        "It pulls Google Play's notifications and gets no pushes"
    )
    private static let pushAudience = Parameter.option(
        "--push-audience",
        "TEXT",
        "The audience of the tokens of pushes",
        default: ScenarioPlayTarget().audience
    )
    private static let pushEmail = Parameter.option(
        "--push-email",
        "ADDRESS",
        "The service account of Pub/Sub's pushes",
        default: ScenarioPlayTarget().email
    )
    private static let readBack = Parameter.option(
        "--read-back",
        "PATH",
        "The path of answers; {customer} is the appAccountToken or obfuscatedAccountId",
        as: path,
        default: "/v1/apps/{app}/customers/{customer}?environment=simulated"
    )
    private static let access = Parameter.option(
        "--access",
        "PLACE",
        "The member of its answer that is true or false, such as rights.{entitlement}.active",
        as: ValueForm("keys separated by points") { AccessPlace($0) }
    )
    private static let headers = Parameter.repeatedOption(
        "--header",
        "FIELD",
        "A header field of requests; write one with a secret into --header-file",
        as: ValueForm("a header field such as 'Name: value'") { Headers.Field(line: $0) }
    )
    private static let headerFile = Parameter.option(
        "--header-file",
        "FILE",
        "Header fields of requests, one a line, such as 'Authorization: Bearer ...'"
    )
    private static let wait = Parameter.option(
        "--wait",
        "MILLISECONDS",
        "How long to wait after time passed, for a back end that polls the clock",
        as: .integer(in: 0...60_000),
        default: "0"
    )
    private static let details: [any DeclaredParameter] = [
        deliver, deliverGoogle, pull, pushAudience, pushEmail, readBack, access, headers,
        headerFile, wait, AuthorityFolder.option, WallPace.month,
    ]
    /// The parameters that describe the back end.
    static let parameters: [any DeclaredParameter] = [url] + details
    /// The same for a command that needs a back end.
    static let neededParameters: [any DeclaredParameter] = [neededURL] + details

    /// Distinguishes runs, so that every run uses customers that are new to the back end.
    var salt: UInt64 = 0
    /// The folder with the store's certificates; nil if they last for one run.
    let folder: AuthorityFolder?
    let authority: SandboxAuthority
    /// The server of the simulated stores, once it listens.
    let storeServer: StoreServer
    /// The address where the stores start to listen when a scenario has Google Play. Nil if they
    /// already listen.
    var address: ListenAddress?
    /// The durations of the scenario; nil if the back end follows the store's clock.
    var pace: ScenarioPace?
    private let backEnd: ForeignBackEnd
    private let output: Output
    /// What the back end has done in this run.
    private let tally = Locked(DeliveryTally())

    /// Returns nil if no back end is named.
    init?(_ arguments: Arguments, _ output: Output) throws {
        guard let url = arguments[Self.url] else {
            // Options about a back end mean that the rehearsal is not of Tideover itself.
            for parameter in Self.parameters where arguments.has(parameter) {
                throw arguments.usageError(
                    .needs(parameter.declaration.name, other: Self.url.declaration.name)
                )
            }
            return nil
        }
        let client = try HTTPClient(userAgent: "tideover/\(Tideover.version)")
        // The operator named the URL. It is usually on this machine, so any address is allowed.
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
        // The wait stops early only if the command is cancelled, and then it ends anyway.
        if wait > 0 { backEnd.rest = { try? await Task.sleep(for: .milliseconds(wait)) } }
        folder = arguments[AuthorityFolder.option].map(AuthorityFolder.init)
        if let folder {
            authority = try folder.authority()
            output.message("tideover: the store's root is \(folder.rootPath)")
        } else {
            authority = try SandboxAuthority()
        }
        // One authority for all scenarios, because a back end caches the keys that it fetched.
        backEnd.googlePlay.authority =
            try folder?.pushAuthority() ?? PlayAuthority(seed: .random(in: .min ... .max))
        self.backEnd = backEnd
        pace = arguments[WallPace.month].map { WallPace.pace(month: $0, output) }
        storeServer = StoreServer(root: authority.root)
        self.output = output
    }

    /// Returns the seed for the customers of a scenario. Customers and purchases of different files
    /// differ.
    func salt(of path: String) -> UInt64 {
        let name = path.split(separator: "/").last ?? ""
        return salt ^ name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) } << 32
    }

    /// Returns the back end as a target of the scenario runner, with the stores behind the front.
    /// `limit` ends the scenario early if so many deliveries of a store were refused and none
    /// accepted. `tellClock` receives the store's time as well, in milliseconds since 1970.
    func target(
        for scenario: Scenario,
        endingAfterRefusals limit: Int? = nil,
        tellClock: @escaping @Sendable (Int64) -> Void = { _ in }
    ) throws -> ScenarioTarget {
        let storeServer = storeServer
        storeServer.clear()
        var target = backEnd.target(for: scenario) { now in
            storeServer.tell(now)
            tellClock(now)
        }
        target.pace = pace
        target.refusalLimit = limit
        target.meetStore = { api in storeServer.meet(appStore: api) }
        target.googlePlay.meetGoogle = { google in storeServer.meet(google: google) }
        if let folder {
            target.storeKeys = [try folder.key()]
            if scenario.googlePlay != nil, let url = storeServer.url {
                let account = try folder.serviceAccount(askingAt: url)
                target.googlePlay.account = account.account
                target.googlePlay.tokenURL = account.tokenURL
            }
        }
        return target
    }

    /// Reasons to skip a scenario.
    enum Omission: CaseIterable {
        case device, revenueCat, appStoreRefused, googlePlayRefused

        /// The reason, for people, after the number of skipped scenarios.
        var words: String {
            switch self {
            case .device: "only Tideover can play a device's actions"
            case .revenueCat: "only Tideover can play RevenueCat's messages"
            case .appStoreRefused: "the back end accepts no notification of the App Store"
            case .googlePlayRefused: "the back end accepts no notification of Google Play"
            }
        }
    }

    /// Returns why a scenario is skipped; nil if it runs.
    func omission(of scenario: Scenario) -> Omission? {
        guard !scenario.needsDevice else {
            return scenario.revenueCat == nil ? .device : .revenueCat
        }
        let tally = tally.withLock { $0 }
        if scenario.googlePlay != nil {
            return tally.refusesAll(of: .googlePlay) ? .googlePlayRefused : nil
        }
        return tally.refusesAll(of: .appStore) ? .appStoreRefused : nil
    }

    /// Adds a played scenario to the tally, and reports once which store's deliveries are refused.
    private func review(_ report: ScenarioReport) {
        let (before, after) = tally.withLock { tally in
            let before = tally
            tally.add(report)
            return (before, tally)
        }
        for sender in DeliveryResult.Sender.allCases where !before.refusesAll(of: sender) {
            if let advice = after.advice(on: sender) { output.message("tideover: \(advice)") }
        }
    }

    /// Reports why no answer of the whole run could be compared.
    func reviewAnswers() {
        let advice = tally.withLock { $0.advice(onAnswersAt: backEnd.access?.text) }
        guard let lines = advice?.split(separator: "\n").map({ TextLayout.visible(String($0)) })
        else { return }
        output.message("tideover: \(lines.joined(separator: "\n"))")
    }

    /// Plays a scenario from start to end. Returns the report and the clock's last instant.
    func play(_ scenario: Scenario) async throws -> (ScenarioReport, Instant) {
        if scenario.googlePlay != nil, let address {
            try listen(at: address, orWith: "--store-listen")
        }
        if let pace {
            let length = WallPace.words(pace.length(of: scenario))
            output.message("tideover: \(TextLayout.visible(scenario.name)): \(length) in all")
        }
        let end = Locked(scenario.start)
        let target = try target(
            for: scenario,
            endingAfterRefusals: DeliveryTally.refusalLimit
        ) { now in end.withLock { $0 = now } }
        let runner = ScenarioRunner(target: target, authority: authority)
        let report = try await runner.run(scenario)
        review(report)
        return (report, Instant(millisecondsSince1970: end.withLock { $0 }))
    }

    /// Starts the stores' server and prints how the back end reaches it. Does nothing if it listens
    /// already.
    func listen(at address: ListenAddress, orWith option: String) throws(CommandFailure) {
        guard storeServer.url == nil else { return }
        try storeServer.listen(at: address, otherwise: "Choose another with \(option).")
        guard let url = storeServer.url else { return }
        output.message("tideover: the simulated stores listen on \(url)")
        output.message("tideover: their clock is \(url)/clock, Apple's root \(url)/root.der")
        guard let folder else {
            output.message("tideover: add --authority FOLDER to get keys for requests to them")
            return
        }
        output.message(
            "tideover: requests to the App Store: issuer id \(AuthorityFolder.issuerId), key id "
                + "\(AuthorityFolder.keyId) and the key in \(folder.keyPath)"
        )
        output.message("tideover: requests to Google: key file \(folder.accountPath)")
    }
}

extension TargetOptions {
    /// Reads the header fields of requests. Secrets come from a file only, because other users can
    /// list a process's arguments. Errors do not repeat the value.
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
            throw CommandFailure(
                .data,
                "\(path): a line is not a header field such as 'Name: value'"
            )
        }
        return Headers(given + fields)
    }
}

extension Headers.Field {
    /// Whether the field's name suggests that its value is a secret.
    fileprivate var isSecret: Bool {
        let name = name.lowercased()
        let words = ["authorization", "cookie", "key", "token", "secret", "password"]
        return words.contains { name.contains($0) }
    }

    /// Parses a field in the form `name: value`.
    init?(line: String) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        self.init(name: String(line[..<colon]), value: String(value))
    }
}
