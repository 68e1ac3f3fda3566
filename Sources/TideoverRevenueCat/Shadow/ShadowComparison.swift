public import TideoverCore

/// RevenueCat's answer beside ours, for whoever wants to know what would change before switching.
public struct ShadowDifference: Hashable, Sendable {
    public let entitlement: String
    public let kind: Kind
    /// Nil where RevenueCat does not list the entitlement.
    public let theirs: RevenueCatConclusion?
    /// Nil where the catalogue has no such entitlement.
    public let ours: Standing?

    /// The rule of ours that decided; nil where the catalogue has no such entitlement.
    public var rule: Rule.ID? { ours?.rule }

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// RevenueCat gives access and we do not.
        case deniedHere = "denied-here"
        /// We give access and RevenueCat does not.
        case deniedThere = "denied-there"
        /// Both give access, until another instant.
        case otherEnd = "other-end"
        /// RevenueCat gives access to something that the catalogue does not have.
        case notInCatalogue = "not-in-catalogue"
        /// RevenueCat gives access by a purchase of another environment than the one asked about.
        case otherEnvironment = "other-environment"
    }

    /// One sentence for whoever reads the comparison.
    public var sentence: String {
        switch kind {
        case .deniedHere:
            "RevenueCat gives \(entitlement), we do not: \(rule?.sentence ?? "")"
        case .deniedThere:
            "We give \(entitlement), RevenueCat does not: \(rule?.sentence ?? "")"
        case .otherEnd:
            "\(entitlement) ends \(Self.words(theirs?.accessUntil)) by RevenueCat, "
                + "\(Self.words(ours?.accessUntil)) by us: \(rule?.sentence ?? "")"
        case .notInCatalogue:
            "RevenueCat gives \(entitlement), which no product of the catalogue unlocks: add it there."
        case .otherEnvironment:
            "RevenueCat gives \(entitlement) by a purchase of "
                + "\(theirs?.environment?.rawValue ?? "another environment"), which never answers here."
        }
    }

    private static func words(_ end: Instant?) -> String { end?.rfc3339 ?? "never" }
}

extension Snapshot {
    /// Where RevenueCat's answer about the same customer differs from this one at the same instant, by
    /// entitlement in alphabetical order. Ends that lie no farther apart than the tolerance are the same.
    public func differences(
        from theirs: RevenueCatSubscriber,
        tolerance: Milliseconds = .minutes(1)
    ) -> [ShadowDifference] {
        let names = Set(entitlements.map(\.name) + theirs.entitlements.map(\.name))
        return names.sorted().compactMap { name in
            let conclusion = theirs.conclusion(on: name, at: asOf)
            return kind(of: name, conclusion, tolerance).map { kind in
                ShadowDifference(
                    entitlement: name,
                    kind: kind,
                    theirs: conclusion,
                    ours: self[name]?.standing
                )
            }
        }
    }

    private func kind(
        of name: String,
        _ theirs: RevenueCatConclusion?,
        _ tolerance: Milliseconds
    ) -> ShadowDifference.Kind? {
        let isTheirs = theirs?.isActive ?? false
        guard let ours = self[name] else { return isTheirs ? .notInCatalogue : nil }
        switch (isTheirs, ours.standing.access) {
        case (true, false):
            let isElsewhere = theirs?.environment.map { $0 != environment } ?? false
            return isElsewhere ? .otherEnvironment : .deniedHere
        case (false, true): return .deniedThere
        case (false, false): return nil
        case (true, true):
            return isSame(theirs?.accessUntil, ours.accessUntil, tolerance) ? nil : .otherEnd
        }
    }

    private func isSame(_ a: Instant?, _ b: Instant?, _ tolerance: Milliseconds) -> Bool {
        guard let a, let b else { return a == b }
        return a.isWithin(tolerance, of: b)
    }
}
