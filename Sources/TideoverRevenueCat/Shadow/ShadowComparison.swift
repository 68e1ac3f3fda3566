package import TideoverCore

/// A difference between RevenueCat's decision and ours, to review before switching.
package struct ShadowDifference: Hashable, Sendable {
    package let entitlement: String
    package let kind: Kind
    /// Nil if RevenueCat does not list the entitlement.
    package let theirs: RevenueCatConclusion?
    /// Nil if the catalogue has no such entitlement.
    package let ours: Standing?

    /// The rule that determined our standing; nil if the catalogue has no such entitlement.
    package var rule: Rule.ID? { ours?.rule }

    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// RevenueCat gives access and we do not.
        case deniedHere = "denied-here"
        /// We give access and RevenueCat does not.
        case deniedThere = "denied-there"
        /// Both give access, with different ends.
        case otherEnd = "other-end"
        /// RevenueCat gives access to an entitlement that is not in the catalogue.
        case notInCatalogue = "not-in-catalogue"
        /// RevenueCat gives access by a purchase from another environment than the requested one.
        case otherEnvironment = "other-environment"
    }

    /// One sentence that describes the difference.
    package var sentence: String {
        switch kind {
        case .deniedHere:
            "RevenueCat gives \(entitlement), we do not: \(rule?.sentence ?? "")"
        case .deniedThere:
            "We give \(entitlement), RevenueCat does not: \(rule?.sentence ?? "")"
        case .otherEnd:
            "\(entitlement) ends \(Self.words(theirs?.accessUntil)) at RevenueCat, "
                + "\(Self.words(ours?.accessUntil)) here: \(rule?.sentence ?? "")"
        case .notInCatalogue:
            "RevenueCat gives \(entitlement), which no product of the catalogue unlocks: add it there."
        case .otherEnvironment:
            "RevenueCat gives \(entitlement) by a purchase of "
                + (theirs?.environment?.rawValue ?? "another environment")
                + ", which is not used here."
        }
    }

    private static func words(_ end: Instant?) -> String { end?.rfc3339 ?? "never" }
}

extension Snapshot {
    /// Returns the differences from RevenueCat's response about the same customer at the same
    /// instant, sorted by entitlement. Ends within the tolerance count as equal.
    package func differences(
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
