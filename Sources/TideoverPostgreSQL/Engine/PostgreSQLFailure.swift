import CTideoverPostgreSQL
import TideoverStorage

/// A failure that the server reported for a statement.
struct ServerFailure {
    /// The five characters of the standard, such as `40001`.
    let state: String
    let error: StorageError

    /// Reads the failure of a result.
    ///
    /// The server's message is left out where it can repeat a stored value.
    init(_ result: OpaquePointer, place: String) {
        state = Self.field(tideover_pg_field_state(), of: result) ?? ""
        let reason = Self.reason(state)
        let message = PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
        var detail = message.split(separator: "\n").first.map(String.init) ?? ""
        if ["22", "23"].contains(state.prefix(2)) {
            let constraint = Self.field(tideover_pg_field_constraint(), of: result)
            detail = constraint.map { "by the rule \($0)" } ?? "state \(state)"
        }
        error = StorageError(reason, place: place, detail: detail)
    }

    private static func field(_ name: CChar, of result: OpaquePointer) -> String? {
        PQresultErrorField(result, Int32(name)).map { String(cString: $0) }
    }

    /// Whether the same work is likely to succeed at once: the server ended it in favour of
    /// another transaction, or for a prepared statement that cannot be used.
    var isConflict: Bool { Self.conflicts.contains(state) || isOfPreparation }

    /// Serialization failure and deadlock.
    private static let conflicts: Set<String> = ["40001", "40P01"]

    /// Whether a prepared statement is missing or exists already, or has other columns since a
    /// change of the schema.
    var isOfPreparation: Bool { Self.preparations.contains(state) }

    private static let preparations: Set<String> = ["26000", "42P05", "0A000"]

    /// [Error codes of PostgreSQL](https://www.postgresql.org/docs/15/errcodes-appendix.html)
    private static func reason(_ state: String) -> StorageError.Reason {
        switch state {
        case "53100": .full
        case "25006": .readOnly
        case "42501": .notPermitted
        case "58030": .io
        case "XX001", "XX002": .corrupt
        case "57014", "40001", "40P01", "40003", "55P03", "26000", "42P05", "0A000": .busy
        // A database, schema or table is missing, or a table is another program's.
        case "3D000", "3F000", "42P01", "42P07": .notAStorage
        default: reason(ofClass: String(state.prefix(2)), state)
        }
    }

    private static func reason(ofClass: String, _ state: String) -> StorageError.Reason {
        switch ofClass {
        case "08", "57": .unavailable
        case "22", "23": .refused
        case "28": .notPermitted
        case "53", "55": .busy
        default: .engine(code: code(state))
        }
    }

    /// The characters of a state as digits of base 36; 0 without a state.
    private static func code(_ state: String) -> Int32 { Int32(state, radix: 36) ?? 0 }
}
