import TideoverCommandLine
import TideoverConfiguration
import TideoverCore

/// `tideover timeline`: a customer's past states, and the next ones if the store reports no change.
enum CustomerLife {
    private static let at = CustomerQuestion.at(
        "Until this time, or the start of this day (UTC), instead of now"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "timeline",
        summary: "print the history of a customer",
        examples: [
            Example(
                "tideover timeline u_42",
                "every span of standing, every event, and what comes next"
            ),
            Example(
                "tideover timeline u_42 "
                    + "--as-known-at 2026-05-06T10:00:00Z",
                "the same with what was known then"
            ),
        ],
        parameters: [
            CustomerQuestion.customer, AppAdminClient.app, ConfigurationFile.parameter,
            CustomerQuestion.environment, at, CustomerQuestion.asKnownAt, AdminClient.server, json,
        ],
        notes: [
            AdminClient.note,
            "Past instants are decided with the products and policy in effect then: the "
                + "server records each version at its first start with it. The first recorded "
                + "version also applies to everything before. Times are UTC.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let story = try await CustomerQuestion.ask(
            "timeline",
            of: arguments[CustomerQuestion.customer],
            at: arguments[at],
            arguments,
            output
        )
        return output.write(story, asJSON: arguments[json]) {
            CustomerLifePrinter(output).print($0)
        }
    }
}
