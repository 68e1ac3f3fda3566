import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover lookup`: finds a purchase by data that a customer can quote.
enum Lookup {
    private static let order = Parameter.option(
        "--order",
        "NUMBER",
        "The number on the store's receipt, such as GPA.1234-5678-9012-34567"
    )
    private static let transaction = Parameter.option(
        "--transaction",
        "ID",
        "A transaction of the App Store"
    )
    private static let token = Parameter.option(
        "--token",
        "TOKEN",
        "An account token, a customer's id, or a purchase token of Google Play"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "lookup",
        summary: "find a purchase and its customer",
        examples: [
            Example("tideover lookup --order GPA.1234-5678-9012-34567", "by a number on a receipt"),
            Example("tideover lookup --transaction 2000000123456789", "by a transaction"),
        ],
        parameters: [
            order, transaction, token, AppAdminClient.app, ConfigurationFile.parameter,
            AdminClient.server,
            json,
        ],
        notes: [
            "The store is asked about an unknown order if a key is configured. Exit code 1 "
                + "if nothing was found.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let given = [
            ("order", arguments[order]), ("transaction", arguments[transaction]),
            ("token", arguments[token]),
        ].compactMap { name, text in text.map { QueryItem(name: name, value: $0) } }
        guard let question = given.first else {
            throw arguments.usageError(.missingOneOf(["--order", "--transaction", "--token"]))
        }
        if given.count > 1 {
            throw arguments.usageError(.conflict("--\(given[0].name)", "--\(given[1].name)"))
        }
        let asked = try AppAdminClient(arguments, output)
        let answer = try await asked.adminClient.run(
            Request(path: "/v1/apps/\(asked.app.id)/lookup", query: [question]),
            needsKey: asked.app.environments != [.simulated],
            asksStores: question.name == "order"
        )
        let found = answer["purchases"]?.elements.map { $0 } ?? []
        if arguments[json] {
            output.write(JSONValue(answer).encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            for purchase in found { PurchasePrinter(output).details(purchase) }
            if found.isEmpty {
                output.message("tideover: no such purchase was found")
                if let stores = answer["asked"] { PurchasePrinter(output).asked(stores) }
            }
        }
        return found.isEmpty ? .failure : .success
    }
}
