import TideoverCore
import TideoverJSON
import TideoverSignatures
package import TideoverStorage

/// An app's catalogue and policy, which are recorded together.
struct AppRules: FormObject, Hashable, Sendable {
    var catalogue: Catalogue
    var policy: Policy

    init(_ catalogue: Catalogue, _ policy: Policy) {
        self.catalogue = catalogue
        self.policy = policy
    }

    static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ rules: AppRules?
    ) throws(Fields.Failure) -> AppRules {
        AppRules(
            try fields.required("catalogue", rules?.catalogue),
            try fields.required("policy", rules?.policy)
        )
    }

    /// Its JSON form.
    var json: [UInt8] { JSONWriter.text { write(to: &$0) } }

    /// Returns the rules with experiments stopped, by name.
    func stopping(_ stops: [String: Experiment.Stop]) -> AppRules {
        var stopped = self
        for place in stopped.policy.experiments.indices {
            guard let stop = stops[stopped.policy.experiments[place].id] else { continue }
            stopped.policy.experiments[place].stop = stop
        }
        return stopped
    }
}

/// The versions of an app's catalogue and policy in one environment. Each applies from the instant
/// it took effect until the next one; the earliest also applies to all time before.
struct PolicyHistory: Sendable {
    let catalogue: Versioned<Catalogue>
    let policy: Versioned<Policy>
    /// The app's current version, if it is not stored yet.
    let unrecorded: PolicyVersion?
    /// The versions in the order they took effect.
    private let versions: [PolicyVersion]

    /// Creates a history of one version, which was always in effect.
    init(_ rules: AppRules, at now: Instant = .distantPast) {
        let version = PolicyVersion(rules, at: now)
        self.init([(rules, version)], unrecorded: version)
    }

    /// Creates a history from the recorded versions. The current one is added from `now` on if it
    /// differs from the newest recorded one. Versions recorded for a later instant, by a clock
    /// since set back, are omitted.
    ///
    /// - Throws: `FormError` if a recorded version cannot be read.
    init(_ rules: AppRules, recorded: [PolicyVersion], now: Instant) throws(FormError) {
        var known: [(rules: AppRules, version: PolicyVersion)] = []
        for version in recorded where version.effectiveAt <= now {
            known.append((try AppRules(recorded: version), version))
        }
        guard known.last?.rules != rules else {
            self.init(known, unrecorded: nil)
            return
        }
        // Two versions cannot take effect at one instant.
        let earliest = known.last.map { $0.version.effectiveAt + Milliseconds(1) } ?? now
        let version = PolicyVersion(rules, at: max(now, earliest))
        self.init(known + [(rules, version)], unrecorded: version)
    }

    private init(
        _ known: [(rules: AppRules, version: PolicyVersion)],
        unrecorded: PolicyVersion?
    ) {
        self.unrecorded = unrecorded
        versions = known.map(\.version)
        let first = known[0].rules
        var catalogue = Versioned(first.catalogue.describing(known.map(\.rules.catalogue)))
        var policy = Versioned(first.policy)
        for (index, one) in known.enumerated().dropFirst() {
            let at = one.version.effectiveAt
            let described = one.rules.catalogue.describing(known[index...].map(\.rules.catalogue))
            if described != catalogue.versions.last?.value {
                catalogue.add(.init(described, effectiveAt: at, learnedAt: at))
            }
            if one.rules.policy != policy.versions.last?.value {
                policy.add(.init(one.rules.policy, effectiveAt: at, learnedAt: at))
            }
        }
        self.catalogue = catalogue
        self.policy = policy
    }

    /// The instants and fingerprints of the versions. The first has no instant: it also applies to
    /// all time before it.
    var versionNames: String {
        versions.map { version in
            isFirst(version)
                ? version.fingerprint
                : "\(version.effectiveAt.millisecondsSince1970) \(version.fingerprint)"
        }.joined(separator: ",")
    }

    /// Returns the version that applies at an instant.
    func version(at instant: Instant) -> PolicyVersion {
        versions.last { $0.effectiveAt <= instant } ?? versions[0]
    }

    /// Returns whether it has all of some versions.
    func contains(_ others: [PolicyVersion]) -> Bool { others.allSatisfy(versions.contains) }

    /// Returns whether a version is the first, so that it also applies to all time before it.
    func isFirst(_ version: PolicyVersion) -> Bool { version == versions[0] }

    /// Returns the first change of catalogue or policy after an instant.
    func change(after instant: Instant) -> Instant? {
        (catalogue.versions.map(\.effectiveAt) + policy.versions.map(\.effectiveAt))
            .filter { $0 > instant }.min()
    }

    /// Writes the version that applies at an instant.
    func writeVersion(at instant: Instant, to writer: inout JSONWriter) {
        let version = version(at: instant)
        writer.field(
            "policyVersion",
            object: { writer in
                writer.field("fingerprint", version.fingerprint)
                let since = isFirst(version) ? nil : version.effectiveAt
                writer.field("effectiveAt", since?.rfc3339)
            }
        )
    }
}

