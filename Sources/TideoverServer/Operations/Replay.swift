import TideoverAppStore
import TideoverCore
import TideoverGooglePlay
import TideoverJSON
import TideoverLocks
import TideoverRevenueCat
import TideoverStorage

/// Reads the stored evidence of one app in one environment with the rules of this version, and
/// reports what would change. On request it also stores the new facts with ordinary commits.
///
/// It reads the storage page by page, and stores the new facts of a page before it reports the page
/// as done. A run that was stopped can therefore resume after its last page. It keeps a digest of
/// 16 bytes for each stored fact in memory.
struct Replay: Sendable {
    let context: AppContext
    let environment: Environment
    /// Whether the run stores new facts.
    let apply: Bool

    private var app: App { context.app }
    private var storage: any Storage { context.storage }

    private static let pageLength = 100
    /// How many customers one transaction derives again.
    private static let batch = 32

    /// The state that a run collects.
    fileprivate struct Findings: Sendable {
        var report: ReplayReport
        /// Digests of stored facts not yet found in any evidence.
        var unseen: Set<FactDigest> = []
        var stored: Set<FactDigest> = []
        var owners: Set<CustomerID> = []
        /// Facts to add, by the key of their lineage.
        var news: [String: [Fact]] = [:]
        /// Customers with stored answers of other rules.
        var outdated: [CustomerKey] = []
        var changes: [ChangeName: ReplayReport.Change] = [:]
    }

    fileprivate struct ChangeName: Hashable, Comparable {
        let customer: CustomerID
        let entitlement: String

        static func < (one: Self, other: Self) -> Bool {
            (one.customer, one.entitlement) < (other.customer, other.entitlement)
        }
    }

    /// Runs the replay.
    ///
    /// - Parameters:
    ///   - report: The report so far; its counts continue.
    ///   - place: The piece of evidence to continue after; nil to start at the beginning.
    ///   - told: Receives the report, and the last piece read, after each page.
    /// - Returns: the findings, with an outcome that is not yet `completed`.
    /// - Throws: `StorageError`, `CancellationError`, or an error of `told`.
    func run(
        _ report: ReplayReport,
        after place: EvidenceID? = nil,
        told: (ReplayReport, EvidenceID?) async throws -> Void
    ) async throws -> ReplayReport {
        let findings = Locked(Findings(report: report))
        try await onQuietThread { _ in try findings.withLock { try begin(&$0) } }
        var place = place
        while true {
            try Task.checkCancellation()
            let (storage, app, environment, after) = (storage, app.id, environment, place)
            let page = try await onQuietThread { _ in
                try storage.evidence(
                    in: AppScope(app, environment),
                    after: after,
                    limit: Self.pageLength
                )
            }
            try await onQuietThread { _ in try findings.withLock { try read(page, &$0) } }
            if apply { try await add(findings.withLock { $0.takeNews() }) }
            place = page.last?.id ?? place
            try await told(findings.withLock { $0.report }, place)
            guard page.count == Self.pageLength else { break }
        }
        try await onQuietThread { _ in try findings.withLock { try finish(&$0) } }
        if apply { try await derive(findings.withLock { $0.outdated }) }
        return findings.withLock { $0.report }
    }

    private func add(_ news: [String: [Fact]]) async throws {
        for facts in news.sorted(by: { $0.key < $1.key }).map(\.value) {
            try await commit(facts: facts)
        }
    }

    private func derive(_ outdated: [CustomerKey]) async throws {
        var rest = outdated[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            try await commit(customers: Array(rest.prefix(Self.batch)))
            rest = rest.dropFirst(Self.batch)
        }
    }

    private func commit(facts: [Fact] = [], customers: [CustomerKey] = []) async throws {
        // The evidence is already stored; each fact refers to it.
        let commitRequest = CommitRequest(
            app: app.id,
            environment: environment,
            facts: facts,
            customers: customers,
            transfer: app.policy.transfer,
            now: context.clock()
        )
        _ = try await context.commit(commitRequest)
    }

