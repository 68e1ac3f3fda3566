import CTideoverSQLite
import TideoverCore
package import TideoverStorage

/// A prepared statement that can run repeatedly with different parameters. Its text is fixed at
/// compile time: no external input can become a part of it. The first two parameters of many are an
/// app and an environment: they are given as a scope.
package final class Statement {
    private let connection: Connection
    private let handle: OpaquePointer

    package init(_ sql: StaticString, on connection: Connection) throws(StorageError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection.handle,
            Connection.characters(of: sql),
            Int32(sql.utf8CodeUnitCount),
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &prepared,
            nil
        )
        guard code == SQLITE_OK else { throw connection.error(code) }
        guard let prepared else { preconditionFailure("a statement has a text") }
        self.connection = connection
        handle = prepared
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Runs the statement to completion.
    ///
    /// - Returns: the number of rows it inserted, changed or deleted.
    @discardableResult
    package func run(
        in scope: AppScope? = nil,
        _ values: SQLValue...
    ) throws(StorageError) -> Int {
        defer { reset() }
        try bind(scope, values)
        while try step() {}
        return Int(sqlite3_changes(connection.handle))
    }

    /// Returns the result of `read` for the first row; nil without a row.
    package func first<Result>(
        in scope: AppScope? = nil,
        _ values: SQLValue...,
        read: (Row) throws(StorageError) -> Result
    ) throws(StorageError) -> Result? {
        defer { reset() }
        try bind(scope, values)
        return try step() ? read(Row(handle: handle)) : nil
    }

    /// Returns the results of `read` for all rows, in order.
    package func all<Result>(
        in scope: AppScope? = nil,
        _ values: SQLValue...,
        read: (Row) throws(StorageError) -> Result
    ) throws(StorageError) -> [Result] {
        defer { reset() }
        try bind(scope, values)
        var results: [Result] = []
        while try step() {
            results.append(try read(Row(handle: handle)))
        }
        return results
    }

    private func step() throws(StorageError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw connection.error(code)
        }
    }

    /// A statement that is not reset keeps its read transaction open.
    private func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    private func bind(_ scope: AppScope?, _ values: [SQLValue]) throws(StorageError) {
        connection.statementCount += 1
        let offset: Int32 = scope == nil ? 0 : 2
        precondition(
            offset + Int32(values.count) == sqlite3_bind_parameter_count(handle),
            "a statement is given a value for each of its parameters"
        )
        if let scope {
            try bind(.text(scope.app), at: 1)
            try bind(.text(scope.environment.rawValue), at: 2)
        }
        for (index, value) in values.enumerated() {
            try bind(value, at: offset + Int32(index + 1))
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) throws(StorageError) {
        try connection.check(value.bind(to: handle, at: index))
    }
}

/// A parameter value.
package enum SQLValue {
    case null
    case integer(Int64)
    case text(String)
    /// UTF-8.
    case utf8([UInt8])
    case bytes([UInt8])

    static func instant(_ instant: Instant?) -> SQLValue {
        instant.map { .integer($0.millisecondsSince1970) } ?? .null
    }

    static func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }

    static func limit(_ count: Int) -> SQLValue { .integer(Int64(max(0, count))) }

    fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .text(let text): Self.bind(text, to: statement, at: index)
        case .utf8(let bytes):
            Self.withAddress(bytes) {
                tideover_sqlite_bind_text(statement, index, $0, UInt64(bytes.count))
            }
        case .bytes(let bytes):
            Self.withAddress(bytes) {
                tideover_sqlite_bind_blob(statement, index, $0, UInt64(bytes.count))
            }
        }
    }

    private static func bind(_ text: String, to statement: OpaquePointer, at index: Int32) -> Int32
    {
        var text = text
        return text.withUTF8 { characters in
            withAddress(characters) {
                tideover_sqlite_bind_text(statement, index, $0, UInt64(characters.count))
            }
        }
    }

    /// An empty value needs an address too: SQLite takes a null pointer for NULL.
    private static func withAddress(
        _ bytes: some Collection<UInt8>,
        _ body: (UnsafeRawPointer) -> Int32
    ) -> Int32 {
        let result = bytes.withContiguousStorageIfAvailable { buffer in
            buffer.baseAddress.map { body(UnsafeRawPointer($0)) }
        }
        if let found = result, let code = found { return code }
        return withUnsafeBytes(of: UInt8(0)) { place in
            place.baseAddress.map(body) ?? SQLITE_MISUSE
        }
    }
}

/// The current row of a statement, valid until the next one. Columns count from 0.
package struct Row: StoredRow {
    fileprivate let handle: OpaquePointer

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    package func text(_ column: Int32) -> String {
        String(decoding: contents(column), as: UTF8.self)
    }

    /// Returns the bytes of a blob, or of a UTF-8 text.
    package func bytes(_ column: Int32) -> [UInt8] { Array(contents(column)) }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    private func contents(_ column: Int32) -> UnsafeRawBufferPointer {
        // The order matters: reading the blob may move it, reading its length afterwards does not.
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(
            start: start,
            count: Int(sqlite3_column_bytes(handle, column))
        )
    }
}
