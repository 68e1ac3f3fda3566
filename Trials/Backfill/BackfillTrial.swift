import Glibc
import TideoverCore
import TideoverSQLite
import TideoverSandbox

/// Kills a server repeatedly during a backfill from the App Store, and compares its final data with
/// that of an undisturbed server.
struct BackfillTrial {
    private let store: AskedStore
    private let command: ServerCommand
    private let folder: String
    private let isWrong: Bool
    private let calm: (backEnd: BackEnd, server: ServerProcess)
    private var peace: BackfillTraces?
    private var random: SeededRandom

    /// The results.
    struct Findings: Sendable {
        var rounds = 0
        var requests = 0
        var lost: Set<String> = []
        var doubled: Set<String> = []
        var wrong: [String] = []
        /// Requests that exceeded the rate limit.
        var hurried: [String] = []
        /// Errors that SQLite finds in the file.
        var problems: [String] = []

        var holds: Bool { lost.isEmpty && doubled.isEmpty && sentences.isEmpty }
        var sentences: [String] { wrong + hurried + problems }
    }

    private(set) var findings = Findings()

    /// Starts with the undisturbed server, which works in parallel with the first of the others.
    init(
        _ store: AskedStore,
        _ command: ServerCommand,
        folder: String,
        seed: UInt64,
        isWrong: Bool
    ) throws {
        self.store = store
        self.command = command
        self.folder = folder
        self.isWrong = isWrong
        random = SeededRandom(seed: seed)
        let backEnd = try BackEnd(folder: "\(folder)/calm", store, command)
        calm = (backEnd, try backEnd.start())
    }

    /// Kills a server with its own file up to the given number of times, or until its backfill is
    /// complete. Then the server runs undisturbed and its data is compared. Returns the number of
    /// kills.
    mutating func round(atMost most: Int, killed: () -> Void) throws -> Int {
        findings.rounds += 1
        let backEnd = try BackEnd(folder: "\(folder)/killed-\(findings.rounds)", store, command)
        var kills = 0
        while kills < most {
            let server = try backEnd.start()
            _ = try server.port()
            pause(Int(random.number(in: 20...1_500)))
            if try BackEnd.isThrough(server) { break }
            try kill(server)
            kills += 1
            killed()
            findings.problems += try Audit(backEnd.site.database).problems()
            if isWrong { try markTooEarly(backEnd.site.database) }
        }
        let last = try backEnd.start()
        try inspect(backEnd.traces(of: last, store.customers))
        findings.problems += try Audit(backEnd.site.database).problems()
        look(at: backEnd.door, "round \(findings.rounds)")
        guard kills > 0 else {
            throw KillTrial.Failure(message: "a round was through before its server was killed")
        }
        return kills
    }

    private func kill(_ server: ServerProcess) throws {
        let end = server.kill()
        guard end == .signalled(SIGKILL) else {
            throw KillTrial.Failure(
                message:
                    "the server ended by itself (\(String(describing: end))): \(server.lastWords)"
            )
        }
    }

    private mutating func inspect(_ traces: BackfillTraces) throws {
        let peace = try self.peace ?? calm.backEnd.traces(of: calm.server, store.customers)
        if self.peace == nil { look(at: calm.backEnd.door, "the run in peace") }
        self.peace = peace
        // The undisturbed run also requests everything twice, and must store it once.
        if peace.notifications.count != store.notifications {
            findings.wrong.append("in peace \(peace.notifications.count) notifications are stored")
        }
        let difference = traces.difference(from: peace)
        findings.lost.formUnion(difference.lost)
        findings.doubled.formUnion(difference.doubled)
        findings.wrong += difference.wrong
    }

    private mutating func look(at door: StoreDoor, _ what: String) {
        findings.requests += door.count
        findings.hurried += door.hurried.map { "\(what) asked too fast: \($0.name)" }
    }

    /// Simulates a server that stores its position before the data that precedes it.
    private func markTooEarly(_ database: String) throws {
        let connection = try Connection(path: database, access: .readWrite, busyTimeout: 1_000)
        let mark = try Statement(
            """
            INSERT INTO bookmark (app, environment, name, form) VALUES ('trials', 'simulated', ?1, ?2)
            ON CONFLICT (app, environment, name) DO UPDATE SET form = excluded.form
            """,
            on: connection
        )
        for name in ["failedNotifications", "notifications"] {
            let form = #"{"finishedUntil":"\#(store.now.rfc3339)"}"#
            _ = try mark.run(.text(name), .text(form))
        }
    }
}
