import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover report shadow`: compares RevenueCat's answers with the server's own.
enum ReportShadow {
    private static let json = Parameter.flag("--json", "Write one JSON object")
    private static let csv = Parameter.flag("--csv", "Write comma-separated values with a header")

    static let command = Command(
        "shadow",
        summary: "where RevenueCat's answers and ours differ, with the lockout minutes",
        examples: [
            Example(
                "tideover report shadow",
                "every customer with a stored answer of RevenueCat"
            ),
            Example(
                "tideover report shadow --csv",
                "a line for each difference, for a spreadsheet"
            ),
        ],
        parameters: [
            AppAdminClient.app, ConfigurationFile.parameter, CustomerQuestion.environment,
            AdminClient.server,
            json, csv,
        ],
        notes: [
            "It compares RevenueCat's newest answer about a customer with ours for the same "
                + "instant, as known now. Lockout minutes are those in which RevenueCat's answers "
                + "denied what the store granted. An answer counts until the next one, at most "
                + "until its own end.",
            "Answers arrive with `tideover import revenuecat`, and after each webhook if "
                + "revenueCat.apiKeyFile is set.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        if arguments[json], arguments[csv] {
            throw arguments.usageError(.conflict("--json", "--csv"))
        }
        let asked = try AppAdminClient(arguments, output)
        let question = Question(
            app: asked.app.id,
            environment: try asked.environment(arguments)
        )
        let sum = try await asked.adminClient.converse { ask in try await gather(question, ask) }
        if arguments[json] {
            output.write(sum.form.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else if arguments[csv] {
            output.write(Array(sum.sheet.utf8))
        } else {
            sum.print(output)
        }
        return .success
    }

    private struct Question {
        let app: String
        let environment: Environment
    }

    private static func gather(_ question: Question, _ ask: AdminClient.Ask) async throws
        -> ShadowSum
    {
        var sum = ShadowSum()
        var after: String?
        repeat {
            var query = [
                QueryItem(name: "app", value: question.app),
                QueryItem(name: "environment", value: question.environment.rawValue),
                QueryItem(name: "limit", value: "500"),
            ]
            if let after { query.append(QueryItem(name: "after", value: after)) }
            let page = JSONValue(try await ask(Request(path: "/v1/reports/shadow", query: query)))
            sum.add(page)
            after = page["more"]?.bool == true ? page["next"]?.string : nil
        } while after != nil
        return sum
    }
}

/// The combined pages of the report.
private struct ShadowSum {
    private var head: JSONValue = [:]
    private var customers: Int64 = 0
    private var differing: Int64 = 0
    private var lockoutMinutes = 0.0
    private var entitledMinutes = 0.0
    private var differences: [JSONValue] = []

    mutating func add(_ page: JSONValue) {
        head = page
        customers = customers.addingSaturated(page["customers"]?.int64 ?? 0)
        differing = differing.addingSaturated(page["differing"]?.int64 ?? 0)
        lockoutMinutes = Self.sum(lockoutMinutes, page["lockoutMinutes"])
        entitledMinutes = Self.sum(entitledMinutes, page["entitledMinutes"])
        differences += page["differences"]?.array ?? []
    }

    /// Limits the sum to finite numbers, because JSON has no infinity.
    private static func sum(_ minutes: Double, _ more: JSONValue?) -> Double {
        let greatest = Double.greatestFiniteMagnitude
        return min(greatest, max(-greatest, minutes + (more?.double ?? 0)))
    }

    var form: JSONValue {
        [
            "asOf": head["asOf"] ?? .null, "app": head["app"] ?? .null,
            "environment": head["environment"] ?? .null, "customers": .integer(customers),
            "differing": .integer(differing), "lockoutMinutes": .double(lockoutMinutes),
            "entitledMinutes": .double(entitledMinutes), "differences": .array(differences),
        ]
    }

    /// The differences with their customers, and customers that have only lockouts.
    private var lines: [(customer: JSONValue, difference: JSONValue)] {
        differences.flatMap { customer in
            let all = customer["differences"]?.array ?? []
            return all.isEmpty ? [(customer, .null)] : all.map { (customer, $0) }
        }
    }

    // MARK: For people

    func print(_ output: Output) {
        var table = Table([
            Table.Column("customer"), Table.Column("entitlement"), Table.Column("kind"),
            Table.Column("rule"), Table.Column("RevenueCat until"), Table.Column("ours until"),
            Table.Column("lockout minutes", .trailing),
        ])
        for (customer, difference) in lines {
            table.add(
                Table.Cell(TextLayout.visible(customer["customer"]?.string ?? "")),
                Table.Cell(TextLayout.visible(difference["entitlement"]?.string ?? "-")),
                Table.Cell(difference["kind"]?.string ?? "-"),
                Table.Cell(difference["rule"]?.string ?? "-"),
                Table.Cell(Self.end(difference["theirs"])),
                Table.Cell(Self.end(difference["ours"])),
                Table.Cell(LockoutPrinter.number(Self.minutes(customer, difference)))
            )
        }
        if !lines.isEmpty { output.print(table) }
        output.write(
            Array(
                ("\(TextLayout.counted(customers, "customer")) compared, \(differing) "
                    + "\(differing == 1 ? "differs" : "differ"); RevenueCat would have locked out "
                    + "for \(LockoutPrinter.number(.double(lockoutMinutes))) of "
                    + "\(LockoutPrinter.number(.double(entitledMinutes))) minutes\n").utf8
            )
        )
    }

    private static func end(_ answer: JSONValue?) -> String {
        guard answer?["access"]?.bool == true else { return "no access" }
        return answer?["accessUntil"]?.string ?? "for ever"
    }

    private static func minutes(_ customer: JSONValue, _ difference: JSONValue) -> JSONValue? {
        difference["lockoutMinutes"] ?? customer["lockoutMinutes"]
    }

    // MARK: For sheets

    var sheet: String {
        Sheet.text(
            head: [
                "app", "environment", "customer", "answered_at", "entitlement", "kind", "rule",
                "revenuecat_access", "revenuecat_until", "our_access", "our_until", "our_state",
                "lockout_minutes", "evidence",
            ],
            rows: lines.map { customer, difference in
                let theirs = difference["theirs"]
                let ours = difference["ours"]
                let evidence = (difference["evidence"]?.array ?? []).compactMap(\.string)
                return [
                    head["app"], head["environment"], customer["customer"],
                    customer["answeredAt"], difference["entitlement"], difference["kind"],
                    difference["rule"], Self.word(theirs), theirs?["accessUntil"],
                    Self.word(ours), ours?["accessUntil"], ours?["state"],
                    Self.minutes(customer, difference),
                    .string(
                        ([customer["evidence"]?.string].compactMap(\.self) + evidence)
                            .joined(separator: " ")
                    ),
                ]
            }
        )
    }

    private static func word(_ answer: JSONValue?) -> JSONValue? {
        answer?["access"]?.bool.map { .string($0 ? "yes" : "no") }
    }
}
