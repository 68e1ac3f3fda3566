import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverSandbox
import TideoverServer
import TideoverStorage

/// The configuration of the measured app. It has simulated purchases only, so reads of customers need
/// no key.
enum Setting {
    static let appID = "cards"
    static let notifications = "/v1/apps/\(appID)/notifications/app-store"
    static let customers = "/v1/apps/\(appID)/customers/"
    /// For routes that need a key: those that are not about one app.
    static let adminKey = APIKey(.admin) { .random(in: .min ... .max) }

    /// Writes the configuration and its root certificate into a folder. Without `storage` the server
    /// stores in an SQLite file of the database's name.
    ///
    /// - Returns: the path of the configuration file.
    static func write(
        in folder: String,
        database: String,
        storage: String? = nil,
        store: Store,
        apps: [String] = [appID],
        dashboard: Bool = false
    ) throws -> String {
        let path = "\(folder)/\(database).json"
        try Files.write(store.root, to: "\(folder)/root.der")
        try Files.write(Array(adminKey.text.utf8), to: "\(folder)/admin.key")
        // The server refuses a key that others can read.
        chmod("\(folder)/admin.key", 0o600)
        let storage = storage ?? "sqlite:\(database).db"
        try Files.write(Array(text(storage: storage, apps, dashboard).utf8), to: path)
        return path
    }

    /// Loads a configuration file, ignoring the process's variables.
    static func load(_ path: String, app id: String = appID) throws -> Configuration.App {
        let configuration = try Configuration.load(
            file: path,
            text: try FileInput.read(path, atMost: 1 << 20),
            environment: [:],
            readFile: { try FileInput.read($0, atMost: 1 << 20) }
        )
        guard let app = configuration.app(id) else {
            throw CommandFailure(.configuration, "\(path) has no app \(id)")
        }
        return app
    }

    static func now() -> Instant {
        Instant(millisecondsSince1970: Clocks.now(CLOCK_REALTIME) / 1_000_000)
    }

    private static func text(
        storage: String,
        _ apps: [String],
        _ dashboard: Bool
    ) -> String {
        """
        {
          server: { listen: "127.0.0.1:0", adminKeyFile: "admin.key" },
          storage: "\(storage)",
          dashboard: { enabled: \(dashboard) },
          apps: [\(apps.map(app).joined())],
        }
        """
    }

    private static func app(_ id: String) -> String {
        """
        {
            id: "\(id)",
            environments: ["simulated"],
            appStore: { bundleId: "\(Store.app.bundleId)" },
            simulatedStore: { root: "root.der" },
            products: {
              "\(Store.product)": {
                entitlements: ["premium"], group: "pro", period: "P1M", price: "9.99 USD",
                grace: "P16D",
              },
            },
          },
        """
    }
}
