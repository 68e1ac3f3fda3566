import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover erase`: erases a customer.
enum Erase {
    private static let isSure = Parameter.flag("--yes", "Confirm: this cannot be undone")
    private static let environment = Parameter.option(
        "--environment",
        "NAME",
        "production, sandbox or simulated, unless all of them",
        as: ValueForm<NamedEnvironment>.choice
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "erase",
        summary: "erase a customer permanently",
        examples: [
            Example(
                "tideover erase u_42 --app cards --yes",
                "the data of u_42, by all ids"
            )
        ],
        parameters: [
            CustomerQuestion.customer, AppAdminClient.app, isSure,
            ConfigurationFile.parameter, environment, AdminClient.server, json,
        ],
        notes: [
            "This removes purchases with their evidence, answers, events and audit lines. A purchase that "
                + "another customer owned too remains. Backups, exports and the store's own data are not "
                + "changed, and new messages from the store are stored again. See docs/privacy.md.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        guard arguments[isSure] else {
            throw CommandFailure(
                .usage,
                "nothing was erased: --yes is missing\n"
                    + "This cannot be undone. `tideover explain` shows what is stored; "
                    + "`tideover backup` copies the database."
            )
        }
        let asked = try AppAdminClient(arguments, output)
        let customer = PercentEncoding.encode(segment: arguments[CustomerQuestion.customer].text)
        var query: [QueryItem] = []
        if let named = arguments[environment] {
            let environment = try asked.app.served(named.environment)
            query.append(QueryItem(name: "environment", value: environment.rawValue))
        }
        let request = Request(
            method: "DELETE",
            path: "/v1/apps/\(asked.app.id)/customers/\(customer)",
            query: query
        )
        let answer = try await asked.adminClient.run(request)
        if arguments[json] {
            output.write(JSONValue(answer).encoded(pretty: true) + [UInt8(ascii: "\n")])
            return .success
        }
        let kept = answer["kept"]?["purchases"]?.int64 ?? 0
        let removed = (answer["erased"]?.members.compactMap { $0.value.int64 } ?? []).reduce(0, +)
        guard removed > 0 || kept > 0 else {
            output.print("nothing was erased: nothing is stored of this customer")
            return .success
        }
        func count(_ name: String, _ noun: String, plural: String? = nil) -> String {
            TextLayout.counted(answer["erased"]?[name]?.int64 ?? 0, noun, plural: plural)
        }
        let rest = [
            count("events", "event"),
            count("drift", "difference of devices", plural: "differences of devices"),
            count("prompts", "prompt"), count("attributes", "attribute"),
            count("audit", "line of the audit", plural: "lines of the audit"),
        ]
        output.print(
            "erased: \(count("purchases", "purchase")) with \(count("facts", "fact")) and "
                + count("evidence", "piece of evidence", plural: "pieces of evidence")
                + ", \(rest.joined(separator: ", "))"
        )
        if kept > 0 {
            output.print(
                "kept: \(TextLayout.counted(kept, "purchase")) that another customer owned too"
            )
        }
        return .success
    }
}
