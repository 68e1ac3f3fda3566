import TideoverCore
import TideoverJSON

/// The reports on an app's experiments in one environment.
struct ExperimentRows: MeasuredRows {
    let reports: [ExperimentReport]

    func writeFields(to writer: inout JSONWriter) {
        writer.field("experiments", array: { for one in reports { one.write(to: &$0) } })
    }
}

extension ExperimentReport {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", experiment.id)
            writer.field("entitlement", experiment.entitlement)
            writer.field("start", experiment.start.rfc3339)
            writer.field("end", experiment.end?.rfc3339)
            writer.field("state", experiment.phase(at: asOf).rawValue)
            if let stop = experiment.stop {
                writer.field("stop", object: stop.writeMembers)
            } else {
                writer.field("stop", String?.none)
            }
            writer.field("days", experiment.days)
            writer.field("points", experiment.points)
            writer.field("arms", array: { for row in rows { row.write(to: &$0) } })
        }
    }
}

extension ExperimentReport.Row {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("arm", arm)
            writer.field("entries", entries)
            writer.field("exposed", exposed)
            writer.field("needed", needed)
            writer.field("recovered", recovery?.value)
            writer.field("difference", difference)
            writer.field("lockouts", lockouts)
            writer.field("refunds", refunds)
            writer.field("alarm", alarm?.rawValue)
            writer.field("sentence", sentence)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func field(_ name: String, _ difference: ExperimentReport.Difference?) {
        guard let difference else {
            field(name, String?.none)
            return
        }
        field(
            name,
            object: { writer in
                writer.field("value", difference.value)
                writer.field("lower", difference.interval.lower)
                writer.field("upper", difference.interval.upper)
            }
        )
    }
}
