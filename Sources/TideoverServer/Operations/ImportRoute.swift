import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `POST /v1/apps/{app}/import`: imports lines of an export after its header. It reports
/// which were added, which were known, and which were rejected and why.
///
/// Signed data is verified again. A fact of a store is imported only if its evidence, read by the
/// rules of this version, contains it.
struct ImportRoute: Sendable {
    let context: AppContext

    func respond(to request: Request) async throws -> Response {
        let (lines, now) = (request.body, context.clock())
        var batch = try await onPool {
            try ImportBatch(lines, judge: ImportJudge(context: context))
        }
        for environment in Environment.allCases {
            let lines = batch.accepted.filter { $0.environment == environment }
            guard !lines.isEmpty else { continue }
            let restored = try await restore(lines.map(\.record), environment, now)
            batch.report(lines, restored)
        }
        return .json(bytes: batch.answer, headers: ["Cache-Control": "private, no-store"])
    }

    /// Imports records. An imported version of the policy decides past instants only: if it is newer
    /// than the one in effect, that one is recorded again, in the same transaction. Otherwise every
    /// server on the database would adopt the imported one.
    private func restore(
        _ records: [StoredRecord],
        _ environment: Environment,
        _ now: Instant
    ) async throws(StorageError) -> [Restored] {
        let scope = AppScope(context.app.id, environment)
        let rows = records.map { RestoredRow($0) }
        let versions = records.compactMap { record -> Instant? in
            if case .policy(let version) = record { version.effectiveAt } else { nil }
        }
        let inEffect = context.app.policyHistory(in: environment).version(at: now)
        // Two versions cannot take effect at one instant.
        let instant = versions.max().map { max(now, $0 + Milliseconds(1)) } ?? now
        let again = PolicyVersion(
            effectiveAt: instant,
            fingerprint: inEffect.fingerprint,
            form: inEffect.form
        )
        return try await context.storage.write(app: scope.app) { writer throws(StorageError) in
            let newest = try versions.isEmpty ? nil : writer.newestPolicy(in: scope)
            let restored = try writer.restore(rows, in: scope, now: now)
            if newest == again.fingerprint { _ = try writer.record(again, in: scope) }
            return restored
        }
    }
}

/// The lines of one request.
private struct ImportBatch: Sendable {
    struct Line: Sendable {
        let number: Int
        let record: StoredRecord
        let environment: Environment
    }

    private(set) var accepted: [Line] = []
    private var count = 0
    private var outcomes: [Restored: [StoredRecord.Kind: Int]] = [:]
    private var refused: [(number: Int, fault: ExportFault)] = []

    init(_ body: [UInt8], judge: ImportJudge) throws {
        let lines = body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (offset, line) in lines.enumerated()
        where !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) {
            let number = offset + 1
            count += 1
            do throws(ExportFault) {
                if count == 1 {
                    try judge.check(header: Array(line))
                } else {
                    let (record, environment) = try judge.record(in: Array(line))
                    accepted.append(
                        Line(number: number, record: record, environment: environment)
                    )
                }
            } catch {
                refused.append((number, error))
                // Lines after an unknown header cannot be read.
                if count == 1 { break }
            }
        }
        if count == 0 { refused.append((1, .notAnExport)) }
        let (judged, faults) = try judge.prove(accepted.map { ($0.number, $0.record) })
        accepted.removeAll { !judged.contains($0.number) }
        refused += faults
    }

    mutating func report(_ lines: [Line], _ restored: [Restored]) {
        for (line, outcome) in zip(lines, restored) {
            if outcome == .contradicted {
                refused.append((line.number, .contradicted(line.record.kind)))
            } else {
                outcomes[outcome, default: [:]][line.record.kind, default: 0] += 1
            }
        }
    }

    var answer: [UInt8] {
        JSONWriter.object { writer in
            writer.field("lines", count)
            for outcome in [Restored.added, .known] {
                writer.field(
                    outcome.rawValue,
                    object: { writer in
                        for kind in StoredRecord.Kind.allCases {
                            guard let count = outcomes[outcome]?[kind] else { continue }
                            writer.field(kind.rawValue, count)
                        }
                    }
                )
            }
            writer.field("refused", objects: refused.sorted(by: { $0.number < $1.number })) {
                row,
                writer in
                let (number, fault) = row
                writer.field("line", number)
                writer.field("code", fault.code)
                writer.field("detail", fault.sentence)
            }
        }
    }
}

