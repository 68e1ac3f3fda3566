import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover store`: requests changes of purchases from the stores.
enum StoreActions {
    static let command = Command(
        "store",
        summary: "change purchases in the stores",
        examples: [
            Example(
                "tideover store extend 2000000012345678 --days 7 --why \"outage of 5 May\" "
                    + "--app cards --config tideover.json --dry-run",
                "the request that would be sent"
            ),
            Example(
                "tideover store refund GPA.1234-5678-9012-34567 --why \"paid twice\" "
                    + "--app cards --config tideover.json",
                "give the money of one order back"
            ),
        ],
        subcommands: [
            extend, extendAll, extensionStatus, accountToken, consumption, cancel, postpone, revoke,
            refund,
        ]
    )

    // MARK: Common parameters

    private static let why = Parameter.requiredOption(
        "--why",
        "TEXT",
        "The reason in one line, for the audit"
    )
    private static let key = Parameter.option(
        "--key",
        "KEY",
        "The idempotency key of an earlier attempt, to repeat it"
    )
    private static let dryRun = Parameter.flag(
        "--dry-run",
        "Print the request that would be sent, and send nothing"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")
    private static let shared: [any DeclaredParameter] = [
        why, AppAdminClient.app, ConfigurationFile.parameter, CustomerQuestion.environment, key,
        dryRun,
        AdminClient.server, json,
    ]
    private static let note =
        "Each change leaves audit lines with who requested it, why and its outcome, and is carried "
        + "out once under one key. See docs/store-actions.md."

    private static func purchase(_ name: String, _ help: String) -> Parameter<String> {
        Parameter.argument(name, help)
    }

    private static let transaction = purchase("TRANSACTION", "A transaction id of the purchase")
    private static let order = purchase(
        "ORDER",
        "The order number, such as GPA.1234-5678-9012-34567"
    )
    private static let anyName = purchase("PURCHASE", "An order number or a purchase token")

    // MARK: The App Store

    private static let days = Parameter.requiredOption(
        "--days",
        "N",
        "By how many days, at most 90",
        as: .integer(in: 1...90)
    )
    private static let deferredDays = Parameter.requiredOption(
        "--days",
        "N",
        "By how many days, at most 365",
        as: .integer(in: 1...365)
    )
    private static let reason = Parameter.option(
        "--reason",
        "WORD",
        "undeclared, customerSatisfaction, other or serviceIssue",
        default: "undeclared"
    )
    private static let extend = Command(
        "extend",
        summary: "extend one subscription on the App Store, free of charge",
        examples: [
            Example(
                "tideover store extend 2000000012345678 --days 7 --why \"outage of 5 May\" "
                    + "--app cards --config tideover.json",
                "a week more"
            )
        ],
        parameters: [transaction, days, reason] + shared,
        notes: [note, AdminClient.note]
    ) { arguments, output in
        try await act(arguments[transaction], "extend", arguments, output) { body in
            body["days"] = .integer(Int64(arguments[days]))
            body["reason"] = .string(arguments[reason])
        }
    }

    private static let product = Parameter.requiredOption("--product", "ID", "The product")
    private static let storefronts = Parameter.repeatedOption(
        "--storefront",
        "CODE",
        "A country code of three letters; all storefronts without one"
    )
    private static let extendAll = Command(
        "extend-all",
        summary: "extend all subscriptions to a product on the App Store",
        examples: [
            Example(
                "tideover store extend-all --product cards.pro.monthly --days 7 --why \"outage\" "
                    + "--app cards --config tideover.json",
                "a week more for all"
            )
        ],
        parameters: [product, days, reason, storefronts] + shared,
        notes: [
            "The App Store carries it out later. `tideover store extension ID` shows its progress.",
            note, AdminClient.note,
        ]
    ) { arguments, output in
        var body: JSONObject = [
            "product": .string(arguments[product]), "days": .integer(Int64(arguments[days])),
            "reason": .string(arguments[reason]), "why": .string(arguments[why]),
        ]
        let codes = arguments[storefronts]
        if !codes.isEmpty { body["storefronts"] = .array(codes.map { .string($0) }) }
        return try await send("extensions", body, arguments, output)
    }

    private static let id = purchase("ID", "The request identifier that extend-all printed")
    private static let extensionStatus = Command(
        "extension",
        summary: "show the progress of an extension of all subscriptions",
        examples: [
            Example(
                "tideover store extension 5f0c1e9a-7b3d-2c4e-6f8a-0b1c2d3e4f5a --product cards.pro "
                    + "--app cards --config tideover.json",
                "whether it is complete"
            )
        ],
        parameters: [
            id, product, AppAdminClient.app, ConfigurationFile.parameter,
            CustomerQuestion.environment,
            AdminClient.server, json,
        ],
        notes: [AdminClient.note]
    ) { arguments, output in
        let asked = try AppAdminClient(arguments, output)
        let name = PercentEncoding.encode(arguments[id])
        let request = Request(
            path: "/v1/apps/\(asked.app.id)/extensions/\(name)",
            query: [
                try environment(asked, arguments),
                QueryItem(name: "product", value: arguments[product]),
            ]
        )
        let answer = try await asked.ask(request)
        return output.write(answer, asJSON: arguments[json]) {
            output.print(progress($0))
        }
    }

    private static func progress(_ answer: JSONNode) -> String {
        guard answer["complete"]?.bool == true else { return "not complete yet" }
        let at = answer["completedAt"]?.string ?? "?"
        return "complete at \(at): \(answer["succeeded"]?.int64 ?? 0) extended, "
            + "\(answer["failed"]?.int64 ?? 0) failed"
    }

    private static let token = Parameter.requiredOption("--token", "UUID", "The account token")
    private static let accountToken = Command(
        "account-token",
        summary: "set the account token of a purchase on the App Store",
        examples: [
            Example(
                "tideover store account-token 2000000012345678 --token UUID --why \"signed in\" "
                    + "--app cards --config tideover.json",
                "name the account of a purchase"
            )
        ],
        parameters: [transaction, token] + shared,
        notes: [note, AdminClient.note]
    ) { arguments, output in
        try await act(arguments[transaction], "accountToken", arguments, output) { body in
            body["accountToken"] = .string(arguments[token])
        }
    }

    private static let consented = Parameter.flag(
        "--customer-consented",
        "Confirm that the customer agreed to sending this to Apple"
    )
    private static let sample = Parameter.flag(
        "--sample-provided",
        "The content can be tried before it is bought"
    )
    private static let delivery = Parameter.option(
        "--delivery",
        "WORD",
        "delivered, undeliveredQualityIssue, undeliveredWrongItem, undeliveredServerOutage or "
            + "undeliveredOther",
        default: "delivered"
    )
    private static let consumed = Parameter.option(
        "--consumed",
        "N",
        "The share that was used, in thousandths of a percent",
        as: .integer(in: 0...100_000)
    )
    private static let preference = Parameter.option(
        "--refund-preference",
        "WORD",
        "decline, grantFull or grantProrated"
    )
    private static let consumption = Command(
        "consumption",
        summary: "answer a request for consumption information by hand",
        examples: [
            Example(
                "tideover store consumption 2000000012345678 --customer-consented --why \"asked\" "
                    + "--app cards --config tideover.json",
                "answer a refund request"
            )
        ],
        parameters: [transaction, consented, delivery, consumed, sample, preference] + shared,
        notes: [
            "The App Store takes an answer within 12 hours of its request, and only with the "
                + "customer's consent.",
            note, AdminClient.note,
        ]
    ) { arguments, output in
        try await act(arguments[transaction], "consumption", arguments, output) { body in
            body["customerConsented"] = .bool(arguments[consented])
            body["sampleContentProvided"] = .bool(arguments[sample])
            body["deliveryStatus"] = .string(arguments[delivery])
            body["consumptionPercentage"] = arguments[consumed].map { .integer(Int64($0)) }
            body["refundPreference"] = arguments[preference].map { .string($0) }
        }
    }

    // MARK: Google Play

    private static let stops = Parameter.option(
        "--stops",
        "WORD",
        "renewals, which the customer can undo, or payments",
        default: "renewals"
    )
    private static let cancel = Command(
        "cancel",
        summary: "cancel a subscription on Google Play",
        examples: [
            Example(
                "tideover store cancel GPA.1234-5678-9012-34567 --why \"asked by mail\" "
                    + "--app cards --config tideover.json",
                "stop the renewals"
            )
        ],
        parameters: [anyName, stops] + shared,
        notes: [note, AdminClient.note]
    ) { arguments, output in
        try await act(arguments[anyName], "cancel", arguments, output) { body in
            body["stops"] = .string(arguments[stops])
        }
    }

    private static let postpone = Command(
        "defer",
        summary: "defer the next renewal on Google Play",
        examples: [
            Example(
                "tideover store defer GPA.1234-5678-9012-34567 --days 10 --why \"outage\" "
                    + "--app cards --config tideover.json",
                "ten days more"
            )
        ],
        parameters: [anyName, deferredDays] + shared,
        notes: [note, AdminClient.note]
    ) { arguments, output in
        try await act(arguments[anyName], "defer", arguments, output) { body in
            body["days"] = .integer(Int64(arguments[deferredDays]))
        }
    }

    private static let refundKind = Parameter.option("--refund", "WORD", "full or prorated")
    private static let item = Parameter.option(
        "--product",
        "ID",
        "Refund this one item of several instead"
    )
    private static let revoke = Command(
        "revoke",
        summary: "end a subscription on Google Play at once and refund it",
        examples: [
            Example(
                "tideover store revoke GPA.1234-5678-9012-34567 --refund full --why \"fraud\" "
                    + "--app cards --config tideover.json",
                "end it and give the money back"
            )
        ],
        parameters: [anyName, refundKind, item] + shared,
        notes: [note, AdminClient.note]
    ) { arguments, output in
        guard arguments.has(refundKind) != arguments.has(item) else {
            throw arguments.usageError(
                arguments.has(item)
                    ? .conflict("--refund", "--product")
                    : .missingOneOf(["--refund", "--product"])
            )
        }
        return try await act(arguments[anyName], "revoke", arguments, output) { body in
            body["refund"] = arguments[refundKind].map { .string($0) }
            body["product"] = arguments[item].map { .string($0) }
        }
    }

    private static let revokes = Parameter.flag("--revokes", "End access to what it paid for too")
    private static let refund = Command(
        "refund",
        summary: "refund one order on Google Play",
        examples: [
            Example(
                "tideover store refund GPA.1234-5678-9012-34567 --why \"paid twice\" "
                    + "--app cards --config tideover.json",
                "give the money of one order back"
            )
        ],
        parameters: [order, revokes] + shared,
        notes: [note, AdminClient.note]
    ) { arguments, output in
        try await act(arguments[order], "refund", arguments, output) { body in
            body["revokes"] = .bool(arguments[revokes])
        }
    }

    // MARK: Sending

    private static func act(
        _ purchase: String,
        _ action: String,
        _ arguments: Arguments,
        _ output: Output,
        _ fill: (inout JSONObject) -> Void
    ) async throws -> ExitCode {
        var body: JSONObject = ["action": .string(action), "why": .string(arguments[why])]
        fill(&body)
        let path = "purchases/\(PercentEncoding.encode(purchase))/actions"
        return try await send(path, body, arguments, output)
    }

    private static func send(
        _ path: String,
        _ body: JSONObject,
        _ arguments: Arguments,
        _ output: Output
    ) async throws -> ExitCode {
        let asked = try AppAdminClient(arguments, output)
        var query = [try environment(asked, arguments)]
        var headers: Headers = [:]
        if arguments[dryRun] {
            query.append(QueryItem(name: "dryRun", value: "true"))
        } else {
            let key = arguments[key] ?? newKey()
            headers["Idempotency-Key"] = key
            output.message("tideover: the key of this change is \(key); --key repeats it")
        }
        let request = Request(
            method: "POST",
            path: "/v1/apps/\(asked.app.id)/\(path)",
            query: query,
            headers: headers,
            body: JSONValue.object(body).encoded()
        )
        let answer = try await asked.ask(request)
        return output.write(answer, asJSON: arguments[json]) {
            for line in lines($0) { output.print(TextLayout.visible(line)) }
            if arguments[dryRun], let request = $0["request"] {
                output.write(JSONValue(request).encoded(pretty: true) + [UInt8(ascii: "\n")])
            }
        }
    }

    private static func environment(
        _ asked: AppAdminClient,
        _ arguments: Arguments
    ) throws(CommandFailure) -> QueryItem {
        let environment = try asked.environment(arguments)
        return QueryItem(name: "environment", value: environment.rawValue)
    }

    private static func newKey() -> String {
        let bits = UInt64.random(in: .min ... .max)
        return String(bits, radix: 16)
    }

    /// Returns what was done, then what the store answered, in a line each.
    static func lines(_ answer: JSONNode) -> [String] {
        func text(_ name: String) -> String? { answer[name]?.string }
        let subject = text("lineage") ?? "all subscriptions"
        let change = "\(text("action") ?? "?") \(subject) \(text("detail") ?? "")"
        let wasSent = answer["repeated"]?.bool == true ? ", by an earlier request" : ""
        return ["\(change): \(text("outcome") ?? "?")\(wasSent)"]
            + ["effectiveDate", "requestIdentifier"].compactMap { name in
                answer["answer"]?[name]?.string.map { "\(name): \($0)" }
            }
    }
}

extension AppAdminClient {
    /// Sends a request with access to the stores. Simulated purchases need no store key for most
    /// routes.
    fileprivate func ask(_ request: Request) async throws -> JSONNode {
        try await adminClient.run(
            request,
            needsKey: app.environments != [.simulated],
            asksStores: true
        )
    }
}
