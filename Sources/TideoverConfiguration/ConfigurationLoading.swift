package import TideoverCore
import TideoverJSON

extension Configuration {
    /// Reads a configuration from the text of its file and from the environment, which overrides
    /// the file.
    ///
    /// Paths in the file are relative to its folder. Paths in the result are relative to the same
    /// folder as `file`.
    ///
    /// - Parameters:
    ///   - file: the path of the file, used in messages and to resolve relative paths.
    ///   - text: the content of the file; JSON5, as far as `JSONDocument` supports it.
    ///   - environment: the variables of the process; those without the prefix `TIDEOVER_` are
    ///     ignored.
    ///   - readFile: returns the bytes of a file that the configuration names.
    /// - Returns: the validated configuration, with its notices.
    /// - Throws: all problems at once.
    package static func load(
        file: String,
        text: [UInt8],
        environment: [String: String],
        readFile: (String) throws -> [UInt8]
    ) throws(ConfigurationProblems) -> Configuration {
        try read(file, text, environment, readFile).configuration
    }

    /// Does the same, and also returns each effective value with its origin, in the order of the
    /// schema.
    package static func loadWithSettings(
        file: String,
        text: [UInt8],
        environment: [String: String],
        readFile: (String) throws -> [UInt8]
    ) throws(ConfigurationProblems) -> (configuration: Configuration, settings: [Setting]) {
        let (configuration, reading) = try read(file, text, environment, readFile)
        return (configuration, reading.records.map { $0.setting(in: file) })
    }

    /// Reads a policy, in the form of `policy` of an app, from its text. Problems have the place
    /// `name`.
    ///
    /// - Throws: all problems at once.
    package static func policy(
        _ text: [UInt8],
        of catalogue: Catalogue,
        named name: String = "policy"
    ) throws(ConfigurationProblems) -> Policy {
        let document: JSONDocument
        do {
            document = try JSONDocument(text, syntax: .relaxed)
        } catch {
            throw ConfigurationProblems(notDocument: error, file: name)
        }
        let reading = ConfigurationReading(file: name, environment: [:])
        let section = ConfigurationSection(
            document.root,
            path: "",
            variable: nil,
            source: .node(document.root),
            parent: nil,
            reading: reading
        )
        let policy = section.readPolicy(of: catalogue)
        guard reading.problems.isEmpty else { throw ConfigurationProblems(of: reading) }
        return policy
    }

    /// Resolves the path of a file that a configuration names against the configuration's folder.
    package static func path(of file: String, besides configuration: String) -> String {
        ConfigurationFolder(ofFile: configuration).path(of: file)
    }

    private static func read(
        _ file: String,
        _ text: [UInt8],
        _ environment: [String: String],
        _ readFile: ConfigurationFileReader
    ) throws(ConfigurationProblems) -> (configuration: Configuration, reading: ConfigurationReading)
    {
        let document: JSONDocument
        do {
            document = try JSONDocument(text, syntax: .relaxed, limits: .local)
        } catch {
            throw ConfigurationProblems(notDocument: error, file: file)
        }
        let reading = ConfigurationReading(file: file, environment: environment)
        var configuration = reading.read(document.root, readFile)
        guard reading.problems.isEmpty else { throw ConfigurationProblems(of: reading) }
        let settings = reading.records.map { $0.setting(in: file) }
        configuration.fingerprint = configuration.fingerprint(of: settings)
        return (configuration, reading)
    }
}

extension ConfigurationReading {
    fileprivate func read(
        _ node: JSONNode,
        _ readFile: ConfigurationFileReader
    ) -> Configuration {
        let root = ConfigurationSection(
            node,
            path: "",
            variable: ConfigurationVariable.prefix,
            source: .node(node),
            parent: nil,
            reading: self
        )
        let folder = ConfigurationFolder(ofFile: file)
        let server = root.section("server").readServer(in: folder)
        let storage = root.value("storage", .storage, default: "sqlite:tideover.db")
        let replica = root.readReplica(of: storage)
        let retention = root.section("retention").readRetention()
        let apps = root.readApps(in: folder, readFile)
        let pass = root.section("pass").readPass(in: folder)
        let webhooks = root.readWebhooks(of: apps, in: folder)
        let isDashboardEnabled = root.section("dashboard").readDashboard()
        root.close()
        noteUnknownVariables()
        return Configuration(
            server: server,
            storage: storage.resolved(in: folder),
            replica: replica,
            apps: apps,
            retention: retention,
            pass: pass,
            webhooks: webhooks,
            isDashboardEnabled: isDashboardEnabled,
            notices: notices.map(\.description)
        )
    }
}

extension Configuration.StorageLocation {
    fileprivate func resolved(in folder: ConfigurationFolder) -> Self {
        switch self {
        case .sqlite(let path): .sqlite(path: folder.path(of: path))
        case .postgres: self
        }
    }
}

extension ConfigurationProblems {
    fileprivate init(notDocument error: JSONError, file: String) {
        let place = ConfigurationProblem.Place.file(
            name: file,
            line: error.line,
            column: error.column
        )
        problems = [ConfigurationProblem(place: place, path: "", reason: .syntax(error.reason))]
        notices = []
    }

    fileprivate init(of reading: ConfigurationReading) {
        problems = reading.problems.sorted { $0.order < $1.order }
        notices = reading.notices.map(\.description)
    }
}

extension ConfigurationProblem {
    /// Orders problems by position in the file, then by variable.
    fileprivate var order: (Int, Int, String, String) {
        switch place {
        case .file(_, let line, let column): (line, column, "", path)
        case .variable(let name): (.max, .max, name, path)
        }
    }
}

/// The folder of the configuration file, which relative paths start at.
struct ConfigurationFolder {
    private let prefix: Substring

    init(ofFile file: String) {
        prefix = file.lastIndex(of: "/").map { file[...$0] } ?? ""
    }

    func path(of path: String) -> String {
        path.hasPrefix("/") ? path : prefix + path
    }
}