/// Decides which lines can be imported.
private struct ImportJudge {
    let context: AppContext

    private var app: App { context.app }
    private var storage: any Storage { context.storage }

    func check(header line: [UInt8]) throws(ExportFault) {
        guard case .header(let header) = try ExportLine(line, app: app.id) else {
            throw .notAnExport
        }
        guard header.app == app.id else { throw .otherApp(header.app) }
        guard header.holds == .everything else { throw .answersOnly }
    }

    func record(in line: [UInt8]) throws(ExportFault) -> (StoredRecord, Environment) {
        guard case .record(let record, let environment) = try ExportLine(line, app: app.id) else {
            throw .misplaced
        }
        guard app.environments.contains(environment) else { throw .notServed(environment) }
        return (record, environment)
    }

    /// Returns the numbers of the valid lines, and the faults of the others.
    func prove(
        _ lines: [(number: Int, record: StoredRecord)]
    ) throws(StorageError) -> (Set<Int>, [(number: Int, fault: ExportFault)]) {
        var pieces: [EvidenceID: Evidence] = [:]
        for case (_, .evidence(let piece, _)) in lines { pieces[piece.id] = piece }
        var readings: [ReadingKey: Reading] = [:]
        var standing: Set<Int> = []
        var faults: [(number: Int, fault: ExportFault)] = []
        for (number, record) in lines {
            guard case .fact(let fact) = record, fact.needsProof else {
                standing.insert(number)
                continue
            }
            let id = fact.evidence
            let key = ReadingKey(evidence: id, environment: fact.lineage.environment)
            let reading: Reading
            if let known = readings[key] {
                reading = known
            } else {
                let piece =
                    if let piece = pieces[id] { piece } else {
                        try storage.evidence(id, app: app.id)
                    }
                reading = read(piece, key)
                readings[key] = reading
            }
            if let fault = try fault(of: fact, reading) {
                faults.append((number, fault))
            } else {
                standing.insert(number)
            }
        }
        return (standing, faults)
    }

    /// The result of reading a piece of evidence by the rules of this version.
    private enum Reading {
        case states(Set<Fact>)
        case fails(ExportFault)
    }

    /// Identifies a reading. One piece of evidence can contain facts of several environments; each
    /// fact is compared with those of its own.
    private struct ReadingKey: Hashable {
        let evidence: EvidenceID
        let environment: Environment
    }

    private func read(_ piece: Evidence?, _ key: ReadingKey) -> Reading {
        guard let piece else { return .fails(.unproven(key.evidence)) }
        let replay = Replay(context: context, environment: key.environment, apply: false)
        do {
            return .states(Set(try replay.facts(in: piece).map(\.asSaid)))
        } catch {
            let code = (error as? any Refusal)?.code ?? "unreadable"
            return .fails(.disbelieved(key.evidence, code: code))
        }
    }

    private func fault(
        of fact: Fact,
        _ reading: Reading
    ) throws(StorageError) -> ExportFault? {
        let fault: ExportFault
        switch reading {
        case .states(let facts):
            guard !facts.contains(fact.asSaid) else { return nil }
            fault = .unstated(fact.evidence)
        case .fails(let failure): fault = failure
        }
        // A fact that is already stored, from other evidence, needs no proof.
        let identity = FactRow(fact).identity
        let lineageRecord = try storage.lineageRecord(fact.lineage, app: app.id)
        return lineageRecord.facts.contains { FactRow($0).identity == identity } ? nil : fault
    }
}

extension Fact {
    /// Whether it is a fact of the store. Facts of a relay, and our own inferences, overrule
    /// nothing and are imported as they are.
    fileprivate var needsProof: Bool {
        if case .inquiry = assertion { return false }
        return rank == .store
    }

    /// The fact without the time it was learned, which evidence does not contain.
    fileprivate var asSaid: Fact {
        var fact = self
        fact.learnedAt = .distantPast
        return fact
    }
}
