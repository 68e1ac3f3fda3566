public import TideoverJSON

extension Experiment {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", id)
            writer.field("entitlement", entitlement)
            writer.field("start", start)
            writer.said("end", end)
            writer.field("days", Int64(days))
            writer.field("points", Int64(points))
            writer.field("arms", array: { for arm in arms { arm.write(to: &$0) } })
            if let stop { writer.field("stop", object: stop.writeMembers) }
        }
    }

    static func readAll(_ node: JSONNode, _ field: String) throws(FormError) -> [Experiment] {
        guard node.kind == .array else { throw .wrongType(field: field) }
        var all: [Experiment] = []
        for element in node.elements { all.append(try Experiment(json: element)) }
        return all
    }

    private init(json node: JSONNode) throws(FormError) {
        guard node.kind == .object else { throw .wrongType(field: "experiments") }
        self.init(
            id: try node.required("id", Field.text),
            entitlement: try node.required("entitlement", Field.text),
            start: try node.required("start", Field.instant),
            end: try node.optional("end", Field.instant),
            days: Int(try node.required("days", Field.integer)),
            points: Int(try node.required("points", Field.integer)),
            arms: try node.required("arms", Arm.readAll),
            stop: try node.optional("stop", Stop.read)
        )
    }
}

extension Experiment.Stop {
    /// Writes the members of a JSON object, which the caller has opened.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("at", at)
        writer.field("reason", reason.rawValue)
        writer.field("arm", arm)
    }

    fileprivate static func read(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> Experiment.Stop {
        guard node.kind == .object else { throw .wrongType(field: field) }
        return Experiment.Stop(
            at: try node.required("at", Field.instant),
            reason: try node.required("reason", Field.word),
            arm: try node.required("arm", Field.text)
        )
    }
}

extension Experiment.Arm {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", name)
            writer.field("weight", Int64(weight))
            if isHoldout { writer.field("holdout", true) }
            writer.said("quiet", quiet?.text)
            writer.said("channel", channel?.rawValue)
        }
    }

    fileprivate static func readAll(
        _ node: JSONNode,
        _ field: String
    ) throws(FormError) -> [Experiment.Arm] {
        guard node.kind == .array else { throw .wrongType(field: field) }
        var all: [Experiment.Arm] = []
        for element in node.elements {
            guard element.kind == .object else { throw .wrongType(field: field) }
            all.append(
                Experiment.Arm(
                    try element.required("name", Field.text),
                    weight: Int(try element.required("weight", Field.integer)),
                    isHoldout: try element.optional("holdout", Field.flag) ?? false,
                    quiet: try element.optional("quiet", Field.length),
                    channel: try element.optional("channel", Field.word)
                )
            )
        }
        return all
    }
}

extension ExperimentAssignment {
    func writeMembers(to writer: inout JSONWriter) {
        writer.field("id", experiment)
        writer.field("arm", arm.name)
    }
}
