import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverStorage

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
            customer, app, ConfigurationFile.required, environment, at, asKnownAt, json,
        ],
        notes: [
            "It reads the database itself, so the server must not be running; a running server "
                + "answers the same at /v1/apps/APP/customers/CUSTOMER/explain.",
            "Products and policy are those of the configuration as it is now, for past instants "
                + "too. Exit code 0 whatever the answer is.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let path = arguments[ConfigurationFile.required]
        let configuration = try ConfigurationFile.load(path, telling: output)
        let configured = try ConfigurationFile.app(arguments[app], of: configuration, path)
        let key = CustomerKey(
            app: configured.id,
            environment: try served(arguments[environment].environment, by: configured),
            customer: arguments[customer]
        )
        let storage = try open(configuration) { address in
            route(to: key, at: address, arguments)
        }
        let explained = Result {
            try CustomerExplanation(
                of: key,
                in: App(configured),
                storage: storage,
                at: arguments[at],
                asKnownAt: arguments[asKnownAt],
                now: SystemClock.now()
            )
        }
        await storage.close()
        write(try readable(explained), asJSON: arguments[json], output)
        return .success
    }

    private static func write(
        _ explanation: CustomerExplanation,
        asJSON: Bool,
        _ output: Output
    ) {
        guard asJSON else { return ExplanationPrinter(output).print(explanation) }
        var writer = JSONWriter(pretty: true)
        explanation.write(to: &writer)
        output.write(writer.bytes + [UInt8(ascii: "\n")])
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

    // MARK: The storage

    /// Opens the storage as its only user; `route` is where a running server would be asked instead.
    private static func open(
        _ configuration: Configuration,
        route: (Configuration.ListenAddress) -> String
    ) throws -> SQLiteStorage {
        guard case .sqlite(let path) = configuration.storage else {
            preconditionFailure("only SQLite is read")
        }
        // Opening makes a missing file, and a slip in a path should not.
        guard access(path, F_OK) == 0 else {
            throw CommandFailure(
                .noInput,
                "there is no database at \(path)\n`tideover serve` makes it when it first starts."
            )
        }
        do throws(StorageError) {
            return try SQLiteStorage(path: path)
        } catch {
            guard case .locked(let holder) = error.reason else {
                throw CommandFailure(.cannotCreate, "\(error)")
            }
            let process = holder.map { "process \($0)" } ?? "another process"
            throw CommandFailure(
                .unavailable,
                "\(path) is in use by \(process), most likely a running server\n"
                    + "Ask it instead: curl '\(route(configuration.server.listen))'"
            )
        }
    }

    private static func route(
        to key: CustomerKey,
        at address: Configuration.ListenAddress,
        _ arguments: Arguments
    ) -> String {
        let query = [
            "environment=\(key.environment.rawValue)",
            arguments[at].map { "at=\($0.rfc3339)" },
            arguments[asKnownAt].map { "asKnownAt=\($0.rfc3339)" },
        ].compactMap(\.self).joined(separator: "&")
        let customer = PercentEncoding.encode(key.customer.text)
        return "http://\(address)/v1/apps/\(key.app)/customers/\(customer)/explain?\(query)"
    }

    private static func readable(
        _ explained: Result<CustomerExplanation, any Error>
    ) throws -> CustomerExplanation {
        do {
            return try explained.get()
        } catch let error as StorageError {
            throw CommandFailure(.io, "\(error)")
        }
    }
}
