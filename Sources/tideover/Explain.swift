import TideoverCommandLine
import TideoverCore
import TideoverJSON

/// `tideover explain`: why a customer may or may not use something, now or at any past instant.
enum Explain {
    private static let at = CustomerQuestion.at(
        "Explain the answer at this RFC 3339 time instead of now"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

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
            CustomerQuestion.customer, AppErrand.app, ConfigurationFile.required,
            CustomerQuestion.environment, at, CustomerQuestion.asKnownAt, Errand.server, json,
        ],
        notes: [
            Errand.note,
            "Products and policy are those of the configuration as it is now, for past instants "
                + "too. Exit code 0 whatever the answer is.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let explanation = try await CustomerQuestion.ask(
            "explain",
            at: arguments[at],
            arguments,
            output
        )
        if arguments[json] {
            output.write(JSONValue(explanation).encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            ExplanationPrinter(output).print(explanation)
        }
        return .success
    }
}
