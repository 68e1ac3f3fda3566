public import TideoverJSON

extension Pass: FormObject {
    /// The `typ` of the signed document. It prevents other documents from being accepted as a pass.
    public static let documentType = "tideover-pass"

    /// The claims as JSON text.
    public var claims: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// Reads a pass from its claims. Unknown members are ignored, because a later version may add
    /// some. Required members must be present.
    public init(json: JSONNode) throws(FormError) {
        try self.init(form: json, "pass")
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ pass: Pass?
    ) throws(Fields.Failure) -> Pass {
        Pass(
            issuer: try fields.required("iss", pass?.issuer),
            audience: try fields.required("aud", pass?.audience),
            customer: try fields.required("sub", pass?.customer),
            environment: try fields.required("environment", pass?.environment),
            issued: try fields.required("issued", pass?.issued),
            notAfter: try fields.required("notAfter", pass?.notAfter),
            version: try fields.required("version", pass?.version),
            entitlements: try fields.required(
                "entitlements",
                (pass?.entitlements).map(EntitlementsByName.init)
            ).list
        )
    }

    /// An object with an entitlement for each name.
    private struct EntitlementsByName: FormValue {
        let list: [Entitlement]

        init(_ list: [Entitlement]) {
            self.list = list
        }

        package init(form node: JSONNode, _ field: String) throws(FormError) {
            guard node.kind == .object else { throw .wrongType(field: field) }
            var list: [Entitlement] = []
            for (name, member) in node.members {
                var entitlement = try Entitlement(form: member, name)
                entitlement.name = name
                list.append(entitlement)
            }
            self.list = list
        }

        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                for entitlement in list {
                    writer.key(entitlement.name)
                    entitlement.write(to: &writer)
                }
            }
        }
    }
}

extension Pass.Entitlement: FormObject {
    /// The object does not contain the name, which is its key. `access` is for readers in other
    /// languages; here it follows from the state.
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ entitlement: Self?
    ) throws(Fields.Failure) -> Self {
        let state = try fields.required("state", entitlement?.state)
        let reason = try fields.required("reason", entitlement?.reason)
        fields.derived("access", state.givesAccess)
        return Self(
            name: "",
            state: state,
            reason: reason,
            confidence: try fields.required("confidence", entitlement?.confidence),
            productId: try fields.optional("productId", entitlement?.productId),
            accessUntil: try fields.optional("accessUntil", entitlement?.accessUntil),
            graceUntil: try fields.optional("graceUntil", entitlement?.graceUntil),
            willRenew: try fields.optional("willRenew", entitlement?.willRenew),
            nextChange: try fields.optional("nextChange", entitlement?.nextChange),
            notAfter: try fields.required("notAfter", entitlement?.notAfter)
        )
    }
}

extension State: FormWord {}
extension Confidence: FormWord {}
