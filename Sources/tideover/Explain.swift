import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover explain`: why a customer may or may not use something, now or at any past instant.
enum Explain {
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
        "Explain the answer at this RFC 3339 time instead of now",
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
        "explain",
        summary: "tell why a customer may or may not use something",
        examples: [
            Example(
                "tideover explain u_42 --app cards --config tideover.json",
                "the answer now, the rule, the evidence, and what comes next"
            ),
            Example(
                "tideover explain u_42 --app cards --config tideover.json "
                    + "--at 2026-05-06T10:00:00Z",
                "the answer for a past instant, by all that is known today"
            ),
            Example(
                "tideover explain u_42 --app cards --config tideover.json "
                    + "--as-known-at 2026-05-06T10:00:00Z",
                "what would have been answered then, by what was known then"
            ),
        ],
        parameters: [
            customer, app, ConfigurationFile.required, environment, at, asKnownAt, Errand.server,
            json,
        ],
        notes: [
            Errand.note,
            "Products and policy are those of the configuration as it is now, for past instants "
                + "too. Exit code 0 whatever the answer is.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let path = arguments[ConfigurationFile.required]
        let configuration = try ConfigurationFile.load(path, telling: output)
        let configured = try ConfigurationFile.app(arguments[app], of: configuration, path)
        let errand = Errand(configuration, path, server: arguments[Errand.server], output)
        let explanation = try await errand.run(
            question(arguments, try served(arguments[environment].environment, by: configured)),
            needsKey: configured.environments != [.simulated]
        )
        if arguments[json] {
            output.write(JSONValue(explanation).encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            ExplanationPrinter(output).print(explanation)
        }
        return .success
    }

    private static func question(_ arguments: Arguments, _ environment: Environment) -> Request {
        let customer = PercentEncoding.encode(arguments[customer].text)
        let instants = [("at", arguments[at]), ("asKnownAt", arguments[asKnownAt])]
        return Request(
            path: "/v1/apps/\(arguments[app])/customers/\(customer)/explain",
            query: [QueryItem(name: "environment", value: environment.rawValue)]
                + instants.compactMap { name, instant in
                    instant.map { QueryItem(name: name, value: $0.rfc3339) }
                }
        )
    }

    private static func served(
        _ environment: Environment,
        by app: Configuration.App
    ) throws -> Environment {
        guard app.environments.contains(environment) else {
            let served = app.environments.map(\.rawValue)
            throw CommandFailure(
                .configuration,
                "the app \(app.id) is not served in \(environment.rawValue)\n"
                    + "Ask with --environment \(served.joined(separator: " or "))."
            )
        }
        return environment
    }
}
