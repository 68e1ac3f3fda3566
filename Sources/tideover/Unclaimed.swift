import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover unclaimed`: purchases that no customer ever claimed.
enum Unclaimed {
    private static let after = Parameter.option(
        "--after",
        "KEY",
        "Go on behind this purchase, as the page before told it"
    )
    private static let limit = Parameter.option(
        "--limit",
        "N",
        "How many at most",
        as: .integer(in: 1...1_000),
        default: "100"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "unclaimed",
        summary: "list purchases that no customer ever claimed",
        examples: [
            Example(
                "tideover unclaimed",
                "what was paid for and serves nobody"
            )
        ],
        parameters: [
            AppErrand.app, ConfigurationFile.parameter, CustomerQuestion.environment, after, limit,
            Errand.server, json,
        ],
        notes: [
            "A purchase is claimed by presenting it: the app calls reconcile for the signed-in customer "
                + "with what the store's Restore Purchases hands out. Once claimed it leaves the list.",
            Errand.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppErrand(arguments, output)
        let environment = try asked.environment(arguments)
        var query = [
            QueryItem(name: "environment", value: environment.rawValue),
            QueryItem(name: "limit", value: "\(arguments[limit])"),
        ]
        if let key = arguments[after] { query.append(QueryItem(name: "after", value: key)) }
        let answer = try await asked.errand.run(
            Request(path: "/v1/apps/\(asked.app.id)/unclaimed", query: query),
            needsKey: asked.app.environments != [.simulated]
        )
        if arguments[json] {
            output.write(JSONValue(answer).encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            print(answer, isFirstPage: !arguments.has(after), output)
        }
        return .success
    }

    private static func print(_ answer: JSONNode, isFirstPage: Bool, _ output: Output) {
        guard let purchases = answer["purchases"], purchases.count > 0 else {
            output.message(
                isFirstPage
                    ? "tideover: every purchase has been claimed" : "tideover: there are no more"
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
