import Glibc
import TideoverSandbox

/// What a server under trial runs on: a folder with its configuration, the root of a simulated store
/// that it believes, and its database.
struct Site: Sendable {
    static let app = "trials"
    static let notifications = "/v1/apps/trials/notifications/app-store"

    let folder: String
    let authority: SandboxAuthority
    let configuration: String
    let database: String

    /// Writes the files; the database may stand in another folder.
    init(folder: String, database: String? = nil) throws {
        self.folder = folder
        self.database = database ?? "\(folder)/tideover.db"
        configuration = "\(folder)/tideover.json"
        authority = try SandboxAuthority()
        try writeFile(authority.root, to: "\(folder)/root.der")
        try writeFile(Array(Self.text(database: self.database).utf8), to: configuration)
    }

    private static func text(database: String) -> String {
        """
        {
          server: { listen: "127.0.0.1:0" },
          storage: "sqlite:\(database)",
          apps: [{
            id: "\(app)",
            environments: ["simulated"],
            appStore: { bundleId: "\(Store.bundleId)" },
            simulatedStore: { root: "root.der" },
            products: {
              "\(Store.listed)": {
                entitlements: ["premium"], group: "main", period: "P1M", price: "9.99 USD",
              },
            },
          }],
        }
        """
    }

    /// Starts a server on these files; what it says goes to a log of that name.
    func start(_ server: ServerCommand, log: String = "server", _ more: [String] = []) throws
        -> ServerProcess
    {
        let command = server.words + ["--config", configuration] + more
        return try ServerProcess(command, log: "\(folder)/\(log).log")
    }

    /// A notification as the store posts it, signed now: signing it again gives other bytes.
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
}

/// How a server is started, without its configuration.
struct ServerCommand: Sendable {
    let words: [String]

    /// The program as users get it.
    init(program: String) { words = [program, "serve"] }

    /// The one of this program that answers too early.
    static var hasty: ServerCommand {
        ServerCommand(words: [ownProgram, HastyServer.name])
    }

    private static var ownProgram: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "" }
        defer { free(path) }
        return String(cString: path)
    }

    private init(words: [String]) { self.words = words }

    /// The same where the system lets it open so many files, and never more.
    func opening(atMost count: Int) -> ServerCommand {
        let script = "ulimit -n \(count) && exec \"$@\""
        return ServerCommand(words: ["sh", "-c", script, "sh"] + words)
    }
}
