/// A policy or a catalogue with all its versions. Each version has the instant it took effect and
/// the instant the server learned of it.
///
/// The standing at an instant uses the version in effect then (`value(at:)`). The answer that was
/// given then uses the versions known then (`asKnown(at:)`).
public struct Versioned<Value: Hashable & Sendable>: Hashable, Sendable {
    /// At least one, ordered by when they take effect, then by when they were learned.
    public private(set) var versions: [Version]

    /// One version of the value.
    public struct Version: Hashable, Sendable {
        public var value: Value
        /// The first instant at which it applies. It applies until another version takes effect.
        public var effectiveAt: Instant
        /// When the server recorded it.
        public var learnedAt: Instant

        public init(_ value: Value, effectiveAt: Instant, learnedAt: Instant) {
            self.value = value
            self.effectiveAt = effectiveAt
            self.learnedAt = learnedAt
        }
    }

    /// Creates a value that never changed and was always known.
    public init(_ value: Value) {
        versions = [Version(value, effectiveAt: .distantPast, learnedAt: .distantPast)]
    }

    /// Requires at least one version, in order.
    private init(ordered versions: [Version]) { self.versions = versions }

    /// Creates a value from versions in any order; of contradicting ones the last counts. Nil if
    /// there is none.
    public init?(versions: some Sequence<Version>) {
        self.versions = []
        for version in versions { add(version) }
        if self.versions.isEmpty { return nil }
    }

    /// Adds a version. It applies from when it takes effect until the next one does, even if it was
    /// recorded later than that.
    public mutating func add(_ version: Version) {
        let place = versions.firstIndex {
            ($0.effectiveAt, $0.learnedAt) > (version.effectiveAt, version.learnedAt)
        }
        versions.insert(version, at: place ?? versions.endIndex)
    }

    /// Returns what a function makes of each version.
    func map<Other>(_ transform: (Value) -> Other) -> Versioned<Other> {
        Versioned<Other>(
            ordered: versions.map {
                .init(transform($0.value), effectiveAt: $0.effectiveAt, learnedAt: $0.learnedAt)
            }
        )
    }

    /// Returns the value in effect at an instant; before any was, the first.
    public func value(at instant: Instant) -> Value { versions[position(at: instant)].value }

    /// Returns the position of the version in effect at an instant.
    func position(at instant: Instant) -> Int {
        var place = versions.count - 1
        while place > 0, versions[place].effectiveAt > instant { place -= 1 }
        return place
    }

    /// Returns the versions known at an instant; before any was known, the first one learned.
    public func asKnown(at instant: Instant) -> Versioned {
        let first = versions.map(\.learnedAt).min() ?? instant
        let known = versions.filter { $0.learnedAt <= max(first, instant) }
        return Versioned(versions: known) ?? self
    }
}

extension Versioned where Value == Catalogue {
    /// Every entitlement that a product of any version unlocks, in alphabetical order.
    public var entitlements: [String] {
        guard versions.count > 1 else { return versions[0].value.entitlements }
        return Set(versions.flatMap(\.value.entitlements)).sorted()
    }
}

// MARK: - One version

extension LineageHistory {
    /// Creates a history under a catalogue that never changed.
    public convenience init(
        lineage: Lineage,
        facts: some Sequence<Fact>,
        catalogue: Catalogue
    ) {
        self.init(lineage: lineage, facts: facts, catalogue: Versioned(catalogue))
    }

    /// Returns the histories of every lineage among the facts, ordered by key.
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
    /// Creates a history under a catalogue and a policy that never changed.
    public init(
        customer: CustomerID,
        environment: Environment,
        lineageRecords: [OwnedHistory],
        catalogue: Catalogue,
        policy: Policy
    ) {
        self.init(
            customer: customer,
            environment: environment,
            lineageRecords: lineageRecords,
            catalogue: Versioned(catalogue),
            policy: Versioned(policy)
        )
    }
}

extension CustomerRecord {
    /// Creates a record under a catalogue and a policy that never changed.
    public init(
        customer: CustomerID,
        environment: Environment,
        lineageRecords: [LineageRecord],
        catalogue: Catalogue,
        policy: Policy
    ) {
        self.init(
            customer: customer,
            environment: environment,
            lineageRecords: lineageRecords,
            catalogue: Versioned(catalogue),
            policy: Versioned(policy)
        )
    }
}
