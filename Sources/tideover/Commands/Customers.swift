import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover customers`: lists customers' ids.
enum Customers {
    private static let search = Parameter.option(
        "--search",
        "TEXT",
        "Only ids with this prefix"
    )
    private static let email = Parameter.option(
        "--email",
        "ADDRESS",
        "Only ids for which an app states this email address"
    )
    private static let after = Parameter.option("--after", "ID", "Start after this id")
    private static let limit = Parameter.option(
        "--limit",
        "N",
        "The maximum number",
        as: .integer(in: 1...1_000),
        default: "100"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "customers",
        summary: "list customers, or find one by the start of an id",
        examples: [
            Example("tideover customers", "the first 100, by id"),
            Example("tideover customers --search 7e3f", "ids and aliases that begin with 7e3f"),
            Example("tideover customers --email anna@example.com", "ids with this address"),
        ],
        parameters: [
            search, email, AppAdminClient.app, ConfigurationFile.parameter,
            CustomerQuestion.environment, after,
            limit, AdminClient.server, json,
        ],
        notes: [AdminClient.note],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        let environment = try asked.environment(arguments)
        let choices = [
            ("prefix", arguments[search]), ("email", arguments[email]),
            ("after", arguments[after]),
        ]
        let answer = try await asked.adminClient.run(
            Request(
                path: "/v1/apps/\(asked.app.id)/customers",
                query: [
                    QueryItem(name: "environment", value: environment.rawValue),
                    QueryItem(name: "limit", value: "\(arguments[limit])"),
                ]
                    + choices.compactMap { name, text in
                        text.map { QueryItem(name: name, value: $0) }
                    }
            ),
            needsKey: asked.app.environments != [.simulated]
        )
        return output.write(answer, asJSON: arguments[json]) {
            print($0, output)
        }
    }

    private static func print(_ answer: JSONNode, _ output: Output) {
        guard let customers = answer["customers"], customers.count > 0 else {
            output.message("tideover: no customer was found")
            return
        }
        var table = Table([.init("customer"), .init("derived (UTC)"), .init("alias of")])
        for listed in customers.elements {
            let id = listed["id"]?.string ?? ""
            let customer = listed["customer"]?.string ?? ""
            table.add(
                .init(TextLayout.visible(id)),
                .init(
                    listed["derivedAt"]?.string == nil
                        ? "" : PurchasePrinter.minute(listed["derivedAt"])
                ),
                .init(id == customer ? "" : TextLayout.visible(customer))
            )
        }
        output.print(table)
        if answer["more"]?.bool == true {
            let last = TextLayout.visible(answer["next"]?.string ?? "")
            output.message("tideover: there are more: --after \(last)")
        }
    }
}
