import TideoverStorage

/// The statements of a connection. Each is prepared when it is first used, and kept.
final class Statements {
    let connection: Connection
    /// Decodes rows of the answers.
    let rows: StoredRowReader
    /// By the address of the text, which is a constant.
    private var prepared: [UnsafePointer<UInt8>: Statement] = [:]

    init(_ connection: Connection) {
        self.connection = connection
        rows = StoredRowReader(connection.place)
    }

    subscript(sql: StaticString) -> Statement {
        get throws(StorageError) {
            if let known = prepared[sql.utf8Start] { return known }
            let statement = try Statement(sql, on: connection)
            prepared[sql.utf8Start] = statement
            return statement
        }
    }
}
