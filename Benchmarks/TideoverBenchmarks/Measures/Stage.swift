import Glibc
import TideoverCommandLine
import TideoverCore

/// The shared files and settings of all measures.
struct Stage {
    /// The folder for all files of the measures, which is removed after them.
    let folder: String
    /// The measured executable.
    let tideover: String
    /// This executable.
    let itself: String
    let store: Store
    /// The duration of one measure.
    let seconds: Int
    /// The instant at which all customers' histories end.
    let now: Int64
    /// Enough notifications for one round of any measure.
    let corpus: Corpus
    /// The address of a PostgreSQL; nil if none is measured.
    let postgres: String?

    /// The names of the configuration, of the corpus and of wrk's script in the folder.
    static let configuration = "measured.json"
    static let corpus = "corpus"
    static let script = "load.lua"
    /// Customers of a corpus have eight or nine messages, so the average history at a message is
    /// four.
    static let months = 8

    /// Creates a store, the configuration, and `count` notifications, the maximum that one round
    /// can use.
    init(
        folder: String,
        tideover: String,
        itself: String,
        seconds: Int,
        notifications count: Int,
        postgres: String? = nil
    ) async throws {
        let store = try Store()
        let now = Setting.now().millisecondsSince1970
        _ = try Setting.write(in: folder, database: "measured", store: store)
        // Once: several loads read it, and one of them could read it while it is written.
        try Files.write(PackageResources.load_lua, to: "\(folder)/\(Self.script)")
        self.folder = folder
        self.tideover = tideover
        self.itself = itself
        self.store = store
        self.seconds = seconds
        self.now = now
        self.postgres = postgres
        corpus = try await Corpus.mint(
            count,
            of: store,
            to: "\(folder)/\(Self.corpus)",
            customersFrom: 1,
            months: Self.months,
            now: now
        )
    }

    /// Starts the server on a database of this name, or on other storage, as its operators do.
    func serve(
        _ database: String,
        storage: String? = nil,
        apps: [String] = [Setting.appID],
        dashboard: Bool = false
    ) throws -> ServerUnderLoad {
        let path = try Setting.write(
            in: folder,
            database: database,
            storage: storage,
            store: store,
            apps: apps,
            dashboard: dashboard
        )
        return try ServerUnderLoad(
            [tideover, "serve", "--config", path],
            name: database,
            in: folder
        )
    }

    /// Starts one of this executable's own servers.
    func host(_ kind: Host.Kind) throws -> ServerUnderLoad {
        let words = [
            itself, "host", kind.rawValue, "--config", "\(folder)/\(Self.configuration)",
        ]
        return try ServerUnderLoad(words, name: kind.rawValue, in: folder)
    }

    /// Removes a database and its related files.
    func remove(_ database: String) {
        for suffix in [".db", ".db-wal", ".db-shm", ".db.lock"] {
            unlink("\(folder)/\(database)\(suffix)")
        }
    }

    /// Returns the size of a database with its log, in megabytes.
    func megabytes(of database: String) -> Double {
        let bytes = ["", "-wal"].reduce(0) { $0 + Files.size("\(folder)/\(database).db\($1)") }
        return Double(bytes) / 1_000_000
    }
}
