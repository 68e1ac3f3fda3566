import Glibc
import TideoverSandbox
import TideoverSignatures

/// The files of a server under trial: a folder with its configuration, the root of a trusted
/// simulated store, and its database.
struct Site: Sendable {
    static let app = "trials"
    static let notifications = "/v1/apps/trials/notifications/app-store"

    /// The server's access to the store.
    struct API {
        let url: String
        let issuerId: String
        let keyId: String
        let key: P256PrivateKey
    }

    /// The settings of a server that other machines can reach.
    struct Exposure {
        /// The address it listens on.
        let address: String
        /// The key for every route. With it, reads and reconciles need a key.
        let adminKey: String
    }

    let folder: String
    let authority: SandboxAuthority
    let configuration: String
    let database: String
    /// The address of a PostgreSQL database in its place.
    private let postgres: String?

    /// Writes the files. The database may be in another folder, or in a PostgreSQL. Without an API, the server cannot
    /// query the store. Without an exposure, it listens on loopback and needs no key.
    init(
        folder: String,
        database: String? = nil,
        postgres: String? = nil,
        authority: SandboxAuthority? = nil,
        api: API? = nil,
        exposure: Exposure? = nil
    ) throws {
        self.folder = folder
        self.database = database ?? "\(folder)/tideover.db"
        self.postgres = postgres
        configuration = "\(folder)/tideover.json"
        self.authority = try authority ?? SandboxAuthority()
        try writeFile(self.authority.root, to: "\(folder)/root.der")
        if let api { try writeFile(Array(api.key.pem.utf8), to: "\(folder)/key.p8") }
        if let exposure { try writeFile(Array(exposure.adminKey.utf8), to: "\(folder)/admin.key") }
        let text = Self.text(storage: postgres ?? "sqlite:\(self.database)", api, exposure)
        try writeFile(Array(text.utf8), to: configuration)
    }

    private static func text(storage: String, _ api: API?, _ exposure: Exposure?) -> String {
        let key = api.map {
            #", issuerId: "\#($0.issuerId)", keyId: "\#($0.keyId)", privateKeyFile: "key.p8""#
        }
        let url = api.map { #", url: "\#($0.url)""# }
        let listen = "\(exposure?.address ?? Wire.loopback):0"
        let keyFile = exposure == nil ? "" : #", adminKeyFile: "admin.key""#
        // An app with only simulated purchases can be read without a key.
        let environments = exposure == nil ? #""simulated""# : #""sandbox", "simulated""#
        return """
            {
              server: { listen: "\(listen)"\(keyFile) },
              storage: "\(storage)",
              apps: [{
                id: "\(app)",
                environments: [\(environments)],
                appStore: { bundleId: "\(Store.bundleId)"\(key ?? "") },
                simulatedStore: { root: "root.der"\(url ?? "") },
                products: {
                  "\(Store.listed)": {
                    entitlements: ["premium"], group: "main", period: "P1M", price: "9.99 USD",
                  },
                  "\(Store.coins)": { kind: "consumable" },
                },
              }],
            }
            """
    }

    /// Opens the stored data, while no server has it open. In a PostgreSQL also beside servers.
    func audit(besideServers: Bool = false) throws -> any StoredWork {
        if let postgres {
            try PostgresAudit(postgres, besideServers: besideServers)
        } else {
            try Audit(database)
        }
    }

    /// Starts a server on these files, with a log of that name.
    func start(_ server: ServerCommand, log: String = "server", _ more: [String] = []) throws
        -> ServerProcess
    {
        let command = server.words + ["--config", configuration] + more
        return try ServerProcess(command, log: "\(folder)/\(log).log")
    }

    /// Returns a notification's body, signed now. Another signature gives other bytes.
    func body(of letter: AppStoreNotification) -> [UInt8] {
        do {
            return try authority.body(of: letter)
        } catch {
            preconditionFailure("a notification of a simulated store can be signed: \(error)")
        }
    }

    static func snapshot(of customer: String) -> String {
        "/v1/apps/\(app)/customers/\(customer)?environment=simulated"
    }

    static func timeline(of customer: String) -> String {
        "/v1/apps/\(app)/customers/\(customer)/timeline?environment=simulated"
    }
}

/// A server's command line, without its configuration.
struct ServerCommand: Sendable {
    let words: [String]

    /// The released program.
    init(program: String) { words = [program, "serve"] }

    /// This program's server that acknowledges too early.
    static var hasty: ServerCommand {
        ServerCommand(words: [ownProgram, HastyServer.name])
    }

    private static var ownProgram: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "" }
        defer { free(path) }
        return String(cString: path)
    }

    private init(words: [String]) { self.words = words }

    /// Returns the command with this limit of open files.
    func opening(atMost count: Int) -> ServerCommand {
        let script = "ulimit -n \(count) && exec \"$@\""
        return ServerCommand(words: ["sh", "-c", script, "sh"] + words)
    }
}
