import TideoverCommandLine
import TideoverConfiguration
import TideoverJSON
import TideoverServer

/// `tideover config`: prints the effective settings and their sources.
enum Config {
    private static let json = Parameter.flag("--json", "Write one JSON object")

    static let command = Command(
        "config",
        summary: "show the effective configuration and the source of each value",
        examples: [
            Example(
                "tideover config",
                "every value, from the file, a variable or the defaults"
            ),
            Example(
                "tideover config --json",
                "the same for machines, with the variable that would set each value"
            ),
        ],
        parameters: [ConfigurationFile.parameter, json],
        notes: [
            "Values without a default that are not set are left out. For secrets only the "
                + "file names are shown. URLs are shown without users and queries, those of "
                + "webhooks without paths.",
            "Exit code 0 if the configuration is valid, else 78. Files with secrets are not "
                + "opened; `tideover doctor` reads them as `tideover serve` does.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let path = try ConfigurationFile.path(arguments)
        let (configuration, settings) = try ConfigurationFile.loadWithSettings(path, arguments)
        if arguments[json] {
            let document = document(path, settings, notices: configuration.notices)
            output.write(document.encoded(pretty: true) + [UInt8(ascii: "\n")])
        } else {
            output.print(table(settings))
            ConfigurationFile.tell(configuration.notices, output)
        }
        return .success
    }

    private static func table(_ settings: [Configuration.Setting]) -> Table {
        var table = Table([Table.Column("setting"), Table.Column("from"), Table.Column("value")])
        for setting in settings {
            let text = setting.text
            table.add(
                Table.Cell(setting.path),
                Table.Cell(source(of: setting), .quiet),
                Table.Cell(text.isEmpty ? "(none)" : text)
            )
        }
        return table
    }

    private static func source(of setting: Configuration.Setting) -> String {
        switch setting.place {
        case .file(_, let line, _): "line \(line)"
        case .variable(let name): name
        case nil: "default"
        }
    }

    private static func document(
        _ path: String,
        _ settings: [Configuration.Setting],
        notices: [String]
    ) -> JSONValue {
        [
            "file": .string(path),
            "settings": .array(settings.map(object)),
            "notices": .array(notices.map { .string($0) }),
        ]
    }

    private static func object(_ setting: Configuration.Setting) -> JSONValue {
        var object: JSONObject = ["path": .string(setting.path), "value": setting.value]
        switch setting.place {
        case .file(_, let line, let column):
            object["source"] = "file"
            object["line"] = .integer(Int64(line))
            object["column"] = .integer(Int64(column))
        case .variable: object["source"] = "variable"
        case nil: object["source"] = "default"
        }
        object["variable"] = setting.variable.map { .string($0) }
        return .object(object)
    }
}
