import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON

/// `tideover explain`: why a customer has or lacks access, now or at any past instant.
enum Explain {
    private static let at = CustomerQuestion.at(
        "The answer at this time, or at the start of this day (UTC), instead of now"
    )
    private static let evidence = Parameter.flag(
        "--evidence",
        "Also print the facts behind each answer, and the ignored ones"
    )
    private static let customer = Parameter.optionalArgument(
        "CUSTOMER",
        "The customer's id, as the app's back end knows it",
        as: ValueForm("a customer id") { CustomerID($0) }
    )
    /// The options that identify a purchase, each with the name of the route's parameter.
    private static let purchases = [
        (
            "order",
            Parameter.option(
                "--order",
                "ORDER",
                "Explain for the customer with the purchase of this order number"
            )
        ),
        (
            "transaction",
            Parameter.option("--transaction", "ID", "The same by the id of a transaction")
        ),
        (
            "token",
            Parameter.option(
                "--token",
                "TOKEN",
                "The same by an account token or a purchase token of Google Play"
            )
        ),
    ]
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "explain",
        summary: "show why a customer has access or not",
        examples: [
            Example(
                "tideover explain u_42",
                "the answer now, why, what comes next, and a reply to the customer"
            ),
            Example(
                "tideover explain u_42 --evidence",
                "with the facts that decided, and those that did not"
            ),
            Example(
                "tideover explain u_42 "
                    + "--at 2026-05-06",
                "the answer for a past instant, with everything known today"
            ),
            Example(
                "tideover explain u_42 "
                    + "--as-known-at 2026-05-06T10:00:00Z",
                "the answer at that time, with what was known then"
            ),
            Example(
                "tideover explain --order MK4TTTVWJH --app cards --config tideover.json",
                "the same for the customer of an order number"
            ),
        ],
        parameters: [
            customer, purchases[0].1, purchases[1].1, purchases[2].1, AppAdminClient.app,
            ConfigurationFile.parameter, CustomerQuestion.environment, at,
            CustomerQuestion.asKnownAt, evidence, AdminClient.server, json,
        ],
        usage: [
            "CUSTOMER [--app ID] [--config FILE] [--environment NAME] [--at INSTANT] "
                + "[--as-known-at INSTANT] [--evidence] [--server URL] [--json]",
            "--order ORDER | --transaction ID | --token TOKEN [--app ID] [--config FILE] "
                + "[--environment NAME] [--at INSTANT] [--as-known-at INSTANT] [--evidence] "
                + "[--server URL] [--json]",
        ],
        notes: [
            AdminClient.note,
            "Past instants are decided with the products and policy in effect then: the "
                + "server records each version at its first start with it. The first recorded "
                + "version also applies to everything before. The exit code does not depend on the "
                + "answer.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let explanation = try await ask(arguments, output)
        return output.write(explanation, asJSON: arguments[json]) {
            ExplanationPrinter(output, showsEvidence: arguments[evidence]).print($0)
        }
    }

    /// Requests the explanation for the customer, or for the owner of the named purchase.
    private static func ask(_ arguments: Arguments, _ output: Output) async throws -> JSONNode {
        let named = purchases.compactMap { name, option in
            arguments[option].map { QueryItem(name: name, value: $0) }
        }
        if named.count > 1 {
            throw arguments.usageError(.conflict("--\(named[0].name)", "--\(named[1].name)"))
        }
        switch (arguments[customer], named.first) {
        case (nil, nil):
            throw arguments.usageError(
                .missingOneOf(["CUSTOMER", "--order", "--transaction", "--token"])
            )
        case (_?, let purchase?):
            throw arguments.usageError(.conflict("CUSTOMER", "--\(purchase.name)"))
        case (let customer?, nil):
            return try await CustomerQuestion.ask(
                "explain",
                of: customer,
                at: arguments[at],
                arguments,
                output
            )
        case (nil, let purchase?):
            return try await CustomerQuestion.ask(
                "explain",
                by: purchase,
                at: arguments[at],
                arguments,
                output
            )
        }
    }
}
