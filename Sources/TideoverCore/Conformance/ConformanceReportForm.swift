public import TideoverJSON

extension ConformanceReport {
    /// Writes the members `cases`, `passed`, `failed`, `malformed`, `notRun` and `outcomes` into the
    /// object that the caller has opened.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("cases", outcomes.count)
        writer.field("passed", passed)
        writer.field("failed", failed)
        writer.field("malformed", malformed)
        writer.field("notRun", notRun)
        writer.field("outcomes", array: { for outcome in outcomes { outcome.write(to: &$0) } })
    }
}

extension ConformanceOutcome {
    /// Writes the outcome as a JSON object.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", name)
            writer.field("source", source)
            writer.field("line", line)
            switch result {
            case .passed: writer.field("result", "passed")
            case .failed(let differences):
                writer.field("result", "failed")
                writer.field(
                    "differences",
                    array: { for difference in differences { difference.write(to: &$0) } }
                )
            case .malformed(let fault):
                writer.field("result", "malformed")
                writer.field("fault", object: fault.writeMembers)
            case .notRun(let store):
                writer.field("result", "notRun")
                writer.field("store", store)
            }
        }
    }
}

extension ConformanceDifference {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("line", line)
            switch self {
            case .answer(_, let instant, let member, let expected, let got):
                writer.field("at", instant.rfc3339)
                writer.field("member", member)
                writer.field("expected", expected)
                writer.field("got", got)
            case .refused(_, let reason): writer.field("refused", reason)
            }
        }
    }
}

extension ConformanceFault {
    /// Writes the members `line`, `column` and `sentence` into the object that the caller has
    /// opened.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("line", line)
        writer.field("column", column)
        writer.field("sentence", description)
    }
}
