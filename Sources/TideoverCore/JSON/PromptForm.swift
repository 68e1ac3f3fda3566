public import TideoverJSON

extension PromptExposure {
    /// Writes the exposure as one JSON object; an unknown response is left out.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", id)
            writer.field("kind", kind.rawValue)
            writer.field("shownAt", shownAt.rfc3339)
            writer.said("response", response?.rawValue)
        }
    }
}

extension Prompting {
    /// Writes whether a prompt is shown or delayed, and why.
    public func writeFields(to writer: inout JSONWriter) {
        writer.field("kind", prompt?.kind.rawValue)
        writer.field("heldBy", hold?.reason.rawValue)
        writer.field("heldUntil", hold?.until.rfc3339)
        writer.field("sentence", sentence)
    }
}