    // MARK: Finding

    private func begin(_ findings: inout Findings) throws {
        try storage.eachLineageRecord(in: AppScope(app.id, environment)) { lineageRecord in
            for fact in lineageRecord.facts { findings.stored.insert(FactDigest(fact)) }
            findings.owners.formUnion(lineageRecord.owners.map(\.customer))
        }
        findings.unseen = findings.stored
    }

    private func read(_ page: [Evidence], _ findings: inout Findings) throws {
        for piece in page { try read(piece, &findings) }
        guard apply else { return }
        // Judge before the facts are added; afterwards the previous answers are lost.
        var concerned = Set(findings.news.values.joined().compactMap { $0.claim?.customer })
        for lineage in Set(findings.news.values.compactMap { $0.first?.lineage }) {
            let lineageRecord = try storage.lineageRecord(lineage, app: app.id)
            concerned.formUnion(lineageRecord.owners.map(\.customer))
        }
        for owner in concerned.sorted() { try judge(owner, &findings) }
        findings.owners.formUnion(concerned)
    }

    private func finish(_ findings: inout Findings) throws {
        if !findings.report.isResumed, !findings.unseen.isEmpty {
            try storage.eachLineageRecord(in: AppScope(app.id, environment)) { lineageRecord in
                for fact in lineageRecord.facts
                where fact.isReadFromEvidence && findings.unseen.contains(FactDigest(fact)) {
                    findings.report.unread.add(ReplayReport.Named(fact))
                }
            }
        }
        for facts in findings.news.values {
            findings.owners.formUnion(facts.compactMap { $0.claim?.customer })
        }
        findings.outdated = []
        for owner in findings.owners.sorted() { try judge(owner, &findings) }
        for (_, change) in findings.changes.sorted(by: { $0.key < $1.key })
        where change.from != change.to {
            findings.report.changed.add(change)
        }
    }

    private func read(_ piece: Evidence, _ findings: inout Findings) throws {
        findings.report.evidence += 1
        let facts: [Fact]
        do {
            facts = try self.facts(in: piece)
        } catch {
            let code = (error as? any Refusal)?.code ?? "unreadable"
            findings.report.unreadable[code, default: 0] += 1
            return
        }
        findings.report.facts += facts.count
        for read in facts {
            let fact = try stored(read, findings)
            let digest = FactDigest(fact)
            findings.unseen.remove(digest)
            guard findings.stored.insert(digest).inserted else { continue }
            findings.news[fact.lineage.key, default: []].append(fact)
            findings.report.added.add(ReplayReport.Named(fact))
        }
    }

    /// Returns the facts in a piece of evidence, for the replay's environment, by the rules of this
    /// version. One response of RevenueCat or Google Play can contain facts of several
    /// environments, and is stored in each.
    ///
    /// - Throws: a `Refusal` if the evidence is not trusted or not understood.
    func facts(in piece: Evidence) throws -> [Fact] {
        try statements(in: piece).filter { $0.lineage.environment == environment }
    }

    private func statements(in piece: Evidence) throws -> [Fact] {
        if piece.source == .server {
            let inquiry = InquiryRecord(piece.bytes)?.fact
            let presented = inquiry ?? PresentedRecord(piece.bytes)?.fact
            guard let fact = presented ?? InferredOwnerRecord(piece.bytes)?.fact else {
                throw AppStoreRefusal.unrecognisedContent
            }
            return [fact]
        }
        if piece.source == .operator {
            guard let record = OperatorRecord(piece.bytes) else {
                throw AppStoreRefusal.unrecognisedContent
            }
            return record.facts
        }
        if piece.source == .playNotification {
            guard let trust = app.googlePlay else { throw AppStoreRefusal.unrecognisedContent }
            return try trust.reader.facts(in: PlayDelivery(piece.bytes), of: piece)
        }
        if piece.source == .playAPI {
            guard let trust = app.googlePlay else { throw AppStoreRefusal.unrecognisedContent }
            return try trust.reader.facts(in: PlayAnswers(piece.bytes), of: piece)
        }
        if let told = try app.revenueCat?.facts(in: piece) { return told }
        guard let trust = app.appStore else { throw AppStoreRefusal.unrecognisedContent }
        let reading = try trust.read(piece.bytes, at: piece.receivedAt, isStored: true)
        return reading.facts(
            learnedAt: piece.receivedAt,
            source: piece.source,
            evidence: piece.id
        )
    }

