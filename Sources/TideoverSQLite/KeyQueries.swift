import TideoverStorage

/// Reads the stored API keys through one connection.
struct KeyQueries {
    let statements: Statements

    func keys() throws(StorageError) -> [KeyRecord] {
        try statements[CommonSQL.keys].all(read: statements.rows.key)
    }

    func key(_ id: String) throws(StorageError) -> KeyRecord? {
        try statements[CommonSQL.key].first(.text(id), read: statements.rows.key)
    }
}
