import TideoverStorage

/// Reads the stored API keys through one connection.
final class KeyQueries {
    private let rows: StoredRowReader
    private let all: Statement
    private let one: Statement

    init(_ connection: Connection) throws(StorageError) {
        rows = connection.rows
        all = try Statement(CommonSQL.keys, on: connection)
        one = try Statement(CommonSQL.key, on: connection)
    }

    func keys() throws(StorageError) -> [KeyRecord] { try all.all(read: rows.key) }

    func key(_ id: String) throws(StorageError) -> KeyRecord? {
        try one.first(.text(id), read: rows.key)
    }
}
