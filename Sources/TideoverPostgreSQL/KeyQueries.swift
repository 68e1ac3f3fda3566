import TideoverStorage

/// Reads the stored API keys through one connection.
struct KeyQueries {
    let connection: Connection

    func keys() throws(StorageError) -> [KeyRecord] {
        try connection.ask(SQL.keys).all(connection.rows.key)
    }

    func key(_ id: String) throws(StorageError) -> KeyRecord? {
        try connection.ask(SQL.key, .text(id)).first(connection.rows.key)
    }
}