    /// Assigns a relayed fact to the lineage it is stored under: the relay's own lineage if it
    /// arrived before the store's fact, else the store's lineage.
    private func stored(_ fact: Fact, _ findings: Findings) throws -> Fact {
        guard fact.rank == .relayed, !findings.stored.contains(FactDigest(fact)) else {
            return fact
        }
        return try storage.chains(of: [fact.lineage], app: app.id).joined(fact)
    }

    // MARK: Answers

    /// Records the change of a customer's answer, unless only the passage of time changes it.
    private func judge(_ owner: CustomerID, _ findings: inout Findings) throws {
        let key = CustomerKey(app: app.id, environment: environment, customer: owner)
        let now = context.clock()
        let found = try storage.knownLineages(of: key, now: now)
        let then = found.extended(by: findings.news, for: owner)
        let isOutdated = found.answer?.fingerprint != app.fingerprint
        guard then != found || isOutdated else { return }
        if isOutdated, found.answer != nil { findings.outdated.append(key) }
        let answers = Answers(of: found, with: then, isOutdated: isOutdated, app)
        for (name, to) in answers.new.sorted(by: { $0.key < $1.key }) {
            let (from, cause) = answers.before(name)
            guard from != to else { continue }
            // If an earlier page changed the answer, keep the original answer as `from`.
            let name = ChangeName(customer: owner, entitlement: name)
            let first = findings.changes[name]
            findings.changes[name] = ReplayReport.Change(
                customer: owner,
                entitlement: name.entitlement,
                from: first.map(\.from) ?? from,
                to: to,
                cause: first?.cause ?? cause
            )
        }
    }

    /// The answers of one customer as `state reason confidence`, by entitlement.
    private struct Answers {
        /// The answers with the facts to be added.
        let new: [String: String]
        /// The answers without them, by the current rules, catalogue and policy.
        private let present: [String: String]
        /// The stored answers; nil if they are derived with the current rules, or do not exist.
        private let stored: [String: String]?
        /// The answers of the current rules at the time of the stored ones.
        private let rederived: [String: String]
        private let isAnswered: Bool
        private let change: StoredAnswerChange

        init(
            of found: CustomerLineages,
            with then: CustomerLineages,
            isOutdated: Bool,
            _ app: App
        ) {
            let projector = Projector(app: app)
            let row = isOutdated ? found.answer : nil
            present = Replay.words(projector.derive(found).answer)
            new = then == found ? present : Replay.words(projector.derive(then).answer)
            stored = row.map { Replay.words($0.answer) }
            rederived =
                row.map { Replay.words(projector.derive(found.asked(at: $0.derivedAt)).answer) }
                ?? [:]
            isAnswered = found.answer != nil
            change = row.map { StoredAnswerChange($0, app) } ?? StoredAnswerChange()
        }

        /// Returns the previous answer for an entitlement, and the cause of its change. Changes due
        /// only to elapsed time are not changes.
        func before(_ name: String) -> (words: String?, cause: ReplayReport.Cause) {
            guard isAnswered else { return (nil, .evidence) }
            guard let stored else { return (present[name], .evidence) }
            if stored[name] != rederived[name] {
                return (stored[name], change.isConfigurationKnown ? .rules : .configuration)
            }
            if change.isConfigurationNewer, stored[name] != present[name] {
                return (stored[name], .configuration)
            }
            return (present[name], .evidence)
        }
    }

