import TideoverCommandLine
import TideoverServer

/// The configuration file of a command: the one named, or the first one found.
enum ConfigurationFile {
    static let parameter = Parameter.option(
        "--config",
        "FILE",
        "The configuration file, instead of the one found"
    )
    static let variable = "TIDEOVER_CONFIG"
    /// Where a configuration is looked for if none is named, in this order.
    static let places = ["tideover.json", "/etc/tideover/tideover.json"]

    /// The path of the configuration: `--config`, else the variable, else the first file found.
    static func path(_ arguments: Arguments) throws(CommandFailure) -> String {
        if let found = find(arguments) { return found }
        throw CommandFailure(
            .configuration,
            "no configuration file: neither ./\(places.joined(separator: " nor ")) exists\n"
                + "Name one with --config or \(variable), or create one with `tideover init`."
        )
    }

    /// The same; nil if there is none.
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

    /// Reads and checks the file, and the variables beside a command line's `arguments`; tells on stderr what
    /// is set in it without effect.
    static func load(
        _ path: String,
        _ arguments: Arguments,
        telling output: Output
    ) throws -> Configuration {
        try load(path, variables: arguments.variables, telling: output)
    }

    /// The same with these variables, of which those count that begin with `TIDEOVER_`.
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

    /// Reads and checks the file, and tells who said what.
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

    /// Refuses files with secrets that others than their owner may open, unless the configuration allows
    /// them. A file that is not there is for whoever opens it to report.
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

    /// The admin key that a server accepts and commands present; nil if the configuration names none.
    static func adminKey(of configuration: Configuration) throws(CommandFailure) -> APIKey? {
        do {
            return try configuration.server.adminKey(readFile: readFile)
        } catch {
            throw CommandFailure(.configuration, "server.adminKeyFile: \(error)")
        }
    }

    /// Who signs passes; nil if the configuration names no key.
    static func passes(of configuration: Configuration) throws(CommandFailure) -> PassIssuer? {
        do {
            return try openPasses(of: configuration)?.get()
        } catch {
            throw CommandFailure(.configuration, "pass: \(error)")
        }
    }

    /// The same, with what is wrong with a key as a result.
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
            throw CommandFailure(.configuration, "\(path) has no app \(id)\nIt has: \(known)")
        }
        return app
    }
}
