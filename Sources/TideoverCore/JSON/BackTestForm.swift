public import TideoverJSON

extension BackTest.Report {
    /// Writes the report as one JSON object; lengths are in milliseconds.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in writeMembers(to: &writer, differences: .max) }
    }

    /// Writes the members of the object, with at most a number of differences.
    package func writeMembers(to writer: inout JSONWriter, differences limit: Int) {
        writer.field("from", range.lowerBound)
        writer.field("until", range.upperBound)
        writer.field(
            "entitlements",
            object: { writer in
                for entitlement in entitlements {
                    writer.field(entitlement.name, object: entitlement.writeMembers)
                }
            }
        )
        writer.field(
            "differences",
            array: { writer in
                for difference in differences.prefix(limit) { difference.write(to: &writer) }
            }
        )
    }
}

extension BackTest.Report.Entitlement {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("customersDiffering", customersDiffering)
        writer.field("current", object: current.writeMembers)
        writer.field("tried", object: tried.writeMembers)
    }
}

extension BackTest.Totals {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("accessMilliseconds", access.count)
        writer.field("lockoutMilliseconds", lockout.count)
        writer.field("lockouts", lockouts)
        writer.field("exposureMilliseconds", exposure.count)
        writer.field("exposures", exposures)
    }
}

extension BackTest.Difference {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("customer", customer.text)
            writer.field("entitlement", entitlement)
            writer.field("from", span.lowerBound)
            writer.field("until", span.upperBound)
            writer.field("current", object: current.writeDecision)
            writer.field("tried", object: tried.writeDecision)
        }
    }
}

extension Standing {
    fileprivate func writeDecision(to writer: inout JSONWriter) {
        writer.field("access", access)
        writer.field("state", state.rawValue)
        writer.field("reason", reason.rawValue)
        writer.field("rule", rule.rawValue)
    }
}
