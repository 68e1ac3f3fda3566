/// A value that the operator changes over time, a policy or a catalogue: each version with the
/// instant it took effect and the instant it was learned of.
///
/// A standing at an instant is decided by what was in effect then (`value(at:)`); what would have
/// been answered then, by what was known then (`asKnown(at:)`).
public struct Versioned<Value: Hashable & Sendable>: Hashable, Sendable {
    /// At least one, in the order they take effect; of those that do so at once the one learned of
    /// last comes last.
    public private(set) var versions: [Version]

    /// One version of the value.
    public struct Version: Hashable, Sendable {
        public var value: Value
        /// The first instant it decides; it does so until another takes effect.
        public var effectiveAt: Instant
        /// When it was written down here.
        public var learnedAt: Instant

        public init(_ value: Value, effectiveAt: Instant, learnedAt: Instant) {
            self.value = value
            self.effectiveAt = effectiveAt
            self.learnedAt = learnedAt
        }
    }

    /// A value that has always been the same, and always known.
    public init(_ value: Value) {
        versions = [Version(value, effectiveAt: .distantPast, learnedAt: .distantPast)]
    }

    /// The versions in any order; of contradicting ones the last counts. Nil if there is none.
    public init?(versions: some Sequence<Version>) {
        self.versions = []
        for version in versions { add(version) }
        if self.versions.isEmpty { return nil }
    }

    /// Adds a version. It decides from when it takes effect until the next one does, also where it
    /// was written down after that.
    public mutating func add(_ version: Version) {
        let place = versions.firstIndex {
            ($0.effectiveAt, $0.learnedAt) > (version.effectiveAt, version.learnedAt)
        }
        versions.insert(version, at: place ?? versions.endIndex)
    }

    /// The value in effect at an instant; before any was, the first.
    public func value(at instant: Instant) -> Value {
        let inEffect = versions.last { $0.effectiveAt <= instant }
        return (inEffect ?? versions[0]).value
    }

    /// What was known of it at an instant; before anything was, what was learned of first.
    public func asKnown(at instant: Instant) -> Versioned {
        let first = versions.map(\.learnedAt).min() ?? instant
        let known = versions.filter { $0.learnedAt <= max(first, instant) }
        return Versioned(versions: known) ?? self
    }
}

extension Versioned where Value == Catalogue {
    /// Every entitlement that some product of some version unlocks, in alphabetical order.
    public var entitlements: [String] {
        Set(versions.flatMap(\.value.entitlements)).sorted()
    }
}

// MARK: - One version

extension LineageHistory {
    /// The history under a catalogue that has always been the same.
    public convenience init(
        lineage: Lineage,
        facts: some Sequence<Fact>,
        catalogue: Catalogue
    ) {
        self.init(lineage: lineage, facts: facts, catalogue: Versioned(catalogue))
    }

    /// Histories of every lineage among the facts, in the order of their keys.
    public static func all(
        of facts: some Sequence<Fact>,
        catalogue: Catalogue
    ) -> [LineageHistory] {
        Dictionary(grouping: facts, by: \.lineage).sorted { $0.key < $1.key }.map {
            LineageHistory(lineage: $0.key, facts: $0.value, catalogue: catalogue)
        }
    }
}

extension CustomerHistory {
    /// Everything that answers for the customer under a catalogue and a policy that have always
    /// been the same.
    public init(
        customer: CustomerID,
        environment: Environment,
        holdings: [OwnedHistory],
        catalogue: Catalogue,
        policy: Policy
    ) {
        self.init(
            customer: customer,
            environment: environment,
            holdings: holdings,
            catalogue: Versioned(catalogue),
            policy: Versioned(policy)
        )
    }
}

extension CustomerRecord {
    /// The record under a catalogue and a policy that have always been the same.
    public init(
        customer: CustomerID,
        environment: Environment,
        holdings: [Holding],
        catalogue: Catalogue,
        policy: Policy
    ) {
        self.init(
            customer: customer,
            environment: environment,
            holdings: holdings,
            catalogue: Versioned(catalogue),
            policy: Versioned(policy)
        )
    }
}
