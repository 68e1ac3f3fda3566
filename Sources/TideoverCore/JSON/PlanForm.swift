public import TideoverJSON

extension PlannedMessage {
    /// Writes the message as an answer has it: without texts, which the app has by their key.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", id)
            writer.field("about", kind.rawValue)
            writer.field("channel", channel.rawValue)
            writer.field("at", at)
            writer.field("until", until)
            writer.field("entitlements", .array(entitlements.map(JSONValue.string)))
            writer.field("key", wording.screen.key.rawValue)
            writer.field("arguments", object: wording.screen.writeArguments)
            writeExperiment(to: &writer)
        }
    }

    /// Writes the members of an event, with the texts of a language. The caller has opened the
    /// object.
    public func writeFields(
        to writer: inout JSONWriter,
        in language: MessageLanguage = .english
    ) {
        writer.field("id", id)
        writer.field("kind", Self.eventKind)
        writer.field("about", kind.rawValue)
        writer.field("channel", channel.rawValue)
        writer.field("at", at)
        writer.field("until", until)
        writer.field("lineage", object: { lineage.writeFields(to: &$0) })
        writer.said("productId", productId)
        writer.field("entitlements", .array(entitlements.map(JSONValue.string)))
        writer.field("key", wording.screen.key.rawValue)
        writer.field("arguments", object: wording.screen.writeArguments)
        writer.field("title", wording.title(in: language))
        writer.field("message", wording.message(in: language))
        writer.said("label", language[wording.screen.key].label)
        writeExperiment(to: &writer)
    }

    private func writeExperiment(to writer: inout JSONWriter) {
        if let experiment { writer.field("experiment", object: experiment.writeMembers) }
    }
}

extension Policy.Plan: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ plan: Self?
    ) throws(Fields.Failure) -> Self {
        var form = Self()
        for kind in PlannedMessage.Kind.allCases {
            form.channels[kind] = try fields.optional(kind.rawValue, plan?.channels[kind])
        }
        return form
    }
}
