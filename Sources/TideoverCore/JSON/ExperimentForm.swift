public import TideoverJSON

extension Experiment: FormObject {
    /// Reads an experiment within the limits of a configuration: others cannot be assigned.
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        guard node.kind == .object else { throw .wrongType(field: field) }
        var fields = FormReader(node)
        self = try Self.form(&fields, nil)
        guard arms.count > 1 else { throw .missing(field: "arms") }
        let counts = [("days", days, Self.mostDays), ("points", points, Self.mostPoints)]
        for (name, count, most) in counts + arms.map({ ("weight", $0.weight, Arm.mostWeight) })
        where count < 1 || count > most {
            throw .unknownWord(field: name, value: String(count))
        }
    }

    /// A document checks the limits.
    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        throw WrittenJSON.Mismatch()
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ experiment: Experiment?
    ) throws(Fields.Failure) -> Experiment {
        Experiment(
            id: try fields.required("id", experiment?.id),
            entitlement: try fields.required("entitlement", experiment?.entitlement),
            start: try fields.required("start", experiment?.start),
            end: try fields.optional("end", experiment?.end),
            days: try fields.required("days", experiment?.days),
            points: try fields.required("points", experiment?.points),
            arms: try fields.required("arms", experiment?.arms),
            stop: try fields.optional("stop", experiment?.stop)
        )
    }
}

extension Experiment.Stop: FormObject {
    /// Writes the members of a JSON object, which the caller has opened.
    public func writeMembers(to writer: inout JSONWriter) {
        writeFields(to: &writer)
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ stop: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            at: try fields.required("at", stop?.at),
            reason: try fields.required("reason", stop?.reason),
            arm: try fields.required("arm", stop?.arm)
        )
    }
}

extension ExperimentReport.Alarm: FormWord {}

extension Experiment.Arm: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ arm: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            try fields.required("name", arm?.name),
            weight: try fields.required("weight", arm?.weight),
            isHoldout: try fields.optional("holdout", arm?.isHoldout, else: false),
            quiet: try fields.optional("quiet", arm?.quiet),
            channel: try fields.optional("channel", arm?.channel)
        )
    }
}

extension PlannedMessage.Channel: FormWord {}

extension ExperimentAssignment {
    func writeMembers(to writer: inout JSONWriter) {
        writer.field("id", experiment)
        writer.field("arm", arm.name)
    }
}
