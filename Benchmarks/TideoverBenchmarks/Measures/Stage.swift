import Glibc
import TideoverCommandLine
import TideoverCore

/// Where everything measured finds what it needs.
struct Stage {
    /// Everything made for the measures; removed after them.
    let folder: String
    /// The executable that is measured.
    let tideover: String
    /// This executable.
    let itself: String
    let store: Store
    /// How long one measure runs.
    let seconds: Int
    /// The instant that all customers' stories lead up to.
    let now: Int64
    /// Notifications enough for one round of any measure.
    let corpus: Corpus

    /// The names of the configuration and of the corpus in the folder.
    static let configuration = "measured.json"
    static let corpus = "corpus"
    /// Customers of a corpus have eight messages or nine, so the average one has a history of four.
    static let months = 8

    /// Makes a store, and the configuration and `count` notifications that one round can need at most.
    init(
        folder: String,
        tideover: String,
        itself: String,
        seconds: Int,
        notifications count: Int
    ) async throws {
        let store = try Store()
        let now = Setting.now().millisecondsSince1970
        _ = try Setting.write(in: folder, database: "measured", store: store)
        self.folder = folder
        self.tideover = tideover
        self.itself = itself
        self.store = store
        self.seconds = seconds
        self.now = now
        corpus = try await Corpus.mint(
            count,
            of: store,
            to: "\(folder)/\(Self.corpus)",
            customersFrom: 1,
            months: Self.months,
            now: now
        )
    }

    /// Starts the server over a database of this name, as its operators do.
    func serve(_ database: String) throws -> ServerUnderLoad {
        let path = try Setting.write(in: folder, database: database, store: store)
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

    /// Removes a database and what is beside it.
    func remove(_ database: String) {
        for suffix in [".db", ".db-wal", ".db-shm", ".db.lock"] {
            unlink("\(folder)/\(database)\(suffix)")
        }
    }

    /// The size of a database with its log, in megabytes.
    func megabytes(of database: String) -> Double {
        let bytes = ["", "-wal"].reduce(0) { $0 + Files.size("\(folder)/\(database).db\($1)") }
        return Double(bytes) / 1_000_000
    }
}
