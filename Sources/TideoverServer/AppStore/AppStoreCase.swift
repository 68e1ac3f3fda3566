import TideoverAppStore
import TideoverCore
import TideoverJSON

/// A decoded App Store message of a conformance table, read by the reader of signed messages. Each
/// part replaces its JWS.
struct AppStoreCase {
    private let message: ConformanceMessage
    private let parts: [String: JSONObject]

    private static let names = ["notification", "transaction", "renewalInfo", "appTransaction"]
    private static let nested = [
        "transaction": "signedTransactionInfo", "renewalInfo": "signedRenewalInfo",
    ]
    private static let bundleId = "com.example.app"

    init(_ message: ConformanceMessage) throws(ConformanceMessageFault) {
        var parts: [String: JSONObject] = [:]
        for (name, value) in message.content {
            guard Self.names.contains(name) else { throw .unknownPart(name) }
            parts[name] = value.object.map(\.withWireDates)
        }
        guard !parts.isEmpty else { throw .empty }
        self.message = message
        self.parts = parts
    }

    func facts() throws -> [Fact] {
        let payloads = try payloads().mapValues { object in
            try JSONDocument(JSONValue.object(object).encoded())
        }
        // A notification contains the other parts; without one, each part is a message by itself.
        let outermost =
            payloads["notification"] == nil
            ? Self.names.filter { payloads[$0] != nil } : ["notification"]
        return try outermost.flatMap { name in
            let reading = try reader.read(Array(name.utf8)) { part in
                guard let payload = payloads[String(decoding: part, as: UTF8.self)] else {
                    throw ConformanceMessageFault.unknownPart(String(decoding: part, as: UTF8.self))
                }
                return VerifiedPayload(payload: payload, authority: authority)
            }
            return reading.facts(
                learnedAt: message.learnedAt ?? reading.latestSignedAt,
                source: name == "notification" ? .appStoreNotification : .deviceTransaction,
                evidence: message.evidence
            )
        }
    }

    // MARK: Identity

    private func said(_ member: String) -> String? {
        let data = parts["notification"]?["data"]?.object
        return [data, parts["transaction"], parts["renewalInfo"]]
            .compactMap { $0?[member]?.string }.first
    }

    private var environment: String { said("environment") ?? StoreEnvironment.production.rawValue }

    private var reader: AppStoreReader {
        AppStoreReader(
            app: AppStoreIdentity(
                bundleId: said("bundleId") ?? Self.bundleId,
                environments: Set(Environment.allCases)
            )
        )
    }

    private var authority: Authority {
        switch StoreEnvironment(rawValue: environment) {
        case .xcode, .localTesting: .pinned(.xcode)
        case .production, .sandbox, nil: .appStore
        }
    }

    // MARK: Defaults

    private func payloads() -> [String: JSONObject] {
        let signedDate = parts["notification"]?["signedDate"]
        var payloads = parts.mapValues { part in
            var part = part
            part["signedDate"] = part["signedDate"] ?? signedDate
            part["environment"] = part["environment"] ?? .string(environment)
            return part
        }
        payloads["transaction"]?["bundleId"] = .string(said("bundleId") ?? Self.bundleId)
        payloads["notification"] = parts["notification"].map(envelope)
        return payloads
    }

    private func envelope(_ notification: JSONObject) -> JSONObject {
        var notification = notification
        let id = notification["notificationUUID"] ?? .string(message.evidence.hex)
        notification["notificationUUID"] = id
        let others = ["summary", "externalPurchaseToken", "appData"]
        guard others.allSatisfy({ notification[$0] == nil }) else { return notification }
        var data = notification["data"]?.object ?? JSONObject()
        data["bundleId"] = .string(said("bundleId") ?? Self.bundleId)
        data["environment"] = .string(environment)
        for (part, member) in Self.nested where parts[part] != nil { data[member] = .string(part) }
        notification["data"] = .object(data)
        return notification
    }
}

extension JSONObject {
    /// The object with each RFC 3339 date converted to the App Store's milliseconds, at any depth.
    fileprivate var withWireDates: JSONObject {
        reduce(into: JSONObject()) { changed, member in
            changed[member.key] = member.value.withWireDates(isDate: member.key.hasSuffix("Date"))
        }
    }
}

extension JSONValue {
    fileprivate func withWireDates(isDate: Bool) -> JSONValue {
        switch self {
        case .object(let object): .object(object.withWireDates)
        case .string(let text) where isDate:
            Instant(rfc3339: text).map { .integer($0.millisecondsSince1970) } ?? self
        case .array, .string, .null, .bool, .integer, .double: self
        }
    }
}
