import TideoverJSON
import TideoverStorage

/// Reads the stored API keys through one connection.
struct KeyQueries {
    let connection: Connection

    func keys() throws(StorageError) -> [KeyRecord] {
        try connection.ask(SQL.keys).all(record)
    }

    func key(_ id: String) throws(StorageError) -> KeyRecord? {
        try connection.ask(SQL.key, .text(id)).first(record)
    }

    private func record(_ row: Row) throws(StorageError) -> KeyRecord {
        let digest = row.bytes(1)
        guard digest.count == KeyRecord.digestCount, let kind = KeyKind(rawValue: row.text(2)),
            let apps = apps(row.bytes(3))
        else {
            throw StorageError(.corrupt, place: connection.place, detail: "a key cannot be read")
        }
        return KeyRecord(
            id: row.text(0),
            digest: digest,
            kind: kind,
            apps: apps,
            name: row.text(4),
            createdAt: row.instant(5),
            revokedAt: row.optionalInstant(6)
        )
    }

    /// An unreadable list must not be treated as empty: an empty list permits every app.
    private func apps(_ form: [UInt8]) -> [String]? {
        guard let list = try? JSONDocument(form).root, list.kind == .array else { return nil }
        let apps = list.elements.compactMap(\.string)
        return apps.count == list.count ? apps : nil
    }
}

extension KeyRecord {
    /// The stored form of the list of apps.
    var appsForm: [UInt8] { JSONValue.array(apps.map(JSONValue.string)).encoded() }
}
