import TideoverCore
import TideoverJSON
import TideoverStorage

/// Writes lines of the audit, through the connection that writes.
final class AuditLines {
    private let latest: Statement
    private let insert: Statement
    private let random: @Sendable () -> UInt64

    init(
        _ connection: Connection,
        random: @escaping @Sendable () -> UInt64
    ) throws(StorageError) {
        latest = try Statement(SQL.latestAudit, on: connection)
        insert = try Statement(SQL.insertAudit, on: connection)
        self.random = random
    }

    /// Writes a line, if there is one; under a name that is known it is left out.
    func write(_ entry: AuditEntry?, _ intake: Intake) throws(StorageError) {
        guard let entry else { return }
        let former = try latest.first(.text(intake.app)) { EventID($0.text(0)) }
        let id = EventID.next(after: former ?? nil, at: intake.now, random: random())
        var writer = JSONWriter()
        writer.object { entry.writeFields(to: &$0) }
        try insert.run(
            .text(intake.app),
            .text(id.description),
            .text(intake.environment.rawValue),
            .text(entry.customer.text),
            entry.other.map { .text($0.text) } ?? .null,
            entry.name.map { .text($0) } ?? .null,
            .utf8(writer.bytes)
        )
    }
}
