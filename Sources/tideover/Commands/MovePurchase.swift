import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover move`: gives a purchase to another customer.
enum MovePurchase {
    private static let purchase = Parameter.argument(
        "PURCHASE",
        "A transaction id, an order number, a purchase token, or the purchase as `explain` names it"
    )
    private static let target = Parameter.requiredOption(
        "--to",
        "CUSTOMER",
        "The customer who gets it"
    )
    private static let from = Parameter.option(
        "--from",
        "CUSTOMER",
        "Move it only if this customer owns it now"
    )
    private static let why = Parameter.requiredOption(
        "--why",
        "TEXT",
        "Why, in one line, for the audit"
    )
    private static let new = Parameter.flag(
        "--new",
        "Also move it to an id without stored data"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "move",
        summary: "give a purchase to another customer",
        examples: [
            Example(
                "tideover move 2000000012345678 --to u_43 --why \"another account\" --app cards",
                "u_43 owns the purchase from now on"
            )
        ],
        parameters: [
            purchase, target, from, why, new, AppAdminClient.app, ConfigurationFile.parameter,
            CustomerQuestion.environment, AdminClient.server, json,
        ],
        notes: [
            "Neither a renewal nor a device of a former owner takes the purchase back; another "
                + "move does. The audit keeps who moved it, why and when. See docs/ownership.md.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        let environment = QueryItem(
            name: "environment",
            value: try asked.environment(arguments).rawValue
        )
        let root = "/v1/apps/\(asked.app.id)"
        var body: JSONObject = [
            "customer": .string(arguments[target]), "why": .string(arguments[why]),
        ]
        body["from"] = arguments[from].map(JSONValue.string)
        let request = Request(
            method: "POST",
            path: "\(root)/purchases/\(PercentEncoding.encode(arguments[purchase]))/move",
            query: [environment],
            body: JSONValue.object(body).encoded()
        )
        let grants = Request(
            path: "\(root)/customers/\(PercentEncoding.encode(segment: arguments[target]))/grants",
            query: [environment]
        )
        let answer = try await asked.adminClient.converse { ask in
            if !arguments[new] { try requireKnown(try await ask(grants), arguments) }
            return try await ask(request)
        }
        return output.write(answer, asJSON: arguments[json]) {
            let name = $0["purchase"]?.string ?? "?"
            let owner = $0["customer"]?.string ?? "?"
            output.print(TextLayout.visible("\(name) belongs to \(owner)"))
        }
    }

    /// Rejects unknown customers, because the buyer would lose the purchase to a mistyped id.
    private static func requireKnown(_ list: JSONNode, _ arguments: Arguments) throws {
        let hasGrants = (list["grants"]?.count ?? 0) > 0
        guard list["customerKnown"]?.bool == false, !hasGrants else { return }
        throw CommandFailure(
            .failure,
            "no data is stored of the customer \(arguments[target]), so nothing was moved\n"
                + "Check the id. If the customer is new, give the same command with --new."
        )
    }
}
