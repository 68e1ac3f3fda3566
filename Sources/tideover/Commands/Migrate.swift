import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverPostgreSQL
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// `tideover migrate`: copies everything from one storage to another while no server runs.
enum Migrate {
    private static let from = Parameter.requiredOption(
        "--from",
        "STORAGE",
        "The storage to read, as in the configuration; it is not changed"
    )
    private static let to = Parameter.requiredOption(
        "--to",
        "STORAGE",
        "An empty storage to write, as in the configuration"
    )

    static let command = Command(
        "migrate",
        summary: "copy everything from SQLite to PostgreSQL, or back",
        examples: [
            Example(
                "tideover migrate --from sqlite:tideover.db --to postgres://tideover@db/tideover",
                "then name the new one in the configuration"
            )
        ],
        parameters: [from, to, ConfigurationFile.parameter],
        notes: [
            "Stop all servers first; an SQLite file in use and a database with running servers are "
                + "refused. Copied are the apps of the configuration, API keys, and webhooks with "
                + "their waiting deliveries. Counts and the progress of backfills are not.",
            "The target must be empty, or have an interrupted copy: run the same command again. At "
                + "the end both storages are read, and all records and answers compared.",
            "Exit code 1 if they differ.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let configuration = try configuration(arguments[from], arguments, output)
        let target = try self.configuration(arguments[to], arguments, output)
        guard configuration.storage != target.storage else {
            throw CommandFailure(.usage, "--from and --to are the same storage")
        }
        do {
            let storages = try Storages(
                source: open(reading: configuration.storage),
                target: open(target.storage)
            )
            return try await closing(storages) {
                try await Steps(
                    configuration: configuration,
                    storages: storages,
                    output: output
                ).run()
            }
        } catch let error as StorageError {
            throw CommandFailure(.cannotCreate, "\(error)")
        }
    }

    private struct Storages {
        let source: any Storage
        let target: any Storage
    }

    private static func closing(
        _ storages: Storages,
        _ body: () async throws -> ExitCode
    ) async throws -> ExitCode {
        do {
            let code = try await body()
            await storages.source.close()
            await storages.target.close()
            return code
        } catch {
            await storages.source.close()
            await storages.target.close()
            throw error
        }
    }

    /// Returns the configuration with another storage, checked like any other.
    private static func configuration(
        _ storage: String,
        _ arguments: Arguments,
        _ output: Output
    ) throws -> Configuration {
        var variables = arguments.variables
        variables["TIDEOVER_STORAGE"] = storage
        return try ConfigurationFile.load(
            try ConfigurationFile.path(arguments),
            variables: variables,
            telling: output
        )
    }

    private static func open(
        reading location: Configuration.StorageLocation
    ) throws -> any Storage {
        switch location {
        case .sqlite(let path):
            guard access(path, F_OK) == 0 else { throw AdminClient.noDatabase(path) }
            return try SQLiteStorage(reading: path)
        case .postgres(let address):
            return try unserved(PostgreSQLStorage(reading: address))
        }
    }

    private static func open(_ location: Configuration.StorageLocation) throws -> any Storage {
        switch location {
        case .sqlite(let path): try SQLiteStorage(path: path)
        case .postgres(let address): try unserved(PostgreSQLStorage(address: address))
        }
    }

    private static func unserved(_ storage: PostgreSQLStorage) throws -> PostgreSQLStorage {
        let count = try storage.servers().count
        guard count == 0 else {
            throw CommandFailure(
                .unavailable,
                "\(storage.place) is used by servers: \(count)\n"
                    + "Stop them. One that was killed counts for 30 seconds."
            )
        }
        return storage
    }

    /// The steps of one migration.
    private struct Steps {
        let configuration: Configuration
        let storages: Storages
        let output: Output

        /// The mark of an interrupted copy in the target.
        private static let mark = BookmarkKey(
            app: "",
            environment: .production,
            name: "migration"
        )
        private static let begun = Array(#"{"state":"begun"}"#.utf8)
        private static let done = Array(#"{"state":"done"}"#.utf8)

        private var places: [(app: String, environment: Environment)] {
            configuration.apps.flatMap { app in
                Environment.allCases.map { (app.id, $0) }
            }
        }

        func run() async throws -> ExitCode {
            try requireEmptyTarget()
            try await storages.target.keep(Self.begun, as: Self.mark)
            try await copyRecords()
            let keys = try await copyKeys()
            let webhooks = try await copyWebhooks()
            guard try comparesEqual() else { return .failure }
            try await storages.target.keep(Self.done, as: Self.mark)
            output.print("keys: \(keys), webhooks: \(webhooks)")
            return .success
        }

        /// A target with the mark of an interrupted copy may have a part of it.
        private func requireEmptyTarget() throws {
            guard try storages.target.bookmark(Self.mark) != Self.begun else { return }
            for place in places {
                let copy = StorageCopy(app: place.app, environment: place.environment)
                guard try !copy.hasRecords(in: storages.target) else {
                    throw Self.notEmpty("data of the app \(place.app)")
                }
            }
            guard try storages.target.keys().isEmpty else { throw Self.notEmpty("API keys") }
        }

        private static func notEmpty(_ content: String) -> CommandFailure {
            CommandFailure(.cannotCreate, "the target is not empty: it has \(content)")
        }

        private func copyRecords() async throws {
            let progress = Progress("copying records", on: output)
            defer { progress.finish() }
            for place in places {
                let copy = StorageCopy(app: place.app, environment: place.environment)
                try await copy.run(
                    from: storages.source,
                    to: storages.target,
                    now: SystemClock.now()
                ) { progress.advance(by: $0) }
            }
        }

        private func copyKeys() async throws -> Int {
            let existing = Set(try storages.target.keys().map(\.id))
            let keys = try storages.source.keys()
            for key in keys where !existing.contains(key.id) { try await storages.target.add(key) }
            return keys.count
        }

        /// A delivery that waits is due at once in the target.
        private func copyWebhooks() async throws -> Int {
            let now = SystemClock.now()
            let webhooks = try configuration.apps.flatMap { app in
                try storages.source.webhooks(app: app.id)
            }
            for webhook in webhooks {
                try await storages.target.put(webhook)
                let waiting = try storages.source.webhookQueue(
                    of: webhook.key,
                    now: .distantFuture,
                    limit: Int(Int32.max)
                )
                try await storages.target.queue(waiting.due.map(\.event), to: webhook.key, at: now)
            }
            return webhooks.count
        }

        /// Reads both storages, prints what they have, and returns whether it is the same.
        private func comparesEqual() throws -> Bool {
            let progress = Progress("comparing records", on: output)
            defer { progress.finish() }
            var areEqual = true
            for place in places {
                let copy = StorageCopy(app: place.app, environment: place.environment)
                let source = try copy.summary(of: storages.source) { progress.advance(by: $0) }
                let target = try copy.summary(of: storages.target) { progress.advance(by: $0) }
                guard source.records > 0 || target.records > 0 else { continue }
                let isEqual = source == target
                output.print(
                    "\(place.app) \(place.environment.rawValue): \(target.records) records, "
                        + "\(target.customers) customers, answers "
                        + "\(target.answerDigest.prefix(16)), \(isEqual ? "equal" : "DIFFERENT")"
                )
                areEqual = areEqual && isEqual
            }
            return areEqual
        }
    }
}
