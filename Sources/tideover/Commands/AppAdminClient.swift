import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// Sends a command's requests about one app.
struct AppAdminClient {
    static let app = Parameter.option(
        "--app",
        "ID",
        "The app; only needed if the configuration has several"
    )
    /// The option for commands that otherwise concern every environment of the app.
    static let oneEnvironment = Parameter.option(
        "--environment",
        "NAME",
        "production, sandbox or simulated, instead of all environments of the app",
        as: ValueForm<NamedEnvironment>.choice
    )

    let app: Configuration.App
    let adminClient: AdminClient

    init(_ arguments: Arguments, _ output: Output) throws {
        let path = try ConfigurationFile.path(arguments)
        let configuration = try ConfigurationFile.load(path, arguments, telling: output)
        app = try ConfigurationFile.app(arguments[Self.app], of: configuration, path)
        adminClient = AdminClient(
            configuration,
            path,
            server: arguments[AdminClient.server],
            output
        )
    }

    /// Returns the named environment, else the app's only one, else production.
    func environment(_ arguments: Arguments) throws(CommandFailure) -> Environment {
        let named = arguments[CustomerQuestion.environment]?.environment
        let only = app.environments.count == 1 ? app.environments.first : nil
        return try app.served(named ?? only ?? .production)
    }

    /// Returns the environments that the command concerns.
    func environments(_ arguments: Arguments) throws(CommandFailure) -> [Environment] {
        guard let named = arguments[Self.oneEnvironment] else { return app.environments }
        return [try app.served(named.environment)]
    }
}

extension AppAdminClient {
    /// Sends a request to a path below the app.
    fileprivate func ask(_ path: String, _ query: [QueryItem]) async throws -> JSONNode {
        try await adminClient.run(
            Request(path: "/v1/apps/\(app.id)/\(path)", query: query),
            needsKey: app.environments != [.simulated]
        )
    }
}

/// Requests about one customer, now or at a past instant.
enum CustomerQuestion {
    static let customer = Parameter.argument(
        "CUSTOMER",
        "The customer's id, as the app's back end knows it",
        as: ValueForm("a customer id") { CustomerID($0) }
    )
    static let environment = Parameter.option(
        "--environment",
        "NAME",
        "production, sandbox or simulated (default: the app's only one, else production)",
        as: ValueForm<NamedEnvironment>.choice
    )
    static let asKnownAt = Parameter.option(
        "--as-known-at",
        "INSTANT",
        "Ignore everything learned after this time or day",
        as: ValueForm<Instant>.instant(ofDay: .end)
    )

    /// Declares the option for the instant in question. A date means the start of that day.
    static func at(_ help: String) -> Parameter<Instant?> {
        Parameter.option("--at", "INSTANT", help, as: ValueForm<Instant>.instant(ofDay: .start))
    }

    /// Requests the resource `subject` of a customer.
    static func ask(
        _ subject: String,
        of customer: CustomerID,
        at instant: Instant?,
        _ arguments: Arguments,
        _ output: Output
    ) async throws -> JSONNode {
        let asked = try AppAdminClient(arguments, output)
        let environment = try asked.environment(arguments)
        let customer = PercentEncoding.encode(segment: customer.text)
        return try await asked.ask(
            "customers/\(customer)/\(subject)",
            [QueryItem(name: "environment", value: environment.rawValue)]
                + instants(at: instant, arguments)
        )
    }

    /// Requests a resource of the customer who owns a purchase, in any environment unless one is
    /// named.
    static func ask(
        _ subject: String,
        by item: QueryItem,
        at instant: Instant?,
        _ arguments: Arguments,
        _ output: Output
    ) async throws -> JSONNode {
        let asked = try AppAdminClient(arguments, output)
        let named = try arguments[environment].map { try asked.app.served($0.environment) }
        let place = named.map { [QueryItem(name: "environment", value: $0.rawValue)] } ?? []
        return try await asked.ask(subject, [item] + place + instants(at: instant, arguments))
    }

    private static func instants(at instant: Instant?, _ arguments: Arguments) -> [QueryItem] {
        [("at", instant), ("asKnownAt", arguments[asKnownAt])].compactMap { name, instant in
            instant.map { QueryItem(name: name, value: $0.rfc3339) }
        }
    }
}

extension Configuration.App {
    /// Returns the environment if the app is served in it; throws otherwise.
    func served(_ environment: Environment) throws(CommandFailure) -> Environment {
        guard environments.contains(environment) else {
            throw CommandFailure(
                .configuration,
                "the app \(id) is not served in \(environment.rawValue)\n"
                    + "Choose one with --environment "
                    + environments.map(\.rawValue).joined(separator: " or ") + "."
            )
        }
        return environment
    }
}
