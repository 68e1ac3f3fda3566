import Glibc
import TideoverCommandLine
import TideoverConfiguration
import TideoverCore
import TideoverPostgreSQL
import TideoverSQLite
import TideoverServer
import TideoverStorage

/// `tideover migrate`: copies everything from one storage to another. The last pass is made while no
/// server runs; earlier ones shorten it.
enum Migrate {
    private static let from = Parameter.requiredOption(
        "--from",
        "STORAGE",
        "The storage to read, as in the configuration; it is not changed"
    )
    private static let to = Parameter.requiredOption(
        "--to",
        "STORAGE",
        "An empty storage to write, or an earlier copy, as in the configuration"
    )
    private static let whileServing = Parameter.flag(
        "--while-serving",
        "Copy while servers use the source; a last pass without this follows"
    )

    static let command = Command(
        "migrate",
        summary: "copy everything from SQLite to PostgreSQL, or back",
        examples: [
            Example(
                "tideover migrate --from sqlite:tideover.db --to postgres://tideover@db/tideover",
                "then name the new one in the configuration"
            ),
            Example(
                "tideover migrate --from sqlite:tideover.db --to postgres://tideover@db/tideover "
                    + "--while-serving",
                "copy most of it before the servers stop"
            ),
        ],
        parameters: [from, to, whileServing, ConfigurationFile.parameter],
        notes: [
            "Stop all servers first; an SQLite file in use and a database with running servers are "
                + "refused. Copied are the apps of the configuration, API keys, and webhooks with "
                + "their waiting deliveries. Counts and the progress of backfills are not.",
            "With --while-serving, servers may use the source, but not the target. Nothing is "
                + "compared, because the source changes meanwhile. It can be repeated. Then stop "
                + "the servers and run the same command without it.",
            "The target must be empty, or have an earlier or interrupted copy. Then only what "
                + "differs is written, and what is gone from the source is removed. At the end both "
                + "storages are read, and all records and answers compared. A compared copy is not "
                + "written again.",
            "Exit code 1 if they differ.",
        ],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let configuration = try configuration("--from", arguments[from], arguments, output)
        let target = try self.configuration("--to", arguments[to], arguments, output)
        guard configuration.storage != target.storage else {
            throw CommandFailure(.usage, "--from and --to are the same storage")
        }
        let isServing = arguments[whileServing]
        do {
            let storages = try Storages(
                source: open(reading: configuration.storage, isServing: isServing),
                target: open(target.storage)
            )
            return try await closing(storages) {
                try await Steps(
                    configuration: configuration,
                    storages: storages,
                    isServing: isServing,
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

    /// Returns the configuration with another storage, checked like any other. Errors name the
    /// option.
    private static func configuration(
        _ option: String,
        _ storage: String,
        _ arguments: Arguments,
        _ output: Output
    ) throws -> Configuration {
        var variables = arguments.variables
        variables["TIDEOVER_STORAGE"] = storage
        do {
            return try ConfigurationFile.load(
                try ConfigurationFile.path(arguments),
                variables: variables,
                telling: output
            )
        } catch let failure as CommandFailure {
            throw CommandFailure(
                failure.exitCode,
                failure.message.replacing("TIDEOVER_STORAGE: storage:", with: "\(option):")
            )
        }
    }

    private static func open(
        reading location: Configuration.StorageLocation,
        isServing: Bool
    ) throws -> any Storage {
        switch location {
        case .sqlite(let path):
            guard access(path, F_OK) == 0 else { throw AdminClient.noDatabase(path) }
            guard isServing else { return try openUnserved(path) }
            // Without a server, reading would create a log that belongs to this user.
            guard try SQLiteBackup.isInUse(path) else {
                throw CommandFailure(
                    .unavailable,
                    "no server uses \(path)\nRun the command without --while-serving."
                )
            }
            return try SQLiteStorage(readingUsed: path)
        case .postgres(let address):
            let storage = try PostgreSQLStorage(reading: address)
            return isServing ? storage : try unserved(storage, hint: online)
        }
    }

    private static let online = "To copy while it is used, add --while-serving."

    private static func openUnserved(_ path: String) throws -> SQLiteStorage {
        do {
            return try SQLiteStorage(reading: path)
        } catch {
            guard case .locked = error.reason else { throw error }
            throw CommandFailure(.cannotCreate, "\(error)\n\(online)")
        }
    }

    private static func open(_ location: Configuration.StorageLocation) throws -> any Storage {
        switch location {
        case .sqlite(let path): try SQLiteStorage(path: path)
        case .postgres(let address): try unserved(PostgreSQLStorage(address: address))
        }
    }

    private static func unserved(
        _ storage: PostgreSQLStorage,
        hint: String? = nil
    ) throws -> PostgreSQLStorage {
        let count = try storage.servers().count
        guard count == 0 else {
            throw CommandFailure(
                .unavailable,
                "\(storage.place) is used by servers: \(count)\n"
                    + "Stop them. One that was killed counts for 30 seconds."
                    + (hint.map { "\n\($0)" } ?? "")
            )
        }
        return storage
    }

    /// The steps of one migration.
    private struct Steps {
        let configuration: Configuration
        let storages: Storages
        /// Whether servers may use the source.
        let isServing: Bool
        let output: Output

        private var places: [(app: String, environment: Environment)] {
            configuration.apps.flatMap { app in
                Environment.allCases.map { (app.id, $0) }
            }
        }

        func run() async throws -> ExitCode {
            try requireUsableTarget()
            try await CopyState.begun.keep(in: storages.target)
            let changes = try await copyRecords()
            let keys = try await copyKeys()
            let webhooks = try await copyWebhooks()
            if !isServing {
                guard try comparesEqual() else { return .failure }
                try await CopyState.done.keep(in: storages.target)
            }
            output.print("records added: \(changes.added), removed: \(changes.removed)")
            output.print("keys: \(keys), webhooks: \(webhooks)")
            if isServing {
                output.message(
                    "The copy is not complete: the source may have changed meanwhile. Stop the "
                        + "servers, then run the same command without --while-serving. It copies "
                        + "only what changed, and compares everything."
                )
            }
            return .success
        }

        /// A target must be empty, or a copy that is not complete.
        private func requireUsableTarget() throws {
            switch try CopyState(of: storages.target) {
            case .begun: try requireCopiedKeys()
            case .done:
                throw CommandFailure(
                    .cannotCreate,
                    "the target is a complete copy, which servers may have used since\n"
                        + "Name an empty storage, or start the servers on this one."
                )
            case nil: try requireEmptyTarget()
            }
        }

        private func requireEmptyTarget() throws {
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

        /// No key is ever removed, so each key of a copy is one of its source.
        private func requireCopiedKeys() throws {
            let digests = Dictionary(
                try storages.source.keys().map { ($0.id, $0.digest) },
                uniquingKeysWith: { first, _ in first }
            )
            guard try storages.target.keys().allSatisfy({ digests[$0.id] == $0.digest }) else {
                throw CommandFailure(
                    .cannotCreate,
                    "the target has API keys that the source does not have\n"
                        + "It is a copy of another storage. Name an empty one."
                )
            }
        }

        private func copyRecords() async throws -> StorageCopy.Changes {
            let progress = Progress("copying records", on: output)
            defer { progress.finish() }
            var changes = StorageCopy.Changes()
            for place in places {
                let copy = StorageCopy(app: place.app, environment: place.environment)
                let copied = try await copy.run(
                    from: storages.source,
                    to: storages.target,
                    now: SystemClock.now()
                ) { progress.advance(by: $0) }
                changes = changes + copied
            }
            return changes
        }

        /// Adds the keys that the target does not have, and revokes those that were revoked since.
        private func copyKeys() async throws -> Int {
            let keys = try storages.source.keys()
            let copies = Dictionary(
                try storages.target.keys().map { ($0.id, $0) },
                uniquingKeysWith: { first, _ in first }
            )
            for key in keys {
                guard let copy = copies[key.id] else {
                    try await storages.target.add(key)
                    continue
                }
                guard copy.revokedAt == nil, let revokedAt = key.revokedAt else { continue }
                _ = try await storages.target.revokeKey(key.id, at: revokedAt)
            }
            return keys.count
        }

        /// Replaces the webhooks of the target by those of the source, with their waiting
        /// deliveries, which are due at once.
        private func copyWebhooks() async throws -> Int {
            var count = 0
            for app in configuration.apps.map(\.id) {
                let webhooks = try storages.source.webhooks(app: app)
                let known = Set(webhooks.map(\.key))
                for former in try storages.target.webhooks(app: app).map(\.key)
                where !known.contains(former) {
                    try await storages.target.remove(former)
                }
                for webhook in webhooks { try await copy(webhook) }
                count += webhooks.count
            }
            return count
        }

        private func copy(_ webhook: WebhookRecord) async throws {
            let now = SystemClock.now()
            let waiting = try storages.source.webhookQueue(
                of: webhook.key,
                now: .distantFuture,
                limit: Int(Int32.max)
            )
            let events = waiting.due.map(\.event)
            try await storages.target.write(app: webhook.key.app) {
                writer throws(StorageError) in
                try writer.remove(webhook.key)
                try writer.put(webhook)
                try writer.queue(events, to: webhook.key, at: now)
            }
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
                    "\(place.app) \(place.environment.rawValue): "
                        + "\(TextLayout.counted(target.records, "record")), "
                        + "\(TextLayout.counted(target.customers, "customer")), answers "
                        + "\(target.answerDigest.hex.prefix(16)), \(isEqual ? "equal" : "DIFFERENT")"
                )
                areEqual = areEqual && isEqual
            }
            return areEqual
        }
    }
}
