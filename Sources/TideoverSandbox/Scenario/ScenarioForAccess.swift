import TideoverJSON

extension Scenario {
    /// Whether a device takes part in it, or RevenueCat, of which back ends other than Tideover know nothing.
    public var needsDevice: Bool {
        revenueCat != nil
            || steps.contains { step in
                switch step.action {
                case .openApp?, .showPrompt?: true
                default: false
                }
            }
    }

    /// Every entitlement that a product of it unlocks, in either store, in order of name.
    public var entitlements: [String] {
        let both = [app.entitlements, googlePlay?.entitlements ?? [:]]
        return Set(both.flatMap { $0.values.joined() }).sorted()
    }
}

extension ScenarioStep {
    /// The same step with the one question that every back end can answer: is there access? What it requires
    /// of a state is taken for what that state means; whatever else it requires is left out.
    var askingForAccess: ScenarioStep {
        var step = self
        step.events = nil
        let stated = expectations.filter { $0.entitlementPlace?.place == "access" }
        let implied = expectations.compactMap(\.impliedAccess).filter { implied in
            !stated.contains { $0.path == implied.path }
        }
        step.expectations = stated + implied
        return step
    }
}

extension ScenarioExpectation {
    /// The entitlement whose part of the answer the place is in, and the place in it.
    fileprivate var entitlementPlace: (entitlement: String, place: String)? {
        guard path.count == 3, path[0] == "entitlements" else { return nil }
        return (path[1], path[2])
    }

    /// What is required of `access`, where that follows from what is required of `state`.
    fileprivate var impliedAccess: ScenarioExpectation? {
        guard let (entitlement, place) = entitlementPlace, place == "state" else { return nil }
        let states: [JSONValue]
        switch requirement {
        case .equals(let state): states = [state]
        case .oneOf(let several): states = several
        case .not, .between, .present: return nil
        }
        let access = Set(states.map { $0 == "active" || $0 == "grace" })
        guard let only = access.first, access.count == 1 else { return nil }
        return ScenarioExpectation(
            label: "\(entitlement).access",
            path: ["entitlements", entitlement, "access"],
            requirement: .equals(.bool(only))
        )
    }
}
