import TideoverCommandLine
import TideoverConfiguration
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverSignatures
import TideoverStorage

/// `tideover keys`: creates, lists and revokes the keys of a server.
enum Keys {
    private static let kind = Parameter.requiredOption(
        "--kind",
        "KIND",
        "public, secret, viewer or admin",
        as: ValueForm("public, secret, viewer or admin", choices: KeyKind.allCases.map(\.rawValue))
        {
            KeyKind(rawValue: $0)
        }
    )
    private static let apps = Parameter.repeatedOption(
        "--app",
        "ID",
        "An app that the key gives access to; all if none is named"
    )
    private static let name = Parameter.option("--name", "TEXT", "A name for the list")
    private static let id = Parameter.argument(
        "ID",
        "The key's id, as `tideover keys list` shows it"
    )
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "keys",
        summary: "create, list and revoke API keys; create a key for passes",
        examples: [
            Example(
                "tideover keys add --kind secret --app cards",
                "a key for the back end of one app"
            )
        ],
        notes: [
            "A public key is built into an app and reads what a customer may use. A secret "
                + "key is for an app's back end, and also explains. A viewer key is for a person "
                + "who looks at the dashboard: it reads the same and changes nothing. An admin key "
                + "gives access to all apps and to the keys."
        ],
        subcommands: [add, list, revoke, pass]
    )

    // MARK: add

    private static let add = Command(
        "add",
        summary: "create a key and print it once",
        examples: [
            Example(
                "tideover keys add --kind secret --app cards",
                "a key for the back end of one app"
            ),
            Example(
                "tideover keys add --kind public --app cards --name \"iOS 2.0\" --config my.json",
                "a key to build into an app"
            ),
        ],
        parameters: [kind, apps, name, ConfigurationFile.parameter, AdminClient.server, json],
        notes: [
            "Only the key is written to standard output. The server stores only its digest, "
                + "so create another one if you lose it.",
            AdminClient.note,
        ]
    ) { arguments, output in
        if arguments[kind] == .admin, arguments.has(apps) {
            throw arguments.usageError(.conflict("--kind admin", "--app"))
        }
        let wish: JSONValue = [
            "kind": .string(arguments[kind].rawValue),
            "apps": .array(arguments[apps].map(JSONValue.string)),
            "name": .string(arguments[name] ?? ""),
        ]
        let made = try await run(
            Request(method: "POST", path: "/v1/keys", body: wish.encoded()),
            arguments,
            output,
            makesDatabase: true
        )
        output.message("tideover: added \(words(for: made)); it is shown only now")
        return output.write(made, asJSON: arguments[json]) { output.print($0["key"]?.string ?? "") }
    }

    // MARK: list

    private static let list = Command(
        "list",
        summary: "list all keys, revoked ones too",
        examples: [Example("tideover keys list", "the keys that the server accepts")],
        parameters: [ConfigurationFile.parameter, AdminClient.server, json],
        notes: [
            "The key in the file that server.adminKeyFile names is not stored, and not listed.",
            AdminClient.note,
        ]
    ) { arguments, output in
        let listed = try await run(Request(path: "/v1/keys"), arguments, output)
        return output.write(listed, asJSON: arguments[json]) { print($0["keys"], output) }
    }

    private static func print(_ keys: JSONNode?, _ output: Output) {
        guard let keys, keys.count > 0 else {
            output.message("tideover: there are no keys; create one with `tideover keys add`")
            return
        }
        var table = Table([
            .init("id"), .init("kind"), .init("apps"), .init("made (UTC)"), .init("revoked (UTC)"),
            .init("name"),
        ])
        for key in keys.elements {
            table.add(
                .init(text(key["id"])),
                .init(text(key["kind"])),
                .init(apps(of: key)),
                .init(minute(key["createdAt"])),
                .init(minute(key["revokedAt"]), .caution),
                .init(text(key["name"]))
            )
        }
        output.print(table)
    }

    // MARK: revoke

    private static let revoke = Command(
        "revoke",
        summary: "revoke a key permanently",
        examples: [
            Example(
                "tideover keys revoke 1j5k2m9p0q3r",
                "reject this key from now on"
            )
        ],
        parameters: [id, ConfigurationFile.parameter, AdminClient.server, json],
        notes: ["The server then rejects it like an unknown key.", AdminClient.note]
    ) { arguments, output in
        guard APIKey(arguments[id]) == nil else {
            throw CommandFailure(
                .usage,
                "this is a key, not its id; it is in your shell's history now\nRevoke it by "
                    + "its id from `tideover keys list`."
            )
        }
        let path = "/v1/keys/\(PercentEncoding.encode(arguments[id]))"
        let revoked = try await run(Request(method: "DELETE", path: path), arguments, output)
        output.message("tideover: revoked \(words(for: revoked))")
        return output.write(revoked, asJSON: arguments[json]) { _ in }
    }

    // MARK: pass

    private static let pass = Command(
        "pass",
        summary: "create a key that signs passes and print it once",
        examples: [
            Example(
                "(umask 077; tideover keys pass > pass-key.pem)",
                "a key in a file for you alone, to be named as pass.keyFile"
            )
        ],
        parameters: [json],
        notes: [
            "Only the private key is written to standard output, in PEM; it is not stored. "
                + "Write it into the file that pass.keyFile of the configuration names. Devices "
                + "get the public key from GET /v1/apps/{app}/pass-keys.",
            "To rotate keys, first name the new one in pass.otherKeyFiles, so that devices "
                + "receive it. Then exchange it with the old one. Remove the old one a week later, "
                + "when its last pass has expired.",
        ]
    ) { arguments, output in
        let key = Ed25519PrivateKey.generate()
        let id = key.publicKey.thumbprint
        output.message("tideover: created the pass key \(id); it is shown only now")
        if arguments[json] {
            let made: JSONValue = [
                "id": .string(id), "privateKey": .string(key.pem),
                "publicKey": .string(key.publicKey.pem),
            ]
            output.write(made.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            output.write(Array(key.pem.utf8))
        }
        return .success
    }

    // MARK: All of them

    private static func run(
        _ request: Request,
        _ arguments: Arguments,
        _ output: Output,
        makesDatabase: Bool = false
    ) async throws -> JSONNode {
        let path = try ConfigurationFile.path(arguments)
        let configuration = try ConfigurationFile.load(path, arguments, telling: output)
        let adminClient = AdminClient(
            configuration,
            path,
            server: arguments[AdminClient.server],
            output
        )
        return try await adminClient.run(request, makesDatabase: makesDatabase)
    }

    private static func words(for key: JSONNode) -> String {
        TextLayout.visible("the \(text(key["kind"])) key \(text(key["id"])) for \(apps(of: key))")
    }

    private static func apps(of key: JSONNode) -> String {
        let apps = key["apps"]?.elements.compactMap(\.string) ?? []
        return apps.isEmpty ? "all apps" : apps.joined(separator: ", ")
    }

    private static func minute(_ instant: JSONNode?) -> String {
        let text = text(instant)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }

    private static func text(_ node: JSONNode?) -> String { node?.string ?? "" }
}
