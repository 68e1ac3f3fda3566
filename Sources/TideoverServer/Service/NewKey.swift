import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// A request to create a key.
struct CreateKeyRequest: Hashable, Sendable {
    let kind: KeyKind
    /// The permitted apps; empty for all.
    let apps: [String]
    let name: String

    /// The maximum length in Unicode scalars.
    static let longestName = 100

    /// Reads `{"kind": "secret", "apps": ["cards"], "name": "..."}`; only `kind` is required.
    ///
    /// Unknown members are rejected: a misspelt `apps` would permit every app.
    init(_ body: [UInt8], configured: some Collection<String>) throws(Problem) {
        let root: JSONNode
        do {
            root = try JSONDocument(body).root
        } catch {
            throw .badKeyRequest("The body is not strict JSON: \(error).")
        }
        guard root.kind == .object else { throw .badKeyRequest("The body is not an object.") }
        let known = ["kind", "apps", "name"]
        guard root.members.allSatisfy({ known.contains($0.key) }) else {
            throw .badKeyRequest("Only the members `kind`, `apps` and `name` are allowed.")
        }
        guard let kind = root["kind"]?.string.flatMap(KeyKind.init(rawValue:)) else {
            throw .badKeyRequest("`kind` must be one of public, secret, viewer, admin.")
        }
        self.kind = kind
        apps = try Self.apps(root["apps"], kind, configured)
        name = try Self.name(root["name"])
    }

    private static func apps(
        _ list: JSONNode?,
        _ kind: KeyKind,
        _ configured: some Collection<String>
    ) throws(Problem) -> [String] {
        guard let list else { return [] }
        let apps = list.elements.compactMap(\.string)
        guard list.kind == .array, apps.count == list.count, Set(apps).count == apps.count,
            apps.allSatisfy({ configured.contains($0) })
        else {
            throw .badKeyRequest(
                "`apps` must be a list of configured apps without repetition: "
                    + configured.sorted().joined(separator: ", ") + "."
            )
        }
        guard kind != .admin || apps.isEmpty else {
            throw .badKeyRequest("A key of kind admin is for all apps. Leave `apps` out.")
        }
        return apps.sorted()
    }

    private static func name(_ node: JSONNode?) throws(Problem) -> String {
        guard let node else { return "" }
        guard let name = node.string, name.unicodeScalars.count <= longestName,
            !name.unicodeScalars.contains(where: \.isControl),
            name.isEmpty || name.unicodeScalars.contains(where: { !$0.properties.isWhitespace })
        else {
            throw .badKeyRequest(
                "`name` must be one line of at most \(longestName) characters, not blank."
            )
        }
        return name
    }
}

/// A new key and its stored record. The key itself is shown once.
struct NewKey: Sendable {
    let key: APIKey
    let record: KeyRecord

    init(_ createRequest: CreateKeyRequest, at now: Instant, random: () -> UInt64) {
        key = APIKey(createRequest.kind, random: random)
        record = KeyRecord(
            id: Self.id(at: now, random: random()),
            digest: KeyDigest(of: key.text).bytes,
            kind: createRequest.kind,
            apps: createRequest.apps,
            name: createRequest.name,
            createdAt: now
        )
    }

    /// Returns twelve base-32 digits that increase with time: milliseconds, and 15 random bits.
    private static func id(at now: Instant, random: UInt64) -> String {
        let milliseconds = UInt64(max(0, now.millisecondsSince1970)) & (1 << 45 - 1)
        let digits = String(milliseconds << 15 | random >> 49, radix: 32)
        return String(repeating: "0", count: 12 - digits.utf8.count) + digits
    }
}
