import TideoverStorage

/// Reads the stored API keys through one connection.
struct KeyQueries {
    let connection: Connection

    func keys() throws(StorageError) -> [KeyRecord] {
        try connection.ask(CommonSQL.keys).all(connection.rows.key)
    }

    func key(_ id: String) throws(StorageError) -> KeyRecord? {
        try connection.ask(CommonSQL.key, .text(id)).first(connection.rows.key)
    }
}
