import TideoverJSON

/// Reads the RevenueCat parts of a scenario's head.
struct RelayHeadReader {
    /// The whole scenario.
    let top: JSONNode
    let entitlements: [String: [String]]

    /// Nil if the scenario has no RevenueCat.
    func read() throws(ScenarioError) -> ScenarioRevenueCat? {
        guard let node = top["revenueCat"] else { return nil }
        let reader = try ObjectReader(
            node,
            "revenueCat",
            keys: ["authorization", "signatureSecret", "lag", "alone"]
        )
        let setup = RelaySetup(
            authorization: try reader.required("authorization", readString),
            signatureSecret: try reader.optional("signatureSecret", readString),
            lag: try reader.optional("lag", readSpan)?.end(of: 1, from: 0) ?? 0,
            entitlements: entitlements
        )
        return ScenarioRevenueCat(setup: setup, isAlone: try reader.flag("alone") ?? false)
    }
}

/// The actions of a step in RevenueCat.
private enum RelayVerb: String, CaseIterable {
    case loseWebhooks, deliverWebhooks, transfer
}

extension StepReader {
    /// Whether a step is an action in RevenueCat; only in a scenario with RevenueCat.
    func isRelayed(_ node: JSONNode) -> Bool {
        revenueCat != nil && RelayVerb.allCases.contains { $0.rawValue == node["do"]?.string }
    }

    /// Reads a step in RevenueCat.
    func relayStep(
        _ node: JSONNode,
        after previous: Int64
    ) throws(ScenarioError) -> ScenarioStep {
        let verb = try named(node["do"] ?? node, .action, RelayVerb.allCases) { $0.rawValue }
        let reader = try ObjectReader(
            node,
            "a step that does \"\(verb.rawValue)\"",
            keys: StepReader.commonKeys + (verb == .transfer ? ["to"] : [])
        )
        let action: ScenarioRelayAction
        switch verb {
        case .loseWebhooks: action = .loseWebhooks(true)
        case .deliverWebhooks: action = .loseWebhooks(false)
        case .transfer:
            let to = try reader.required("to") { (node) throws(ScenarioError) in
                try named(node, .customer, customers) { $0.name }.name
            }
            action = .transfer(to: to)
        }
        let looks =
            node["expect"] != nil || node["events"] != nil || node["revenueCat"] != nil
            || verb == .transfer
        return ScenarioStep(
            line: node.position.line,
            at: try instant(reader, after: previous),
            customer: looks ? try customer(reader) : nil,
            action: .revenueCat(action),
            refusal: nil,
            expectations: try expectations(reader),
            events: try reader.optional("events", readStrings),
            note: try reader.optional("note", readString),
            relayed: try relayed(reader)
        )
    }

    /// Reads the required content of RevenueCat's own answer: for each entitlement, whether it is
    /// active.
    func relayed(_ reader: ObjectReader) throws(ScenarioError) -> [ScenarioStep.Relayed] {
        guard let node = reader.node["revenueCat"] else { return [] }
        try checkKind(node, .object, "revenueCat", .object)
        guard revenueCat != nil else {
            throw fault(.missingKey("revenueCat", in: "the head"), node)
        }
        var relayed: [ScenarioStep.Relayed] = []
        for (name, member) in node.members {
            guard let isActive = member.bool else {
                throw fault(.expected(.bool, for: name), member)
            }
            relayed.append(ScenarioStep.Relayed(entitlement: name, isActive: isActive))
        }
        return relayed
    }
}
