import TideoverCore
import TideoverJSON

// The JSON form of the kept state. Unknown members are ignored; a file with another format is
// treated as missing.

extension KeptState {
    package static let format = 1

    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("format", Self.format)
            writer.field("customer", customer.text)
            writer.field("queue", array: { for piece in queue { piece.write(to: &$0) } })
            writer.field("pass", pass)
            writer.field("keys", array: { for key in keys { key.write(to: &$0) } })
            writer.field("lastSeen", lastSeen?.millisecondsSince1970)
            writer.field("waiting", array: { for product in waiting { $0.value(product) } })
            writer.field(
                "granted",
                array: { for note in granted { $0.note(note.entitlement, until: note.until) } }
            )
            writer.field(
                "artifacts",
                array: { for kept in artifacts { $0.note(kept.entitlement, until: kept.until) } }
            )
        }
        return writer.bytes
    }

    /// Fails if the bytes do not have this form.
    package init?(json bytes: [UInt8]) {
        let limits = JSONLimits(maxBytes: 8 << 20, maxDepth: 8)
        guard let root = try? JSONDocument(bytes, limits: limits).root,
            root["format"]?.int64 == Int64(Self.format),
            let customer = root["customer"]?.string.flatMap({ CustomerID($0) })
        else { return nil }
        self.init(customer: customer)
        queue = root.list("queue").compactMap(QueuedPurchase.init(json:))
        pass = root["pass"]?.string
        keys = root.list("keys").compactMap(PassKey.init(json:))
        lastSeen = root["lastSeen"]?.instant
        waiting = root.list("waiting").compactMap(\.string)
        granted = root.list("granted").compactMap { node in
            node["entitlement"]?.string.map {
                GrantedNote(entitlement: $0, until: node["until"]?.instant)
            }
        }
        artifacts = root.list("artifacts").compactMap { node in
            node["entitlement"]?.string.map {
                KeptArtifacts(entitlement: $0, until: node["until"]?.instant)
            }
        }
    }
}

extension QueuedPurchase {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("transactionId", "\(purchase.transactionId)")
            writer.field("productId", purchase.productId)
            writer.field("isConsumable", purchase.isConsumable)
            writer.field("jws", purchase.jws)
            writer.field("isRefused", isRefused)
        }
    }

    /// Only verified purchases are queued.
    fileprivate init?(json: JSONNode) {
        guard let id = json["transactionId"]?.string.flatMap({ UInt64($0) }),
            let productId = json["productId"]?.string, let jws = json["jws"]?.string
        else { return nil }
        self.init(
            SignedPurchase(
                transactionId: id,
                productId: productId,
                isVerified: true,
                isConsumable: json["isConsumable"]?.bool ?? false,
                jws: jws
            ),
            isRefused: json["isRefused"]?.bool ?? false
        )
    }
}

extension PassKey {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", id)
            writer.field("bytes", Base64.encodeString(bytes, .urlSafe))
        }
    }

    fileprivate init?(json: JSONNode) {
        guard let id = json["id"]?.string, let text = json["bytes"]?.string,
            let bytes = Base64.decode(text.utf8, .urlSafe)
        else { return nil }
        self.init(id: id, bytes: bytes)
    }
}

extension JSONWriter {
    fileprivate mutating func note(_ entitlement: String, until: Instant?) {
        object { writer in
            writer.field("entitlement", entitlement)
            writer.field("until", until?.millisecondsSince1970)
        }
    }
}

extension JSONNode {
    fileprivate var instant: Instant? { int64.map { Instant(millisecondsSince1970: $0) } }

    func list(_ name: String) -> [JSONNode] { self[name].map { Array($0.elements) } ?? [] }
}
