import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover refresh`: asks the stores about a customer's purchases now.
enum Refresh {
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "refresh",
        summary: "ask the stores about a customer's purchases now",
        examples: [
            Example(
                "tideover refresh u_42 --app cards",
                "what the stores know of this customer, without waiting for a notification"
            )
        ],
        parameters: [
            CustomerQuestion.customer, AppAdminClient.app, ConfigurationFile.parameter,
            CustomerQuestion.environment, AdminClient.server, json,
        ],
        notes: [
            "Asks about the subscriptions of the App Store and the purchases of Google Play that "
                + "the customer owns. What a store answers is stored and counts from now on; "
                + "`tideover explain` shows it. A store that answered a short time ago is not asked "
                + "again.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        let customer = PercentEncoding.encode(segment: arguments[CustomerQuestion.customer].text)
        let request = Request(
            method: "POST",
            path: "/v1/apps/\(asked.app.id)/customers/\(customer)/refresh",
            query: [
                QueryItem(name: "environment", value: try asked.environment(arguments).rawValue)
            ]
        )
        let answer = try await asked.adminClient.run(request, asksStores: true)
        if arguments[json] {
            output.write(JSONValue(answer).encoded(pretty: true) + [UInt8(ascii: "\n")])
            return .success
        }
        let purchases = answer["asked"]?.elements.map { $0 } ?? []
        guard !purchases.isEmpty else {
            output.print("The customer owns no purchase that a store answers about.")
            return .success
        }
        for purchase in purchases {
            let name = purchase["purchase"]?.string ?? "?"
            let sentence = purchase["sentence"]?.string ?? "?"
            output.print(TextLayout.visible("\(name): \(sentence)"))
        }
        if answer["more"]?.bool == true {
            output.print("The customer owns more purchases; these are the latest.")
        }
        return .success
    }
}
