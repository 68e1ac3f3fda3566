import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover timeline`: what a customer lived through, and what comes if the store says nothing more.
enum CustomerLife {
    private static let customer = Parameter.argument(
        "CUSTOMER",
        "The customer's id, as the app's back end knows it",
        as: ValueForm("a customer id") { CustomerID($0) }
    )
    private static let app = Parameter.requiredOption(
        "--app",
        "ID",
        "The app of the configuration"
    )
    private static let environment = Parameter.option(
        "--environment",
        "NAME",
        "production, sandbox or simulated",
        as: ValueForm<NamedEnvironment>.choice,
        default: NamedEnvironment.production.rawValue
    )
    private static let at = Parameter.option(
        "--at",
        "INSTANT",
        "Tell it until this RFC 3339 time instead of now",
        as: instantForm
    )
    private static let asKnownAt = Parameter.option(
        "--as-known-at",
        "INSTANT",
        "Leave out whatever was learned after this time",
        as: instantForm
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")
    private static let instantForm = ValueForm(
        "an RFC 3339 time such as 2026-05-06T10:00:00Z"
    ) { Instant(rfc3339: $0) }

    static let command = Command(
        "timeline",
        summary: "tell what a customer lived through",
        examples: [
            Example(
                "tideover timeline u_42 --app cards --config tideover.json",
                "every span of standing, what happened, and what comes next"
            ),
            Example(
                "tideover timeline u_42 --app cards --config tideover.json "
                    + "--as-known-at 2026-05-06T10:00:00Z",
                "the same by what was known then"
            ),
        ],
        parameters: [
            customer, app, ConfigurationFile.required, environment, at, asKnownAt, Errand.server,
            json,
        ],
        notes: [
            Errand.note,
            "Products and policy are those of the configuration as it is now, for past instants "
                + "too. Times are UTC.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let path = arguments[ConfigurationFile.required]
        let configuration = try ConfigurationFile.load(path, telling: output)
        let configured = try ConfigurationFile.app(arguments[app], of: configuration, path)
        let environment = try configured.served(arguments[environment].environment)
        let customer = PercentEncoding.encode(arguments[customer].text)
        let instants = [("at", arguments[at]), ("asKnownAt", arguments[asKnownAt])]
        let request = Request(
            path: "/v1/apps/\(arguments[app])/customers/\(customer)/timeline",
            query: [QueryItem(name: "environment", value: environment.rawValue)]
                + instants.compactMap { name, instant in
                    instant.map { QueryItem(name: name, value: $0.rfc3339) }
                }
        )
        let errand = Errand(configuration, path, server: arguments[Errand.server], output)
        let story = try await errand.run(
            request,
            needsKey: configured.environments != [.simulated]
        )
        if arguments[json] {
            output.write(JSONValue(story).encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            CustomerLifePrinter(output).print(story)
        }
        return .success
    }
}

extension Configuration.App {
    /// An environment asked about, if the app is served in it.
    func served(_ environment: Environment) throws(CommandFailure) -> Environment {
        guard environments.contains(environment) else {
            throw CommandFailure(
                .configuration,
                "the app \(id) is not served in \(environment.rawValue)\n"
                    + "Ask with --environment "
                    + environments.map(\.rawValue).joined(separator: " or ") + "."
            )
        }
        return environment
    }
}
