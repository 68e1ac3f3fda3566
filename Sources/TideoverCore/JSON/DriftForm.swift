public import TideoverJSON

extension Drift {
    /// Writes the drift as one JSON object; omits unknown members.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", id)
            writer.field("customer", customer.text)
            writer.field("environment", environment.rawValue)
            writer.field("entitlement", entitlement)
            if let lineage {
                writer.key("lineage")
                lineage.write(to: &writer)
            }
            writer.field("direction", direction.rawValue)
            writer.field("cause", cause.rawValue)
            writer.field("sentence", cause.sentence)
            writer.field("openedAt", openedAt.rfc3339)
            writer.said("healedAt", healing?.at)
            writer.said("healedBy", healing?.by.rawValue)
            writer.said("agreedAccess", healing?.access)
            if let lockout {
                writer.field("lockoutMinutes", Double(lockout.count) / 60_000)
            }
            writer.key("device")
            device.write(to: &writer)
            writer.key("server")
            server.write(to: &writer)
        }
    }

    public init(json: JSONNode) throws(FormError) {
        self.init(
            customer: try json.required("customer", Field.customer),
            environment: try json.required("environment", Field.word),
            entitlement: try json.required("entitlement", Field.text),
            lineage: try json.optional("lineage", Lineage.read),
            direction: try json.required("direction", Field.word),
            cause: try json.required("cause", Field.word),
            openedAt: try json.required("openedAt", Field.instant),
            device: try json.required("device", DeviceWord.read),
            server: try json.required("server", ServerWord.read)
        )
        let healedAt = try json.optional("healedAt", Field.instant)
        guard let healedAt else { return }
        healing = Healing(
            at: healedAt,
            by: try json.required("healedBy", Field.word),
            access: try json.required("agreedAccess", Field.flag)
        )
    }
}

extension DeviceConclusion {
    /// The names of its members.
    public static let members = ["deviceTime", "askedAt", "environment", "entitlements"]

    /// Reads a device's report: `{"deviceTime", "askedAt", "environment", "entitlements":
    /// {"premium": {"access": true, "until", "productId", "originalTransactionId", "verified",
    /// "unfinished": []}}}`. Only `access` is required; an `until` of null means permanent.
    public init(json: JSONNode) throws(FormError) {
        guard json.kind == .object else { throw .wrongType(field: "device") }
        self.init(
            at: try json.optional("deviceTime", Field.instant),
            askedAt: try json.optional("askedAt", Field.instant),
            environment: try json.optional("environment", DeviceWord.short)
        )
        guard let list = json["entitlements"], !list.isNull else { return }
        guard list.kind == .object else { throw .wrongType(field: "entitlements") }
        for (name, node) in list.members { words[name] = try DeviceWord.read(node, name) }
    }
}

extension DeviceWord {
    /// The names of its members.
    public static let members = [
        "access", "until", "productId", "originalTransactionId", "verified", "unfinished",
    ]

    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("access", access)
            switch end {
            case .unsaid: break
            case .never: writer.field("until", String?.none)
            case .at(let instant): writer.field("until", instant.rfc3339)
            }
            writer.said("productId", productId)
            writer.said("originalTransactionId", originalTransactionId)
            writer.field("verified", isVerified)
            if !unfinished.isEmpty {
                writer.field("unfinished", .array(unfinished.map(JSONValue.string)))
            }
        }
    }

    fileprivate static func read(_ node: JSONNode, _ field: String) throws(FormError) -> DeviceWord
    {
        guard node.kind == .object else { throw .wrongType(field: field) }
        return DeviceWord(
            access: try node.required("access", Field.flag),
            end: try end(node),
            productId: try node.optional("productId", short),
            originalTransactionId: try node.optional("originalTransactionId", short),
            isVerified: try node.optional("verified", Field.flag) ?? true,
            unfinished: try node.optional("unfinished", unfinished) ?? []
        )
    }

    /// Reads an ID of the store. A longer text is not an ID and must not be stored.
    fileprivate static func short(_ node: JSONNode, _ field: String) throws(FormError) -> String {
        let text = try Field.text(node, field)
        guard text.utf8.count <= 255 else {
            throw .unknownWord(field: field, value: String(text.prefix(32)))
        }
        return text
    }

    /// Reads at most as many IDs as one request can present.
    private static func unfinished(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> [String] {
        guard node.kind == .array, node.count <= 32 else { throw .wrongType(field: field) }
        var ids: [String] = []
        for element in node.elements { ids.append(try short(element, field)) }
        return ids
    }

    private static func end(_ node: JSONNode) throws(FormError) -> End {
        guard let until = node["until"] else { return .unsaid }
        return until.isNull ? .never : .at(try Field.instant(until, "until"))
    }
}

extension ServerWord {
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("access", access)
            writer.field("state", state.rawValue)
            writer.field("confidence", confidence.rawValue)
            writer.field("until", until)
            writer.said("productId", productId)
            if let lineage {
                writer.key("lineage")
                lineage.write(to: &writer)
            }
            writer.said("saidAt", saidAt)
        }
    }

    fileprivate static func read(_ node: JSONNode, _ field: String) throws(FormError) -> ServerWord
    {
        ServerWord(
            state: try node.required("state", Field.word),
            confidence: try node.required("confidence", Field.word),
            until: try node.optional("until", Field.instant),
            productId: try node.optional("productId", Field.text),
            lineage: try node.optional("lineage", Lineage.read),
            saidAt: try node.optional("saidAt", Field.instant)
        )
    }
}
