import TideoverCommandLine
import TideoverCore
import TideoverJSON

/// `tideover explain`: why a customer may or may not use something, now or at any past instant.
enum Explain {
    private static let at = CustomerQuestion.at(
        "The answer at this time, or at the start of this day (UTC), instead of now"
    )
    private static let evidence = Parameter.flag(
        "--evidence",
        "Also print the facts behind each answer, and those set aside"
    )
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
                "the answer for a past instant, by all that is known today"
            ),
            Example(
                "tideover explain u_42 "
                    + "--as-known-at 2026-05-06T10:00:00Z",
                "what would have been answered then, by what was known then"
            ),
        ],
        parameters: [
            CustomerQuestion.customer, AppErrand.app, ConfigurationFile.parameter,
            CustomerQuestion.environment, at, CustomerQuestion.asKnownAt, evidence, Errand.server,
            json,
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
            ExplanationPrinter(output, showsEvidence: arguments[evidence]).print(explanation)
        }
        return .success
    }
}
