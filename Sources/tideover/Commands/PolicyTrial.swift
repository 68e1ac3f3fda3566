import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover policy try`: tests another policy on the stored past.
enum PolicyTrial {
    private static let file = Parameter.optionalArgument(
        "FILE",
        "A policy in the form of `policy` in the configuration; `-` for standard input"
    )
    private static let named = Parameter.option("--policy", "FILE", "The same as the argument")
    static let knownNow = Parameter.flag(
        "--known-now",
        "Decide with all messages received so far, not with those received by each instant"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "policy",
        summary: "try another policy on the past",
        examples: [
            Example("tideover policy try longer.json5 --app cards", "before you change it")
        ],
        subcommands: [tryOut]
    )

    private static let tryOut = Command(
        "try",
        summary: "who would have been locked out, or served longer, under another policy",
        examples: [
            Example(
                "tideover policy try longer.json5 --app cards",
                "the last 90 days, as customers were answered"
            ),
            Example(
                "echo '{ billingRetry: \"keep 7d\" }' | tideover policy try - --app cards",
                "a week of access while the store retries a payment"
            ),
        ],
        parameters: [
            file, named, AppAdminClient.app, ReportMeasures.from, ReportMeasures.to, knownNow,
            ConfigurationFile.parameter,
            CustomerQuestion.environment, AdminClient.server, json,
        ],
        usage: [
            "FILE | --policy FILE [--app ID] [--from INSTANT] [--to INSTANT] [--known-now] "
                + "[--config FILE] [--environment NAME] [--server URL] [--json]"
        ],
        notes: [
            "Decides the stored facts under both policies and compares them with what the stores, as "
                + "known now, confirm. Nothing is changed. Without --from it is the 90 days before "
                + "--to. A key that the policy leaves out has its default.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let path = try policyPath(arguments)
        let asked = try AppAdminClient(arguments, output)
        let environment = try asked.environment(arguments)
        let policy = try readPolicy(path, of: asked.app)
        var query = [
            QueryItem(name: "environment", value: environment.rawValue),
            QueryItem(name: "knowledge", value: arguments[knownNow] ? "now" : "then"),
        ]
        for (name, instant) in [
            ("from", arguments[ReportMeasures.from]), ("to", arguments[ReportMeasures.to]),
        ] {
            if let instant { query.append(QueryItem(name: name, value: instant.rfc3339)) }
        }
        let answer = try await asked.adminClient.run(
            Request(
                method: "POST",
                path: "/v1/apps/\(asked.app.id)/policy/try",
                query: query,
                body: policy
            ),
            onlyReads: true
        )
        return output.write(answer, asJSON: arguments[json]) {
            print(JSONValue($0), output)
        }
    }

    /// Returns the path of the policy, given as the argument or as the option.
    private static func policyPath(_ arguments: Arguments) throws -> String {
        switch (arguments[file], arguments[named]) {
        case (nil, nil): throw arguments.usageError(.missingOneOf(["FILE", "--policy"]))
        case (_?, _?): throw arguments.usageError(.conflict("FILE", "--policy"))
        case (let path?, nil), (nil, let path?): return path
        }
    }

    /// Returns the text of a policy, after a check of it.
    ///
    /// - Throws: `FileInputError`; `CommandFailure` with the line, column and key of each problem.
    private static func readPolicy(_ path: String, of app: Configuration.App) throws -> [UInt8] {
        let text = try FileInput.read(path, atMost: 1 << 20)
        let name = path == FileInput.standardInput ? "standard input" : path
        do throws(ConfigurationProblems) {
            _ = try Configuration.policy(text, of: app.catalogue, named: name)
        } catch {
            throw CommandFailure(.data, "\(error)")
        }
        return text
    }

    // MARK: Output

    private static func print(_ answer: JSONValue, _ output: Output) {
        printTotals(answer, output)
        let differences = answer["differences"]?.array ?? []
        guard !differences.isEmpty else { return }
        output.print()
        for difference in differences { output.print(TextLayout.visible(sentence(difference))) }
        if answer["moreDifferences"]?.bool == true {
            output.print("There are more differences than these.")
        }
    }

    /// Prints the range of a test, and a table for each entitlement.
    static func printTotals(_ answer: JSONValue, _ output: Output) {
        let range = ["from", "until"].map { String(answer[$0]?.string?.prefix(10) ?? "?") }
        output.print("\(range[0]) to \(range[1])")
        for (name, entitlement) in answer["entitlements"]?.object ?? [:] {
            let count = entitlement["customersDiffering"]?.int64 ?? 0
            output.print()
            output.print(
                TextLayout.visible("\(name): ")
                    + TextLayout.counted(count, "customer")
                    + " with another access at some time"
            )
            var table = Table([.init(""), .init("now"), .init("tried")])
            for (label, length, number) in [
                ("access", "accessMilliseconds", nil),
                ("locked out of what the store confirms", "lockoutMilliseconds", "lockouts"),
                ("access that nothing supports", "exposureMilliseconds", "exposures"),
            ] as [(String, String, String?)] {
                let cells = ["current", "tried"].map { side in
                    let totals = entitlement[side]
                    let days = Double(totals?[length]?.int64 ?? 0) / 86_400_000
                    let times = number.flatMap { totals?[$0]?.int64 }.map { " in \($0)" } ?? ""
                    return "\(DecimalText.tenths(days)) days\(times)"
                }
                table.add(([label] + cells).map { Table.Cell($0) })
            }
            output.print(table)
        }
    }

    private static func sentence(_ difference: JSONValue) -> String {
        func text(_ name: String) -> String { difference[name]?.string ?? "?" }
        func decision(_ side: String) -> String {
            let access = difference[side]?["access"]?.bool == true ? "access" : "no access"
            return "\(access) (\(difference[side]?["rule"]?.string ?? "?"))"
        }
        return "\(text("customer")) \(text("entitlement")): from \(text("from")) until "
            + "\(text("until")) \(decision("current")); tried: \(decision("tried"))"
    }
}
