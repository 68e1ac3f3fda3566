public import TideoverJSON

extension Snapshot {
    /// Writes the members `entitlements`, `prompt` and, if messages are planned, `plan`: the part of
    /// an answer that versions and ETags cover. The caller has opened the object and adds the customer, environment and time.
    public func writeAnswer(to writer: inout JSONWriter) {
        writeAnswer(to: &writer) { $0.write(to: &$1) }
    }

    /// Writes the same members; `write` writes the answer of an entitlement.
    package func writeAnswer(
        to writer: inout JSONWriter,
        entitlement write: (Entitlement, inout JSONWriter) -> Void
    ) {
        writer.field(
            "entitlements",
            object: { writer in
                for entitlement in entitlements {
                    writer.key(entitlement.name)
                    write(entitlement, &writer)
                }
            }
        )
        writer.key("prompt")
        guard let prompt else {
            writer.object { $0.field("kind", "none") }
            writePlan(to: &writer)
            return
        }
        prompt.write(to: &writer)
        writePlan(to: &writer)
    }

    private func writePlan(to writer: inout JSONWriter) {
        guard !plan.isEmpty else { return }
        writer.field("plan", array: { for message in plan { message.write(to: &$0) } })
    }
}

extension Snapshot.Entitlement {
    /// Writes one entitlement's answer as a JSON object; every member is always present.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("state", standing.state.rawValue)
            writer.field("reason", standing.reason.rawValue)
            writer.field("access", standing.access)
            writer.field("confidence", standing.confidence.rawValue)
            writer.field("rule", standing.rule.rawValue)
            writer.field("productId", standing.productId)
            writer.field("store", standing.lineage?.store.rawValue)
            writer.field("accessUntil", accessUntil)
            writer.field("graceUntil", standing.graceUntil)
            writer.field("willRenew", standing.willRenew)
            standing.trial.write(to: &writer)
            writer.field("pending", array: { for purchase in pending { purchase.write(to: &$0) } })
            writer.field("nextChange", nextChange)
            writer.field("keepArtifactsUntil", keepArtifactsUntil)
            guidance.writeMembers(to: &writer)
        }
    }
}

/// The members of an entitlement's answer in every event, for systems that mirror the answers.
public enum MirroredMember: String, Hashable, Sendable, CaseIterable {
    case access, state, reason, confidence, productId, store, accessUntil, graceUntil, willRenew

    /// The members in the order in which an entitlement's answer has them.
    package static let written: [MirroredMember] = [
        .state, .reason, .access, .confidence, .productId, .store, .accessUntil, .graceUntil,
        .willRenew,
    ]
}

extension Snapshot.Entitlement {
    /// Writes the event members as a JSON object, with the names and values that `write` uses.
    public func writeMirrored(to writer: inout JSONWriter) {
        writer.object { writer in
            for member in MirroredMember.allCases {
                writer.field(member.rawValue, self[member])
            }
        }
    }

    /// The value of a member, as `write` writes it.
    public subscript(_ member: MirroredMember) -> JSONValue {
        let text: String?
        switch member {
        case .access: return .bool(standing.access)
        case .willRenew: return standing.willRenew.map(JSONValue.bool) ?? .null
        case .state: text = standing.state.rawValue
        case .reason: text = standing.reason.rawValue
        case .confidence: text = standing.confidence.rawValue
        case .productId: text = standing.productId
        case .store: text = standing.lineage?.store.rawValue
        case .accessUntil: text = accessUntil?.rfc3339
        case .graceUntil: text = standing.graceUntil?.rfc3339
        }
        return text.map(JSONValue.string) ?? .null
    }
}

extension Snapshot.Pending {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("productId", productId)
            writer.field("store", store.rawValue)
            writer.field("since", since)
            writer.said("until", until)
        }
    }
}

extension Trial? {
    fileprivate func write(to writer: inout JSONWriter) {
        guard let trial = self else {
            writer.field("trial", String?.none)
            return
        }
        writer.field(
            "trial",
            object: { writer in
                writer.field("startedAt", trial.startedAt)
                writer.field("endsAt", trial.endsAt)
                writer.field("cancelBy", trial.cancelBy)
                writer.field("daysLeft", trial.daysLeft)
                writer.field("urgent", trial.urgent)
            }
        )
    }
}

extension Prompt {
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("kind", kind.rawValue)
            writer.field("entitlement", entitlement)
            writer.field("key", key)
            writer.field("arguments", object: wording.screen.writeArguments)
            writer.field("title", title)
            writer.field("message", message)
            writer.field(
                "action",
                object: { writer in
                    writer.field("label", action.label)
                    writer.field("url", action.url)
                }
            )
            writer.field(
                "alternatives",
                array: { writer in for one in alternatives { writer.value(one.rawValue) } }
            )
            if let experiment {
                writer.field("experiment", object: experiment.writeMembers)
            }
        }
    }
}