    /// The changes of the configuration since an answer was stored.
    private struct StoredAnswerChange {
        /// Whether the catalogue and policy of that time are known.
        var isConfigurationKnown = true
        /// Whether catalogue or policy changed after the answer.
        var isConfigurationNewer = false

        init() {}

        init(_ row: CustomerRow, _ app: App) {
            let history = app.policyHistory(in: row.key.environment)
            let version = history.version(at: row.derivedAt)
            isConfigurationKnown =
                version.effectiveAt <= row.derivedAt || app.isDerivedByOlderRules(row)
            isConfigurationNewer = history.change(after: row.derivedAt) != nil
        }
    }

    /// Returns `state reason confidence` of each entitlement of an answer, by name.
    fileprivate static func words(_ answer: [UInt8]) -> [String: String] {
        guard let document = try? JSONDocument(answer, limits: .local) else { return [:] }
        guard let entitlements = document.root["entitlements"]?.members else { return [:] }
        return Dictionary(
            entitlements.map { name, told in
                let words = ["state", "reason", "confidence"].compactMap { told[$0]?.string }
                return (name, words.joined(separator: " "))
            }
        ) { first, _ in first }
    }
}

extension Replay.Findings {
    fileprivate mutating func takeNews() -> [String: [Fact]] {
        defer { news = [:] }
        return news
    }
}

/// A digest of a fact's identity, as the storage defines it.
private struct FactDigest: Hashable {
    private let high: UInt64
    private let low: UInt64

    init(_ fact: Fact) {
        var parts: (UInt64, UInt64) = (0, 0)
        for (index, byte) in FactRow(fact).identity.prefix(16).enumerated() {
            if index < 8 {
                parts.0 = parts.0 << 8 | UInt64(byte)
            } else {
                parts.1 = parts.1 << 8 | UInt64(byte)
            }
        }
        (high, low) = parts
    }
}

extension Fact {
    /// Whether the fact was read from evidence; imported facts have none.
    fileprivate var isReadFromEvidence: Bool {
        switch source {
        case .appStoreNotification, .appStoreAPI, .deviceTransaction, .appReceipt,
            .playNotification, .playAPI, .revenueCatWebhook, .revenueCatAPI, .operator:
            true
        case .imported, .server:
            false
        }
    }
}

extension CustomerLineages {
    /// Returns the same lineages at another instant.
    fileprivate func asked(at now: Instant) -> Self { with(lineageRecords, at: now) }

    /// Returns a copy with other purchases, at another instant.
    private func with(_ lineageRecords: [LineageRecord], at now: Instant) -> Self {
        CustomerLineages(
            key: key,
            aliases: identity.aliases,
            answer: answer,
            lineageRecords: lineageRecords,
            deliveredEvents: deliveredEvents,
            openDrift: openDrift,
            prompts: prompts,
            now: now
        )
    }

    /// Returns the lineages that the customer owns, or would own, with the facts to be added.
    fileprivate func extended(by news: [String: [Fact]], for owner: CustomerID) -> Self {
        var lineageRecords = lineageRecords.map { lineageRecord in
            let facts = lineageRecord.facts + (news[lineageRecord.lineage.key] ?? [])
            return LineageRecord(
                lineage: lineageRecord.lineage,
                facts: facts,
                owners: lineageRecord.owners + lineageRecord.owners.additions(for: facts)
            )
        }
        let known = Set(lineageRecords.map(\.lineage.key))
        for (key, facts) in news.sorted(by: { $0.key < $1.key })
        where !known.contains(key) && facts.contains(where: { $0.claim?.customer == owner }) {
            let none: [OwnershipEntry] = []
            lineageRecords.append(
                LineageRecord(
                    lineage: facts[0].lineage,
                    facts: facts,
                    owners: none.additions(for: facts)
                )
            )
        }
        return with(lineageRecords, at: now)
    }
}
