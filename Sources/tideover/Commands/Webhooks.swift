import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverStorage

/// `tideover webhooks`: manages the receivers of events.
enum Webhooks {
    private static let id = Parameter.argument("ID", "The webhook's id, as `list` shows it")
    private static let url = Parameter.argument("URL", "The receiver's URL, with https")
    private static let events = Parameter.repeatedOption(
        "--event",
        "KIND",
        "A kind of event, or the beginning of kinds and *; all if none is named"
    )
    private static let environments = Parameter.repeatedOption(
        "--environment",
        "NAME",
        "production, sandbox or simulated; all if none is named",
        as: ValueForm<NamedEnvironment>.choice
    )
    private static let format = Parameter.option(
        "--format",
        "FORMAT",
        "The form of the messages: tideover or revenuecat"
    )
    private static let authorization = Parameter.option(
        "--authorization-file",
        "FILE",
        "A file with the value of each message's Authorization header"
    )
    private static let event = Parameter.option("--event", "ID", "The id of one event")
    private static let from = Parameter.option(
        "--from",
        "INSTANT",
        "Events since this time or day",
        as: ValueForm<Instant>.instant(ofDay: .start)
    )
    private static let to = Parameter.option(
        "--to",
        "INSTANT",
        "Events before the end of this day, or before this time",
        as: ValueForm<Instant>.instant(ofDay: .end)
    )
    private static let signing = Parameter.flag(
        "--asymmetric",
        "Create a private key (whsk_) for signatures v1a"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")
    private static let common =
        [
            AppAdminClient.app, ConfigurationFile.parameter, AdminClient.server, json,
        ] as [any DeclaredParameter]

    static let command = Command(
        "webhooks",
        summary: "send events to your own servers: list, add, remove, test, replay",
        examples: [
            Example("tideover webhooks add https://example.com/hooks", "send all events there")
        ],
        notes: ["docs/webhooks.md describes the messages and how to verify them."],
        subcommands: [list, add, remove, test, attempts, replay, disable, enable, secret]
    )

    // MARK: list

    private static let list = Command(
        "list",
        summary: "list an app's webhooks and their state",
        examples: [Example("tideover webhooks list", "see which receivers fail")],
        parameters: common,
        notes: [AdminClient.note]
    ) { arguments, output in
        let asked = try AppAdminClient(arguments, output)
        let listed = try await run(asked, "GET", "")
        for webhook in listed["webhooks"]?.elements.map({ $0 }) ?? [] {
            noteUnserved(webhook, asked.app, output)
        }
        return output.write(listed, asJSON: arguments[json]) { print($0["webhooks"], output) }
    }

    private static func print(_ webhooks: JSONNode?, _ output: Output) {
        guard let webhooks, webhooks.count > 0 else {
            output.message("tideover: there are no webhooks; `tideover webhooks add` adds one")
            return
        }
        var table = Table([
            .init("id"), .init("receiver"), .init("events"), .init("environments"),
            .init("state"), .init("waiting"),
        ])
        for webhook in webhooks.elements {
            let events = webhook["events"]?.elements.compactMap(\.string) ?? []
            let environments = webhook["environments"]?.elements.compactMap(\.string) ?? []
            table.add(
                .init(text(webhook["id"])),
                .init(text(webhook["url"])),
                .init(events.joined(separator: ", ")),
                .init(environments.isEmpty ? "all" : environments.joined(separator: ", ")),
                state(of: webhook),
                .init("\(webhook["waiting"]?.int64 ?? 0)")
            )
        }
        output.print(table)
    }

    private static func state(of webhook: JSONNode) -> Table.Cell {
        if let reason = webhook["disabled"]?.string {
            return .init("disabled: \(reason)", .caution)
        }
        if let since = webhook["failingSince"]?.string {
            return .init("failing since \(since)", .caution)
        }
        return "active"
    }

    // MARK: add

    private static let add = Command(
        "add",
        summary: "add a receiver and print its secret, this once",
        examples: [
            Example("tideover webhooks add https://example.com/hooks", "send all events there"),
            Example(
                "tideover webhooks add https://example.com/refunds --event \"refund*\"",
                "send only events about refunds"
            ),
            Example(
                "tideover webhooks add https://example.com/hooks --environment production",
                "send no events about testers' purchases"
            ),
            Example(
                "tideover webhooks add https://example.com/rc --format revenuecat",
                "send events in RevenueCat's form"
            ),
        ],
        parameters: [url, events, environments, format, authorization] + common,
        notes: [
            "It receives the events from now on; `replay` sends earlier ones. The secret alone is "
                + "written to standard output. A receiver in a private network is set in the "
                + "configuration, with `allowNetworks`.",
            AdminClient.note,
        ]
    ) { arguments, output in
        var wish: JSONObject = ["url": .string(arguments[url])]
        if arguments.has(events) {
            wish["events"] = .array(arguments[events].map(JSONValue.string))
        }
        if arguments.has(environments) {
            wish["environments"] = .array(
                arguments[environments].map { JSONValue.string($0.environment.rawValue) }
            )
        }
        wish["format"] = arguments[format].map(JSONValue.string)
        wish["authorization"] = try arguments[authorization].map { .string(try line(of: $0)) }
        let asked = try AppAdminClient(arguments, output)
        let added = try await run(asked, "POST", "", body: .object(wish))
        output.message("tideover: added the webhook \(text(added["id"])); the secret is shown once")
        for pattern in WebhookFilter(arguments[events])?.unmatched ?? [] {
            output.message(
                "tideover: no event of this version is of the kind "
                    + "\(TextLayout.visible(pattern)); docs/events.md lists the kinds"
            )
        }
        noteUnserved(added, asked.app, output)
        return output.write(added, asJSON: arguments[json]) { output.print(text($0["secret"])) }
    }

    /// Writes which environments of a webhook the app does not serve.
    private static func noteUnserved(
        _ webhook: JSONNode,
        _ app: Configuration.App,
        _ output: Output
    ) {
        let unserved = app.unserved(inWebhook: webhook)
        guard !unserved.isEmpty else { return }
        output.message(
            "tideover: the webhook \(text(webhook["id"])) gets no events of "
                + "\(unserved.joined(separator: ", ")), which the app \(app.id) does not serve"
        )
    }

    /// Returns the single line of a file.
    private static func line(of file: String) throws -> String {
        let text = String(decoding: try FileInput.read(file, atMost: 1 << 12), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.count == 1, let line = lines.first else {
            throw CommandFailure(.data, "\(file): the file must have one line of text")
        }
        return String(line)
    }

    // MARK: remove

    private static let remove = Command(
        "remove",
        summary: "delete an added receiver with its secret and its waiting events",
        examples: [Example("tideover webhooks remove ID", "delete the receiver that `add` made")],
        parameters: [id] + common,
        notes: [
            "A receiver of the configuration is removed there, under `webhooks`.", AdminClient.note,
        ]
    ) { arguments, output in
        let removed = try await run("DELETE", "", of: arguments[id], arguments, output)
        output.message("tideover: removed the webhook \(arguments[id])")
        return output.write(removed, asJSON: arguments[json]) { _ in }
    }

    // MARK: test

    private static let test = Command(
        "test",
        summary: "send a test message and show the receiver's response",
        examples: [Example("tideover webhooks test hooks", "check the receiver `hooks`")],
        parameters: [id] + common,
        notes: ["It needs a running server, which sends the message.", AdminClient.note]
    ) { arguments, output in
        let asked = try AppAdminClient(arguments, output)
        let request = Request(method: "POST", path: path(asked, of: arguments[id], "/test"))
        let answer = try await asked.adminClient.runOnServer(request)
        let status = answer["status"]?.int64.map { "status \($0)" } ?? text(answer["detail"])
        let isDelivered = answer["delivered"]?.bool ?? false
        _ = output.write(answer, asJSON: arguments[json]) { _ in
            output.print(
                TextLayout.visible(isDelivered ? "delivered: \(status)" : "failed: \(status)")
            )
        }
        return isDelivered ? .success : .unavailable
    }

    // MARK: attempts

    private static let attempts = Command(
        "attempts",
        summary: "list the latest attempts to deliver to a receiver",
        examples: [Example("tideover webhooks attempts hooks", "see why deliveries fail")],
        parameters: [id] + common,
        notes: [
            "Attempts are kept for 30 days. Test messages are not among them: `test` shows the "
                + "response at once.",
            AdminClient.note,
        ]
    ) { arguments, output in
        let found = try await run("GET", "/attempts", of: arguments[id], arguments, output)
        return output.write(found, asJSON: arguments[json]) { answer in
            var table = Table([
                .init("at"), .init("event"), .init("attempt"), .init("outcome"), .init("response"),
            ])
            for attempt in answer["attempts"]?.elements.map({ $0 }) ?? [] {
                let status = attempt["status"]?.int64.map { "\($0)" }
                table.add(
                    .init(text(attempt["at"])),
                    .init(text(attempt["event"])),
                    .init("\(attempt["attempt"]?.int64 ?? 0)"),
                    .init(text(attempt["outcome"])),
                    .init(status ?? text(attempt["detail"]))
                )
            }
            output.print(table)
            if table.isEmpty { output.message("tideover: no delivery was attempted yet") }
        }
    }

    // MARK: replay

    private static let replay = Command(
        "replay",
        summary: "send stored events again",
        examples: [
            Example(
                "tideover webhooks replay hooks --from 2026-11-24",
                "send the events since that day again"
            )
        ],
        parameters: [id, event, from, to] + common,
        notes: [
            "Each event keeps its id, so that a receiver can ignore those it knows. Times are those "
                + "at which the server stored the events. Those for a disabled receiver wait until "
                + "it is enabled.",
            AdminClient.note,
        ]
    ) { arguments, output in
        if arguments.has(event), arguments.has(from) {
            throw arguments.usageError(.conflict("--event", "--from"))
        }
        guard arguments.has(event) || arguments.has(from) else {
            throw arguments.usageError(.missingOneOf(["--event", "--from"]))
        }
        var range: JSONObject = [:]
        range["event"] = arguments[event].map(JSONValue.string)
        range["from"] = arguments[from].map { .string($0.rfc3339) }
        range["to"] = arguments[to].map { .string($0.rfc3339) }
        let asked = try AppAdminClient(arguments, output)
        // Read first: after a failure nothing was queued.
        let listed = try await run(asked, "GET", "")["webhooks"]?.elements.map { $0 } ?? []
        let webhook = listed.first { $0["id"]?.string == arguments[id] }
        var queued: Int64 = 0
        repeat {
            let answer = try await run(
                asked,
                "POST",
                "/replay",
                of: arguments[id],
                body: .object(range)
            )
            queued += answer["queued"]?.int64 ?? 0
            range["from"] = nil
            range["after"] = answer["next"]?.string.map(JSONValue.string)
        } while range["after"] != nil
        let events = TextLayout.counted(queued, "event")
        if webhook?["disabled"]?.string == nil {
            output.message("tideover: \(events) will be sent again")
        } else {
            output.message(
                "tideover: \(events) will be sent again once the webhook is enabled; it is "
                    + "disabled, and `tideover webhooks enable \(arguments[id])` enables it"
            )
        }
        if arguments[json] {
            let total: JSONValue = ["queued": .integer(queued), "next": .null]
            output.write(total.encoded(pretty: true) + [UInt8(ascii: "\n")])
        }
        return .success
    }

    // MARK: disable, enable

    private static let disable = Command(
        "disable",
        summary: "stop delivering to a receiver",
        examples: [Example("tideover webhooks disable hooks", "pause the receiver `hooks`")],
        parameters: [id] + common,
        notes: ["Events wait until it is enabled again.", AdminClient.note]
    ) { arguments, output in
        let changed = try await run("POST", "/disable", of: arguments[id], arguments, output)
        output.message("tideover: disabled the webhook \(arguments[id])")
        return output.write(changed, asJSON: arguments[json]) { _ in }
    }

    private static let enable = Command(
        "enable",
        summary: "deliver to a receiver again",
        examples: [Example("tideover webhooks enable hooks", "resume the receiver `hooks`")],
        parameters: [id] + common,
        notes: [AdminClient.note]
    ) { arguments, output in
        let changed = try await run("POST", "/enable", of: arguments[id], arguments, output)
        output.message("tideover: enabled the webhook \(arguments[id])")
        return output.write(changed, asJSON: arguments[json]) { _ in }
    }

    // MARK: secret

    private static let secret = Command(
        "secret",
        summary: "create a secret for a configured webhook and print it",
        examples: [
            Example(
                "(umask 077; tideover webhooks secret > whsec.txt)",
                "a file for webhooks[].secretFile"
            )
        ],
        parameters: [signing],
        notes: [
            "With --asymmetric it creates a key for webhooks[].signingKeyFile, and shows the public "
                + "key (whpk_) for receivers."
        ]
    ) { arguments, output in
        guard arguments[signing] else {
            output.print(WebhookSecret { .random(in: .min ... .max) }.text)
            return .success
        }
        let key = WebhookSigningKey { .random(in: .min ... .max) }
        output.message("tideover: the public key is \(key.publicText)")
        output.print(key.text)
        return .success
    }

    // MARK: All of them

    private static func run(
        _ method: String,
        _ action: String,
        of id: String? = nil,
        _ arguments: Arguments,
        _ output: Output,
        body: JSONValue? = nil
    ) async throws -> JSONNode {
        try await run(try AppAdminClient(arguments, output), method, action, of: id, body: body)
    }

    private static func run(
        _ asked: AppAdminClient,
        _ method: String,
        _ action: String,
        of id: String? = nil,
        body: JSONValue? = nil
    ) async throws -> JSONNode {
        try await asked.adminClient.run(
            Request(
                method: method,
                path: path(asked, of: id, action),
                body: body?.encoded() ?? []
            ),
            makesDatabase: method == "POST" && id == nil
        )
    }

    private static func path(_ asked: AppAdminClient, of id: String?, _ action: String) -> String {
        let name = id.map { "/\(PercentEncoding.encode($0))" } ?? ""
        return "/v1/apps/\(asked.app.id)/webhooks\(name)\(action)"
    }

    private static func text(_ node: JSONNode?) -> String { node?.string ?? "" }
}
