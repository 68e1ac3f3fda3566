public import TideoverJSON

extension Explanation {
    /// Writes the explanation as one JSON object; every member is always present. `decision` has
    /// the form of a snapshot's entitlement.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("decision")
            decision.write(to: &writer)
            writer.field("why", .array(why.map(JSONValue.string)))
            lineage.write(to: &writer)
            writer.field(
                "used",
                array: { writer in
                    for fact in used { fact.write(to: &writer) }
                }
            )
            writer.field(
                "setAside",
                array: { writer in
                    for fact in setAside { fact.write(to: &writer) }
                }
            )
            writer.field(
                "others",
                array: { writer in
                    for voice in others { voice.write(to: &writer) }
                }
            )
            writeNext(to: &writer)
            writer.field("reply", .array(reply.map(JSONValue.string)))
        }
    }

    private func writeNext(to writer: inout JSONWriter) {
        guard let next, let at = decision.nextChange else {
            writer.field("next", String?.none)
            return
        }
        writer.field(
            "next",
            object: { writer in
                writer.field("at", at)
                writer.key("decision")
                next.write(to: &writer)
                writer.field("why", next.standing.sentence)
            }
        )
    }
}

extension Explanation.UsedFact {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("as", .array(roles.map { .string($0.rawValue) }))
            writer.field("says", fact.assertion.summary)
            writer.key("fact")
            fact.write(to: &writer)
        }
    }
}

extension Explanation.SetAsideFact {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("because", reason.rawValue)
            writer.field("sentence", reason.sentence)
            writer.field("says", fact.assertion.summary)
            writer.key("fact")
            fact.write(to: &writer)
        }
    }
}

extension Explanation.Voice {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            lineage.write(to: &writer, as: "lineage")
            writer.field("owned", standing != nil)
            writer.field("state", standing?.state.rawValue)
            writer.field("reason", standing?.reason.rawValue)
            writer.field("access", standing?.access)
            writer.field("confidence", standing?.confidence.rawValue)
            writer.field("accessUntil", standing?.accessUntil)
            writer.field("rule", standing?.rule.rawValue)
            writer.field("why", standing?.sentence)
        }
    }
}

extension Lineage? {
    fileprivate func write(to writer: inout JSONWriter) {
        guard let lineage = self else {
            writer.field("lineage", String?.none)
            return
        }
        lineage.write(to: &writer, as: "lineage")
    }
}

extension Lineage {
    fileprivate func write(to writer: inout JSONWriter, as key: String) {
        writer.field(key, object: { writeFields(to: &$0) })
    }
}
