package import TideoverCore
package import TideoverStorage

/// The state of a database file, examined without opening it as a storage. Nothing is created,
/// changed or left behind.
package enum SQLiteExamination: Hashable, Sendable {
    /// There is no file; the storage creates it when it is first opened.
    case missing
    /// Another process has it open; its process id, if known.
    case inUse(holder: Int32?)
    /// The whole file was read. Reports the faults that the engine finds. Reports the instant of
    /// the newest evidence for each environment, by the later of the store's and the server's
    /// clock. Reports the bookmarks of the requested name.
    case read(
        faults: [String],
        newestEvidence: [Environment: Instant],
        bookmarks: [BookmarkKey: [UInt8]] = [:]
    )

    /// Examines a file, which takes as long as reading all of it. If a storage was opened there
    /// before, none can be opened meanwhile.
    ///
    /// - Parameters:
    ///   - path: the database file.
    ///   - name: the name of the bookmarks to return; none if nil.
    /// - Throws: `missingFolder`, `notPermitted`, `notAStorage`, `newerSchema`, `corrupt` or `io`.
    package init(path: String, bookmarks name: String? = nil) throws(StorageError) {
        let path = try DatabaseFile.resolve(path)
        guard DatabaseFile.exists(path) else {
            self = .missing
            return
        }
        do {
            let lock = try LockFile(reading: path)
            self = try Self.read(path, name)
            withExtendedLifetime(lock) {}
        } catch {
            guard case .locked(let holder) = error.reason else { throw error }
            self = .inUse(holder: holder)
        }
    }

    private static func read(
        _ path: String,
        _ name: String?
    ) throws(StorageError) -> SQLiteExamination {
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
            return .read(
                faults: [],
                newestEvidence: try newestEvidence(connection),
                bookmarks: try name.map { name throws(StorageError) in
                    try bookmarks(named: name, connection)
                } ?? [:]
            )
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

    private static func bookmarks(
        named name: String,
        _ connection: Connection
    ) throws(StorageError) -> [BookmarkKey: [UInt8]] {
        let found = try Statement(SQL.bookmarksNamed, on: connection).all(.text(name)) { row in
            Environment(rawValue: row.text(1)).map {
                (BookmarkKey(app: row.text(0), environment: $0, name: name), row.bytes(2))
            }
        }
        return Dictionary(found.compactMap(\.self)) { first, _ in first }
    }
}

extension SQL {
    fileprivate static let bookmarksNamed: StaticString =
        "SELECT app, environment, form FROM bookmark WHERE name = ?1"
    fileprivate static let wholeQuickCheck: StaticString = "PRAGMA quick_check"
    fileprivate static let newestEvidence: StaticString = """
        SELECT environment, max(max(received_at, coalesce(signed_at, received_at)))
        FROM evidence GROUP BY environment
        """
}
