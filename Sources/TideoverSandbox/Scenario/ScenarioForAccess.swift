import TideoverJSON

extension Scenario {
    /// Whether it uses a device or RevenueCat, which only Tideover supports.
    public var needsDevice: Bool {
        revenueCat != nil || customersConsent
            || steps.contains { step in
                switch step.action {
                case .openApp?, .showPrompt?, .storeAction?: true
                default: false
                }
            }
    }

    /// Every entitlement that one of its products unlocks, in either store, sorted by name.
    public var entitlements: [String] {
        let both = [app.entitlements, googlePlay?.entitlements ?? [:]]
        return Set(both.flatMap { $0.values.joined() }).sorted()
    }
}

extension ScenarioStep {
    /// Returns the same step, reduced to the access check that every back end supports. A required
    /// state is converted to access; all other requirements are omitted.
    package var askingForAccess: ScenarioStep {
        var step = self
        step.events = nil
        let stated = expectations.filter { $0.entitlementPlace?.place == "access" }
        let implied = expectations.compactMap(\.impliedAccess).filter { implied in
            !stated.contains { $0.path == implied.path }
        }
        step.expectations = stated + implied
        return step
    }

    /// Returns the same step, without expectations of other entitlements; unchanged for nil.
    func asking(onlyAbout entitlements: [String]?) -> ScenarioStep {
        guard let entitlements else { return self }
        var step = self
        step.expectations.removeAll { expectation in
            expectation.entitlementPlace.map { !entitlements.contains($0.entitlement) } ?? false
        }
        return step
    }
}

extension ScenarioExpectation {
    /// The entitlement of a field in the answer, and the field's name in it.
    fileprivate var entitlementPlace: (entitlement: String, place: String)? {
        guard path.count == 3, path[0] == "entitlements" else { return nil }
        return (path[1], path[2])
    }

    /// The requirement for `access` that follows from one for `state`; nil if none follows.
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
