import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverStorage

/// Answers `GET` and `POST /v1/keys`, and `DELETE /v1/keys/{id}`.
///
/// The keys in memory are current at once for changes by this server, and for those by another one
/// after `ChangeFollower` has read them.
struct KeysRoutes: Sendable {
    let keys: Locked<KeyTable>
    let storage: any Storage
    let apps: [String]
    let clock: Clock
    let random: @Sendable () -> UInt64
    let log: Log

    private static let headers: Headers = ["Cache-Control": "no-store"]

    func list() -> Response {
        let all = keys.withLock { $0.all }
        return .json(headers: Self.headers) { writer in
            writer.field("keys", objects: all) { $0.writeFields(to: &$1) }
        }
    }

    func add(_ request: Request) async throws -> Response {
        let createRequest = try CreateKeyRequest(request.body, configured: apps)
        let new = NewKey(createRequest, at: clock(), random: random)
        try await storage.add(new.record)
        learn(new.record, "key added")
        return .json(status: 201, headers: Self.headers) { writer in
            new.record.writeFields(to: &writer)
            writer.field("key", new.key.text)
        }
    }

    func revoke(_ id: String) async throws -> Response {
        guard let record = try await storage.revokeKey(id, at: clock()) else {
            throw Problem.unknownKey
        }
        learn(record, "key revoked")
        return .json(headers: Self.headers) { record.writeFields(to: &$0) }
    }

    private func learn(_ record: KeyRecord, _ event: String) {
        keys.withLock { $0.learn([record]) }
        log(LogLine(.info, event, code: record.kind.rawValue, detail: record.id))
    }
}

extension KeyRecord {
    /// Writes the public fields of a key, without its digest.
    fileprivate func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("kind", kind.rawValue)
        writer.field("apps", .array(apps.map(JSONValue.string)))
        writer.field("name", name)
        writer.field("createdAt", createdAt.rfc3339)
        writer.field("revokedAt", revokedAt?.rfc3339)
    }
}