extension Catalogue {
    /// Returns the catalogue with the products that only later ones list. They provide the lengths
    /// of products sold before they were listed. They have no entitlements, except a base plan of a
    /// listed product: it has those of the product, under which it was sold.
    fileprivate func describing(_ later: [Catalogue]) -> Catalogue {
        // A catalogue computes what it looks up at each assignment of its products.
        var all = products
        for catalogue in later {
            for (id, product) in catalogue.products where all[id] == nil {
                let whole = id.firstIndex(of: ":").flatMap { self[String(id[..<$0])] }
                var described = product
                described.entitlements = whole?.entitlements ?? []
                all[id] = described
            }
        }
        return all.count == products.count ? self : Catalogue(products: all)
    }
}

extension PolicyVersion {
    init(_ rules: AppRules, at instant: Instant) {
        let form = rules.json
        self.init(
            effectiveAt: instant,
            fingerprint: Hexadecimal.text(SHA256.hash(form).prefix(4)),
            form: form
        )
    }
}

extension AppRules {
    init(recorded version: PolicyVersion) throws(FormError) {
        guard let document = try? JSONDocument(version.form, limits: .local) else {
            throw .wrongType(field: "form")
        }
        try self.init(form: document.root, "form")
    }
}

// MARK: - The app

extension App {
    var rules: AppRules { AppRules(catalogue, policy) }

    /// Returns the versions for an environment.
    func policyHistory(in environment: Environment) -> PolicyHistory {
        policyHistories[environment] ?? PolicyHistory(rules)
    }

    /// Returns the app with the stored versions. With `adopting`, the newest of them replaces its
    /// own catalogue and policy. An experiment that any version stopped stays stopped.
    ///
    /// - Throws: `StorageError` if they cannot be read.
    func withHistory(
        from storage: some Storage,
        now: Instant,
        adopting: Bool = false
    ) throws(StorageError) -> App {
        var recorded: [Environment: [PolicyVersion]] = [:]
        for environment in environments {
            recorded[environment] = try storage.policyVersions(in: AppScope(id, environment))
        }
        do throws(FormError) {
            let current =
                adopting ? try adoptingNewest(of: recorded.values.joined(), now: now) : self
            var app = try current.stoppingExperiments(of: recorded.values.joined())
            for (environment, versions) in recorded {
                app.policyHistories[environment] =
                    try PolicyHistory(app.rules, recorded: versions, now: now)
            }
            return app
        } catch {
            let detail = "a version of the policy of \(id) cannot be read: \(error)"
            throw StorageError(.corrupt, place: "policy_version", detail: detail)
        }
    }

    private func adoptingNewest(
        of recorded: some Sequence<PolicyVersion>,
        now: Instant
    ) throws(FormError) -> App {
        let newest = recorded.filter { $0.effectiveAt <= now }.max {
            $0.effectiveAt < $1.effectiveAt
        }
        return try newest.map { version throws(FormError) in
            applying(try AppRules(recorded: version))
        } ?? self
    }

    /// Returns the app with the experiments stopped that a version stopped. The first stop of each
    /// name counts.
    private func stoppingExperiments(
        of recorded: some Sequence<PolicyVersion>
    ) throws(FormError) -> App {
        let stops = try Experiment.Stop.first(of: recorded, among: policy.experiments.map(\.id))
        let stopped = rules.stopping(stops)
        return stopped == rules ? self : applying(stopped)
    }
}

extension Experiment.Stop {
    /// Returns the first recorded stop of each of some experiments, by the experiment's name.
    fileprivate static func first(
        of recorded: some Sequence<PolicyVersion>,
        among names: [String]
    ) throws(FormError) -> [String: Experiment.Stop] {
        var stops: [String: Experiment.Stop] = [:]
        guard !names.isEmpty else { return stops }
        for version in recorded {
            for experiment in try AppRules(recorded: version).policy.experiments {
                guard let stop = experiment.stop, names.contains(experiment.id) else { continue }
                if let known = stops[experiment.id], known.at <= stop.at { continue }
                stops[experiment.id] = stop
            }
        }
        return stops
    }
}

extension Service {
    /// Records the current catalogue and policy of each app, if they differ from the newest
    /// recorded version. Call it at startup, before requests are answered.
    package func recordPolicyVersions() async throws(StorageError) {
        for app in apps {
            for environment in app.environments {
                let history = app.policyHistory(in: environment)
                guard let version = history.unrecorded,
                    try await storage.record(version, in: AppScope(app.id, environment))
                else { continue }
                let isFirst = history.isFirst(version)
                log(
                    LogLine(
                        .info,
                        "policy version recorded",
                        detail: "\(app.id) \(environment.rawValue) \(version.fingerprint)"
                            + (isFirst ? ", the first: it decides all past instants" : "")
                    )
                )
            }
        }
    }
}
