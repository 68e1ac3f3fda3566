public import TideoverJSON

extension Pass {
    /// The `typ` of the signed document. It prevents other documents from being accepted as a pass.
    public static let documentType = "tideover-pass"

    /// The claims as JSON text.
    public var claims: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("iss", issuer)
            writer.field("aud", audience)
            writer.field("sub", customer.text)
            writer.field("environment", environment.rawValue)
            writer.field("issued", issued)
            writer.field("notAfter", notAfter)
            writer.field("version", version)
            writer.field(
                "entitlements",
                object: { writer in
                    for entitlement in entitlements {
                        writer.key(entitlement.name)
                        entitlement.write(to: &writer)
                    }
                }
            )
        }
        return writer.bytes
    }

    /// Reads a pass from its claims. Unknown members are ignored, because a later version may add
    /// some. Required members must be present.
    public init(json: JSONNode) throws(FormError) {
        let entitlements = try json.required("entitlements") {
            node,
            field throws(FormError) in
            guard node.kind == .object else { throw .wrongType(field: field) }
            var entitlements: [Entitlement] = []
            for (name, member) in node.members {
                entitlements.append(try Entitlement(name: name, json: member))
            }
            return entitlements
        }
        self.init(
            issuer: try json.required("iss", Field.text),
            audience: try json.required("aud", Field.text),
            customer: try json.required("sub", Field.customer),
            environment: try json.required("environment", Field.word),
            issued: try json.required("issued", Field.instant),
            notAfter: try json.required("notAfter", Field.instant),
            version: try json.required("version", Field.integer),
            entitlements: entitlements
        )
    }
}

extension Pass.Entitlement {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("state", state.rawValue)
            writer.field("reason", reason)
            writer.field("access", access)
            writer.field("confidence", confidence.rawValue)
            writer.said("productId", productId)
            writer.said("accessUntil", accessUntil)
            writer.said("graceUntil", graceUntil)
            writer.said("willRenew", willRenew)
            writer.said("nextChange", nextChange)
            writer.field("notAfter", notAfter)
        }
    }

    /// Reads an entitlement. `access` is for readers in other languages; here it follows from the
    /// state.
    fileprivate init(name: String, json: JSONNode) throws(FormError) {
        self.init(
            name: name,
            state: try json.required("state", Field.word),
            reason: try json.required("reason", Field.text),
            confidence: try json.required("confidence", Field.word),
            productId: try json.optional("productId", Field.text),
            accessUntil: try json.optional("accessUntil", Field.instant),
            graceUntil: try json.optional("graceUntil", Field.instant),
            willRenew: try json.optional("willRenew", Field.flag),
            nextChange: try json.optional("nextChange", Field.instant),
            notAfter: try json.required("notAfter", Field.instant)
        )
    }
}
