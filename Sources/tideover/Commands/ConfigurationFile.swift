import TideoverCommandLine
import TideoverConfiguration
import TideoverDoctor
import TideoverServer

/// Finds and loads a command's configuration file.
enum ConfigurationFile {
    static let parameter = Parameter.option(
        "--config",
        "FILE",
        "The configuration file, instead of the one found"
    )
    static let variable = "TIDEOVER_CONFIG"
    /// Default paths of the configuration, in search order.
    static let places = ["tideover.json", "/etc/tideover/tideover.json"]

    /// Returns the configuration's path: `--config`, else the variable, else the first existing
    /// default.
    static func path(_ arguments: Arguments) throws(CommandFailure) -> String {
        if let found = find(arguments) { return found }
        throw CommandFailure(
            .configuration,
            "no configuration file: neither ./\(places.joined(separator: " nor ")) exists\n"
                + "Name one with --config or \(variable), or create one with `tideover init`."
        )
    }

    /// Returns the configuration's path; nil if there is none.
    static func find(_ arguments: Arguments) -> String? {
        find(
            named: arguments[parameter],
            byVariable: arguments.variables[variable],
            exists: SystemReadings.mayExist
        )
    }

    static func find(
        named: String?,
        byVariable variable: String?,
        exists: (String) -> Bool
    ) -> String? {
        if let named { return named }
        if let variable, !variable.isEmpty { return variable }
        return places.first(where: exists)
    }

    /// Loads and validates the file, the variables and the command line's `arguments`. Prints
    /// settings without effect to stderr.
    static func load(
        _ path: String,
        _ arguments: Arguments,
        telling output: Output
    ) throws -> Configuration {
        try load(path, variables: arguments.variables, telling: output)
    }

    /// Loads and validates the file with the given variables. Only those that begin with
    /// `TIDEOVER_` apply.
    static func load(
        _ path: String,
        variables: [String: String],
        telling output: Output
    ) throws -> Configuration {
        let text = try text(of: path)
        let configuration = try checked { () throws(ConfigurationProblems) in
            try Configuration.load(
                file: path,
                text: text,
                environment: variables,
                readFile: readFile
            )
        }
        tell(configuration.notices, output)
        return configuration
    }

    /// Loads and validates the file. Also returns the source of each setting.
    static func loadWithSettings(
        _ path: String,
        _ arguments: Arguments
    ) throws -> (configuration: Configuration, settings: [Configuration.Setting]) {
        let text = try text(of: path)
        return try checked { () throws(ConfigurationProblems) in
            try Configuration.loadWithSettings(
                file: path,
                text: text,
                environment: arguments.variables,
                readFile: readFile
            )
        }
    }

    /// Rejects secret files that other users can read, unless the configuration allows it. Skips
    /// missing files: the code that opens them reports those.
    static func requireClosedSecrets(of configuration: Configuration) throws(CommandFailure) {
        guard !configuration.server.allowsReadableSecrets else { return }
        let files = configuration.secretFiles { path in
            let bytes = (try? readFile(path)) ?? []
            return String(decoding: bytes, as: UTF8.self).contains("PRIVATE KEY")
        }
        let open = files.compactMap { file -> String? in
            guard case .readable(let rights) = SystemReadings.file(file.path), rights & 0o077 != 0
            else { return nil }
            let mode = "0" + String(rights, radix: 8)
            return "\(file.key): \(file.path) has mode \(mode) and holds a secret"
        }
        guard !open.isEmpty else { return }
        throw CommandFailure(
            .configuration,
            open.joined(separator: "\n")
                + "\nOnly the owner may have access: chmod go= FILE. Where modes are not yours to set, "
                + "set server.allowReadableSecrets to true."
        )
    }

    /// Returns the admin key that a server accepts and commands send; nil if none is configured.
    static func adminKey(of configuration: Configuration) throws(CommandFailure) -> APIKey? {
        do {
            return try configuration.server.adminKey(readFile: readFile)
        } catch {
            throw CommandFailure(.configuration, "server.adminKeyFile: \(error)")
        }
    }

    /// Returns the issuer of passes; nil if no key is configured.
    static func passes(of configuration: Configuration) throws(CommandFailure) -> PassIssuer? {
        do {
            return try openPasses(of: configuration)?.get()
        } catch {
            throw CommandFailure(.configuration, "pass: \(error)")
        }
    }

    /// Returns the issuer of passes, or the key's error as a result; nil if no key is configured.
    static func openPasses(
        of configuration: Configuration
    ) -> Result<PassIssuer, UnusablePassKey>? {
        configuration.pass.map { pass in
            Result { () throws(UnusablePassKey) in try pass.open(readFile: readFile) }
        }
    }

    private static func text(of path: String) throws(FileInputError) -> [UInt8] {
        try FileInput.read(path, atMost: 16 << 20)
    }

    private static func readFile(_ path: String) throws(FileInputError) -> [UInt8] {
        try FileInput.read(path, atMost: 1 << 20)
    }

    private static func checked<Loaded>(
        _ load: () throws(ConfigurationProblems) -> Loaded
    ) throws(CommandFailure) -> Loaded {
        do {
            return try load()
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    static func tell(_ notices: [String], _ output: Output) {
        for notice in notices { output.message("tideover: \(notice)") }
    }

    /// The app of an id, or the only one if no id is given.
    static func app(
        _ id: String?,
        of configuration: Configuration,
        _ path: String
    ) throws(CommandFailure) -> Configuration.App {
        let known = configuration.apps.map(\.id).joined(separator: ", ")
        guard let id else {
            if let only = configuration.apps.first, configuration.apps.count == 1 { return only }
            throw CommandFailure(
                .usage,
                "\(path) has several apps: \(known)\nName one with --app."
            )
        }
        guard let app = configuration.app(id) else {
            throw CommandFailure(
                .configuration,
                "\(path) has no app \(TextLayout.visible(id))\nIt has: \(known)"
            )
        }
        return app
    }
}
