public import TideoverJSON

extension Timeline {
    /// Writes the members `spans`, `expected` and `transitions`. The caller has opened the object.
    public func writeFields(to writer: inout JSONWriter) {
        writer.field("spans", array: { writer in for span in spans { span.write(to: &writer) } })
        writer.field(
            "expected",
            array: { writer in for span in expected { span.write(to: &writer) } }
        )
        writer.field(
            "transitions",
            array: { writer in for one in transitions { one.write(to: &writer) } }
        )
    }
}

extension Timeline.Span {
    /// Writes the span as one JSON object; every member is always present.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("from", from)
            writer.field("until", until)
            writer.field("state", state.rawValue)
            writer.field("reason", reason.rawValue)
            writer.field("access", access)
            writer.field("confidence", confidence.rawValue)
            writer.field("rule", rule.rawValue)
            writer.field("productId", productId)
            writer.field("store", lineage?.store.rawValue)
            writer.field("lineage", lineage?.key)
            writer.field("willRenew", willRenew)
        }
    }
}

extension Transition {
    /// Writes the event as one JSON object; omits members that do not apply to its kind.
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    /// Writes the members of an event. The caller has opened the object.
    public func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("kind", kind.rawValue)
        writer.field("at", at)
        writer.field("learnedAt", learnedAt)
        writer.field("lineage", object: { lineage.writeFields(to: &$0) })
        writer.field("state", state.rawValue)
        writer.field("reason", reason.rawValue)
        writer.field("confidence", confidence.rawValue)
        writer.said("productId", productId)
        writer.said("previousProductId", previousProductId)
        writer.field("entitlements", array: { for name in entitlements { $0.value(name) } })
        writer.said("from", from?.rawValue)
        writer.said("money", money)
        writer.said("durationMilliseconds", duration?.count)
        writer.said("keepArtifactsUntil", keepArtifactsUntil)
        if let recoveredBy {
            writer.field("recoveredBy", object: { recoveredBy.writeFields(to: &$0) })
        }
        writer.said("storefront", storefront)
        writer.field("familyShared", isFamilyShared)
        writer.field("evidence", array: { for id in evidence { $0.value(id.hex) } })
    }
}

extension Corrections.Correction {
    /// Writes the event as one JSON object.
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    /// Writes the members of an event. The caller has opened the object.
    public func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("kind", Self.kind)
        writer.field("undone", undone)
    }
}

extension CustomerNews.Happening {
    /// Writes the members of an event. The caller has opened the object. `language` returns that of
    /// a message in an arm of an experiment.
    public func writeFields(
        to writer: inout JSONWriter,
        in language: (ExperimentAssignment) -> MessageLanguage = { _ in .english }
    ) {
        switch self {
        case .move(let move): move.writeFields(to: &writer)
        case .transition(let transition): transition.writeFields(to: &writer)
        case .reminder(let reminder): reminder.writeFields(to: &writer)
        case .message(let message):
            message.writeFields(to: &writer, in: message.experiment.map(language) ?? .english)
        }
    }
}

extension PurchaseMove {
    /// Writes the members of an event. The caller has opened the object.
    public func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("kind", Self.eventKind)
        writer.field("at", at)
        writer.field("lineage", object: { lineage.writeFields(to: &$0) })
        writer.field("why", why.rawValue)
    }
}

extension Reminder {
    /// Writes the members of an event. The caller has opened the object.
    public func writeFields(to writer: inout JSONWriter) {
        deadline.writeFields(to: &writer)
        writer.field("endsAt", endsAt)
        writer.field("willRenew", willRenew)
    }
}

extension Deadline {
    /// Writes the deadline as one JSON object.
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    /// Writes the members of a deadline. The caller has opened the object.
    public func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("kind", kind.rawValue)
        writer.field("at", at)
        writer.field("lineage", object: { lineage.writeFields(to: &$0) })
        writer.said("productId", productId)
    }
}
