import CTideoverPostgreSQL
import TideoverCore
package import TideoverStorage

/// The answer to a statement, which may still be on its way.
///
/// Statements are sent without waiting for one another. The first answer that is read waits for all
/// statements sent by then.
package final class Answer {
    private let connection: Connection
    private var result: OpaquePointer?
    /// Why there is no result; also that of a statement before, after which this one was skipped.
    private var failure: StorageError?

    init(_ connection: Connection) {
        self.connection = connection
    }

    deinit { PQclear(result) }

    func receive(_ result: OpaquePointer) {
        PQclear(self.result)
        self.result = result
    }

    func fail(_ error: StorageError) {
        if result == nil { failure = error }
    }

    /// The number of rows inserted, changed or deleted.
    package func count() throws(StorageError) -> Int {
        let result = try finished()
        return PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Returns the results of `read` for all rows, in order.
    package func all<Value>(
        _ read: (Row) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        let result = try finished()
        var values: [Value] = []
        for index in 0..<PQntuples(result) {
            values.append(try read(Row(result: result, index: index)))
        }
        return values
    }

    /// Returns the result of `read` for the first row; nil without a row.
    package func first<Value>(
        _ read: (Row) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        let result = try finished()
        return PQntuples(result) > 0 ? try read(Row(result: result, index: 0)) : nil
    }

    private func finished() throws(StorageError) -> OpaquePointer {
        if let failure { throw failure }
        if result == nil { try connection.wait() }
        guard let result else { throw connection.lost("an answer is missing") }
        return result
    }
}

/// One row of an answer; valid only during the call that receives it.
package struct Row: StoredRow {
    fileprivate let result: OpaquePointer
    fileprivate let index: Int32

    private func value(_ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, index, column),
            count: Int(PQgetlength(result, index, column))
        )
    }

    package func isNull(_ column: Int32) -> Bool { PQgetisnull(result, index, column) == 1 }

    /// A number in the order of the network, of any width.
    package func integer(_ column: Int32) -> Int64 {
        let bytes = value(column)
        guard let first = bytes.first else { return 0 }
        let sign: Int64 = first & 0x80 == 0 ? 0 : -1
        return bytes.reduce(sign) { $0 << 8 | Int64($1) }
    }

    package func text(_ column: Int32) -> String { StoredText.decode(value(column)) }

    package func bytes(_ column: Int32) -> [UInt8] { Array(value(column)) }
}
