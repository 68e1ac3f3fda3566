package import TideoverCore
import TideoverJSON

/// Derives everything that the core can derive from accepted facts. Covers both ends of time, both
/// sides of every boundary, and policies with the longest lengths. Accepted facts must never trap:
/// a trap ends the test run.
package enum Derivations {
    private static let instants: [Instant] = [
        .distantPast, Instant.writable.lowerBound, "0001-01-01", "2026-05-20",
        Instant.writable.upperBound, .distantFuture,
    ]

    private static let policies: [Policy] = [
        Policy(),
        Policy(
            billingRetry: .keep(.days(36_525)),
            renewalLeeway: .days(36_525),
            unreachable: .days(36_525)
        ),
    ]

    private static let customer = CustomerID("anna").unsafelyUnwrapped

    /// Derives everything. Returns the facts that their own JSON form does not restore, and each
    /// document that is not JSON.
    package static func faults(of facts: [Fact], _ catalogue: Catalogue) -> [String] {
        let forms = facts.filter { read($0) != $0 }.map { "\($0) is not read back" }
        return forms + policies.flatMap { faults(of: facts, catalogue, $0) }
    }

    private static func read(_ fact: Fact) -> Fact? {
        var writer = JSONWriter()
        fact.write(to: &writer)
        return (try? JSONDocument(writer.bytes)).flatMap { try? Fact(json: $0.root) }
    }

    private static func faults(
        of facts: [Fact],
        _ catalogue: Catalogue,
        _ policy: Policy
    ) -> [String] {
        let byLineage = Dictionary(grouping: facts, by: \.lineage)
        let byEnvironment = Dictionary(grouping: byLineage, by: \.key.environment)
        for history in LineageHistory.all(of: facts, catalogue: catalogue) {
            let boundaries = history.boundaries(policy: policy)
            for instant in instants + boundaries.bothSides {
                _ = history.standing(at: instant, policy: policy)
            }
        }
        return byEnvironment.flatMap { environment, lineages in
            faults(
                of: CustomerRecord(
                    customer: customer,
                    environment: environment,
                    lineageRecords: lineages.map { lineageRecord($0.key, $0.value) },
                    catalogue: Versioned(catalogue),
                    policy: Versioned(policy)
                )
            )
        }
    }

    private static func lineageRecord(_ lineage: Lineage, _ facts: [Fact])
        -> CustomerRecord.LineageRecord
    {
        let owner = OwnershipEntry(
            lineage: lineage,
            customer: customer,
            from: .distantPast,
            why: .claimed
        )
        return CustomerRecord.LineageRecord(lineage: lineage, facts: facts, owners: [owner])
    }

    private static func faults(of record: CustomerRecord) -> [String] {
        let history = record.history
        var faults: [String] = []
        for instant in instants {
            let snapshot = history.snapshot(at: instant)
            let pass = history.pass(on: snapshot, version: 1, issuer: "i", audience: "a")
            faults += fault("answer") { writer in
                writer.object { snapshot.writeAnswer(to: &$0) }
            }
            faults += fault("pass") { $0.raw(pass.claims) }
            for explanation in record.explanations(at: instant) {
                faults += fault("explanation") { explanation.write(to: &$0) }
            }
            faults += self.faults(of: record, until: instant)
        }
        return faults + backTest(record)
    }

    private static func faults(of record: CustomerRecord, until end: Instant) -> [String] {
        let told = CustomerTimeline(record, until: end)
        let lengths: [Milliseconds] = [.zero, .days(36_525)]
        var faults = record.catalogue.entitlements.flatMap { name in
            fault("timeline") { writer in
                writer.object { told.timeline(of: name).writeFields(to: &$0) }
            }
        }
        for instant in instants {
            for length in lengths {
                let deadlines = told.deadlines(
                    after: instant,
                    trialEnding: length,
                    graceEnding: length
                )
                faults += deadlines.flatMap { deadline in
                    fault("deadline") { deadline.write(to: &$0) }
                }
            }
        }
        measure(told, record, until: end)
        return faults
    }

    private static func measure(
        _ told: CustomerTimeline,
        _ record: CustomerRecord,
        until end: Instant
    ) {
        let timelines = record.lineageRecords.map { lineageRecord in
            LineageTimeline(
                lineage: lineageRecord.lineage,
                facts: lineageRecord.facts,
                catalogue: record.catalogue,
                policy: record.policy,
                until: end
            )
        }
        _ = RecoveryReport(of: told.issues, asOf: end, by: [.product])
        _ = TrialReport(of: timelines, asOf: end)
        _ = ChurnReport(of: timelines, over: Instant.writable.lowerBound..<max(end, "0001-01-01"))
        for lineageRecord in record.lineageRecords {
            for name in record.catalogue.entitlements {
                let lockouts = Lockouts(
                    lineage: lineageRecord.lineage,
                    facts: lineageRecord.facts,
                    entitlement: name,
                    until: end,
                    catalogue: record.catalogue,
                    policy: record.policy
                )
                _ = Lockouts.Judge.allCases.map { lockouts.total($0) }
            }
        }
    }

    private static func backTest(_ record: CustomerRecord) -> [String] {
        let range = Instant.writable.lowerBound..<Instant.writable.upperBound
        let policy = Versioned(Policy(billingRetry: .keep(.days(365))))
        let report = BackTest(over: range, policy: policy).report(on: [record, record])
        return fault("back-test") { report.write(to: &$0) }
    }

    /// Returns a fault if a document is not JSON.
    private static func fault(_ name: String, _ write: (inout JSONWriter) -> Void) -> [String] {
        var writer = JSONWriter()
        write(&writer)
        do {
            _ = try JSONDocument(writer.bytes, limits: .local)
            return []
        } catch {
            return ["the \(name) is not JSON: \(error)"]
        }
    }
}
