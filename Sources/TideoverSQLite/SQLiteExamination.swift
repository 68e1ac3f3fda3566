public import TideoverCore
public import TideoverStorage

/// What can be told of a database file without opening it as a storage: nothing is made, changed or
/// left behind.
public enum SQLiteExamination: Hashable, Sendable {
    /// There is none; the storage makes it when it is first opened.
    case missing
    /// Another process has it open; its id where it is known.
    case inUse(holder: Int32?)
    /// It was read to its end: what the engine finds wrong with it, and for each environment the
    /// instant of the newest evidence, by the store's clock or ours, whichever is later.
    case read(faults: [String], newestEvidence: [Environment: Instant])

    /// Examines a file, which takes as long as reading all of it. Where a storage has been opened
    /// before, none can be opened meanwhile.
    ///
    /// - Throws: `missingFolder`, `notPermitted`, `notAStorage`, `newerSchema`, `corrupt` or `io`.
    public init(path: String) throws(StorageError) {
        let path = try DatabaseFile.resolve(path)
        guard DatabaseFile.exists(path) else {
            self = .missing
            return
        }
        do {
            let lock = try LockFile(reading: path)
            self = try Self.read(path)
            withExtendedLifetime(lock) {}
        } catch {
            guard case .locked(let holder) = error.reason else { throw error }
            self = .inUse(holder: holder)
        }
    }

    private static func read(_ path: String) throws(StorageError) -> SQLiteExamination {
        let connection = try Connection(
            path: path,
            access: DatabaseFile.quietAccess(to: path),
            busyTimeout: 1_000
        )
        let version = try Migration.version(of: connection)
        do {
            let faults = try Statement(SQL.wholeQuickCheck, on: connection).all { $0.text(0) }
                .filter { $0 != "ok" }
            guard version > 0, faults.isEmpty else {
                return .read(faults: faults, newestEvidence: [:])
            }
            return .read(faults: [], newestEvidence: try newestEvidence(connection))
        } catch {
            // Damage can stop the check itself.
            guard error.reason == .corrupt else { throw error }
            return .read(faults: [error.detail], newestEvidence: [:])
        }
    }

    private static func newestEvidence(
        _ connection: Connection
    ) throws(StorageError) -> [Environment: Instant] {
        let found = try Statement(SQL.newestEvidence, on: connection).all { row in
            Environment(rawValue: row.text(0)).map { ($0, row.instant(1)) }
        }
        return Dictionary(found.compactMap(\.self), uniquingKeysWith: max)
    }
}

extension SQL {
    fileprivate static let wholeQuickCheck: StaticString = "PRAGMA quick_check"
    fileprivate static let newestEvidence: StaticString = """
        SELECT environment, max(max(received_at, coalesce(signed_at, received_at)))
        FROM evidence GROUP BY environment
        """
}
