public import TideoverJSON

extension Snapshot {
    /// Writes the members `entitlements` and `prompt`, the part of an answer that versions and
    /// ETags cover. The caller has opened the object and adds who, where and when.
    public func writeAnswer(to writer: inout JSONWriter) {
        writer.field(
            "entitlements",
            object: { writer in
                for entitlement in entitlements {
                    writer.key(entitlement.name)
                    entitlement.write(to: &writer)
                }
            }
        )
        writer.key("prompt")
        guard let prompt else {
            writer.object { $0.field("kind", "none") }
            return
        }
        prompt.write(to: &writer)
    }
}

extension Snapshot.Entitlement {
    /// Writes one entitlement's answer as a JSON object; every member is always there.
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
        }
    }
}
