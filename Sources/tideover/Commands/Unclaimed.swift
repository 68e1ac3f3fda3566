import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover unclaimed`: lists purchases that no customer has claimed.
enum Unclaimed {
    private static let after = Parameter.option(
        "--after",
        "KEY",
        "Continue after this purchase, as printed with the page before"
    )
    private static let limit = Parameter.option(
        "--limit",
        "N",
        "The maximum number",
        as: .integer(in: 1...1_000),
        default: "100"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "unclaimed",
        summary: "list purchases without a customer",
        examples: [
            Example(
                "tideover unclaimed",
                "with a reply for the person who asks about one"
            )
        ],
        parameters: [
            AppAdminClient.app, ConfigurationFile.parameter, CustomerQuestion.environment, after,
            limit,
            AdminClient.server, json,
        ],
        notes: [
            "A customer claims a purchase in the app, signed in, with Restore Purchases: the app sends "
                + "what the store returns to `reconcile`. A claimed purchase is no longer listed.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        let environment = try asked.environment(arguments)
        var query = [
            QueryItem(name: "environment", value: environment.rawValue),
            QueryItem(name: "limit", value: "\(arguments[limit])"),
        ]
        if let key = arguments[after] { query.append(QueryItem(name: "after", value: key)) }
        let answer = try await asked.adminClient.run(
            Request(path: "/v1/apps/\(asked.app.id)/unclaimed", query: query),
            needsKey: asked.app.environments != [.simulated]
        )
        return output.write(answer, asJSON: arguments[json]) {
            print($0, isFirstPage: !arguments.has(after), output)
        }
    }

    private static func print(_ answer: JSONNode, isFirstPage: Bool, _ output: Output) {
        guard let purchases = answer["purchases"], purchases.count > 0 else {
            output.message(
                isFirstPage
                    ? "tideover: no unclaimed purchases" : "tideover: no more unclaimed purchases"
            )
            return
        }
        let printer = PurchasePrinter(output)
        printer.table(purchases)
        printer.replies(purchases)
        if answer["more"]?.bool == true {
            output.message("tideover: there are more; --after \(text(answer["next"])) shows them")
        }
    }

    private static func text(_ node: JSONNode?) -> String { node?.string ?? "" }
}
