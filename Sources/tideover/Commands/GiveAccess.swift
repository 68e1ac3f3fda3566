import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

/// `tideover grant`: grants a customer access, and revokes such grants.
enum GiveAccess {
    private static let entitlement = Parameter.option(
        "--entitlement",
        "NAME",
        "An entitlement of the catalogue"
    )
    private static let product = Parameter.option(
        "--product",
        "ID",
        "A product of the catalogue, for all its entitlements"
    )
    private static let days = Parameter.option(
        "--days",
        "N",
        "How many days it lasts, from now",
        as: .integer(in: 1...3_660)
    )
    private static let until = Parameter.option(
        "--until",
        "INSTANT",
        "The time of its end, or its last day (UTC)",
        as: ValueForm<Instant>.instant(ofDay: .end)
    )
    private static let why = Parameter.requiredOption(
        "--why",
        "TEXT",
        "Why, in one line: explanations show it"
    )
    private static let revoke = Parameter.option(
        "--revoke",
        "GRANT",
        "Take back the grant of this id instead; `explain --evidence` prints it"
    )
    private static let new = Parameter.flag(
        "--new",
        "Also give it to an id without stored data"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "grant",
        summary: "give a customer access by hand",
        examples: [
            Example(
                "tideover grant u_42 --app cards --entitlement premium --days 7 "
                    + "--why \"outage of 5 May\"",
                "a week of premium, from now"
            ),
            Example(
                "tideover grant u_42 --app cards --revoke 5f0c1e9a7b3d2c4e6f8a0b1c "
                    + "--why \"given by mistake\"",
                "take it back"
            ),
        ],
        parameters: [
            CustomerQuestion.customer, AppAdminClient.app, entitlement, product, days, until, why,
            revoke, new,
            ConfigurationFile.parameter, CustomerQuestion.environment, AdminClient.server, json,
        ],
        notes: [
            "Purchases are not changed: the better of a purchase and a grant decides. The "
                + "audit keeps who gave access, why and when, and `tideover explain --evidence` "
                + "prints it.",
            AdminClient.note,
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let (path, wish) = try wish(arguments)
        let asked = try AppAdminClient(arguments, output)
        let customer = PercentEncoding.encode(segment: arguments[CustomerQuestion.customer].text)
        let environment = try asked.environment(arguments)
        let request = Request(
            method: "POST",
            path: "/v1/apps/\(asked.app.id)/customers/\(customer)/grants\(path)",
            query: [QueryItem(name: "environment", value: environment.rawValue)],
            body: JSONValue.object(wish).encoded()
        )
        let answer = try await asked.adminClient.converse { ask in
            if !arguments.has(revoke), !arguments[new] {
                try requireKnown(try await ask(request.listing), arguments)
            }
            return try await ask(request)
        }
        return output.write(answer, asJSON: arguments[json]) {
            for grant in $0["grants"]?.elements.map({ $0 }) ?? [] {
                output.print(TextLayout.visible(sentence(grant)))
            }
        }
    }

    /// Rejects unknown customers, because a mistyped id would receive access that is never used.
    private static func requireKnown(_ list: JSONNode, _ arguments: Arguments) throws {
        guard list["customerKnown"]?.bool == false else { return }
        let customer = arguments[CustomerQuestion.customer].text
        throw CommandFailure(
            .failure,
            "no data is stored of the customer \(customer), so nothing was granted\n"
                + "Check the id. If the customer is new, give the same command with --new."
        )
    }

    /// Returns the path below the customer's grants and the body of the request.
    private static func wish(_ arguments: Arguments) throws -> (path: String, body: JSONObject) {
        let reason = JSONValue.string(arguments[why])
        if let grant = arguments[revoke] {
            let others = [
                (arguments.has(entitlement), "--entitlement"),
                (arguments.has(product), "--product"),
                (arguments.has(days), "--days"), (arguments.has(until), "--until"),
            ]
            if let other = others.first(where: \.0) {
                throw arguments.usageError(.conflict("--revoke", other.1))
            }
            // `explain` prints a grant like any purchase, with the store's name.
            let prefix = "\(Store.tideover.rawValue):"
            let id = grant.hasPrefix(prefix) ? String(grant.dropFirst(prefix.count)) : grant
            return ("/\(PercentEncoding.encode(id))/revocation", ["why": reason])
        }
        guard arguments.has(entitlement) || arguments.has(product) else {
            throw arguments.usageError(.missingOneOf(["--entitlement", "--product"]))
        }
        var body: JSONObject = ["why": reason]
        body["entitlement"] = arguments[entitlement].map(JSONValue.string)
        body["product"] = arguments[product].map(JSONValue.string)
        switch (arguments[days], arguments[until]) {
        case (let count?, nil): body["days"] = .integer(Int64(count))
        case (nil, let end?): body["until"] = .string(end.rfc3339)
        case (_?, _?): throw arguments.usageError(.conflict("--days", "--until"))
        case (nil, nil): throw arguments.usageError(.missingOneOf(["--days", "--until"]))
        }
        return ("", body)
    }

    private static func sentence(_ grant: JSONNode) -> String {
        func text(_ node: JSONNode?) -> String { node?.string ?? "?" }
        let given = "grant \(text(grant["id"])) of \(text(grant["entitlement"]))"
        if let at = grant["revoked"]?["at"]?.string { return "\(given): revoked at \(at)" }
        return "\(given): until \(text(grant["end"]))"
    }
}

extension Request {
    /// The request that lists the existing grants.
    fileprivate var listing: Request { Request(path: path, query: query) }
}
