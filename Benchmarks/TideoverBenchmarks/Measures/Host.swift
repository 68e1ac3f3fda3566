import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks
import TideoverServer
import TideoverStorage

/// The two servers that are measured besides `tideover serve`: one with a constant answer, and the
/// service with a storage that stores nothing.
enum Host {
    private static let kind = Parameter.argument(
        "KIND",
        "What to serve",
        as: ValueForm<Kind>.choice
    )
    private static let configuration = Parameter.option("--config", "FILE", "For `forgetful`")

    enum Kind: String, CaseIterable, Sendable {
        /// The same answer to every request.
        case constant
        /// The complete service without a storage.
        case forgetful
    }

    static let command = Command(
        "host",
        summary: "serve what `run` measures, until ended",
        examples: [Example("TideoverBenchmarks host constant", "the least a server can do")],
        parameters: [kind, configuration],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let handler =
            switch arguments[kind] {
            case .constant: constant
            case .forgetful: try service(arguments[configuration] ?? "", output).handler
            }
        var limits = HTTPServerLimits()
        limits.connectionsPerAddress = 0
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let server = try HTTPServer(
            port: 0,
            limits: limits,
            // As in `tideover serve`.
            executor: TaskThreads(most: 2 * processors),
            handler: handler
        )
        output.message("listening on http://\(server.address)")
        await server.run()
        return .success
    }

    /// The length and the headers of a snapshot.
    private static let constant: Handler = {
        var response = Response.json(bytes: [UInt8](repeating: UInt8(ascii: " "), count: 600))
        response.headers["ETag"] = "W/\"1-0123456789abcdef\""
        response.headers["Cache-Control"] = "private, no-store"
        let answer = response
        return { _ in answer }
    }()

    private static func service(_ path: String, _ output: Output) throws -> Service {
        try Service(
            apps: [App(Setting.load(path))],
            storage: ForgetfulStorage(),
            version: "1",
            clock: Setting.now,
            // As in `tideover serve`: writing the log is part of the work.
            log: { line in
                output.message(String(decoding: line.json(at: Setting.now()), as: UTF8.self))
            },
            verifications: WorkLimits(running: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        )
    }
}

/// A storage that derives answers normally and stores nothing.
struct ForgetfulStorage: Storage {
    func commit(
        _ commitRequests: [CommitRequest],
        derive: @escaping @Sendable (CustomerLineages) -> Derivation
    ) async throws(StorageError) -> [CommitOutcome] {
        commitRequests.map { commitRequest in
            let rows = commitRequest.lineages.map { $0.row(for: derive($0)) }
            return .committed(newFacts: commitRequest.facts.count, customers: rows)
        }
    }

    func read<Answer>(
        _ questions: (any StorageReader) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        try questions(EmptyReader())
    }

    func write<Answer: Sendable>(
        app: String?,
        _ changes: @escaping @Sendable (any StorageWriter) throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        try changes(ForgetfulWriter())
    }

    func close() async {}
}

/// Reads a storage with nothing stored.
private struct EmptyReader: StorageReader {
    func policyVersions(
        in scope: AppScope
    ) throws(StorageError) -> [PolicyVersion] { [] }

    func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow? { nil }

    func due(
        in scope: AppScope,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading { DueReading(count: 0, oldest: nil, next: nil) }

    func lineages(
        of customer: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages? { nil }

    func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence? { nil }

    func evidence(
        in scope: AppScope,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence] { [] }

    func evidence(
        in scope: AppScope,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence] { [] }

    func customers(
        in scope: AppScope,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] { [] }

    func lineages(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] { [] }

    func lineageRecord(_ lineage: Lineage, app: String) throws(StorageError) -> LineageRecord {
        LineageRecord(lineage: lineage, facts: [], owners: [])
    }

    func lineageRecords(
        named name: PurchaseName,
        app: String,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] { [] }

    func drift(of customer: CustomerKey, limit: Int) throws(StorageError) -> [Drift] { [] }

    func drift(
        in scope: AppScope,
        after: Drift?,
        limit: Int
    ) throws(StorageError) -> [Drift] { [] }

    func identity(of customer: CustomerKey) throws(StorageError) -> CustomerIdentity {
        CustomerIdentity(customer.customer, aliases: [])
    }

    func audit(
        app: String,
        customer: CustomerKey?,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [AuditRecord] { [] }

    func customers(
        in scope: AppScope,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] { [] }

    func unclaimed(
        in scope: AppScope,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] { [] }

    func unclaimedCount(
        in scope: AppScope,
        limit: Int
    ) throws(StorageError) -> Int { 0 }

    func records(
        in scope: AppScope,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage { RecordPage(records: [], next: nil) }

    func figures(
        in scope: AppScope,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow] { [] }

    func staleFigures(
        in scope: AppScope,
        limit: Int
    ) throws(StorageError) -> StaleFiguresPage { StaleFiguresPage(turn: 0, subjects: []) }

    func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]? { nil }

    func bookmarks(
        in scope: AppScope,
        prefix: String
    ) throws(StorageError) -> [String: [UInt8]] { [:] }

    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] { [] }

    func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent] { [] }

    func counts(app: String) throws(StorageError) -> [Tally: Int64] { [:] }

    func keys() throws(StorageError) -> [KeyRecord] { [] }

    func latestEvents(app: String, limit: Int) throws(StorageError) -> [OutboxEvent] { [] }

    func sharedChanges() throws(StorageError) -> SharedChanges? { nil }

    func webhooks(app: String) throws(StorageError) -> [WebhookRecord] { [] }

    func webhook(_ key: WebhookKey) throws(StorageError) -> WebhookRecord? { nil }

    func webhookQueue(
        of key: WebhookKey,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> WebhookQueue { WebhookQueue(due: [], count: 0) }

    func webhookAttempts(
        of key: WebhookKey,
        before: Int64?,
        limit: Int
    ) throws(StorageError) -> [WebhookAttempt] { [] }
}

/// Accepts every change and stores none.
private struct ForgetfulWriter: StorageWriter {
    func prune(_ order: PruneOrder) throws(StorageError) -> Pruned {
        Pruned(count: 0, next: nil)
    }

    func erase(_ erasure: Erasure) throws(StorageError) -> Erased? { Erased() }

    func record(
        _ version: PolicyVersion,
        in scope: AppScope
    ) throws(StorageError) -> Bool { true }

    func newestPolicy(in scope: AppScope) throws(StorageError) -> String? { nil }

    func claimDue(_ order: DueOrder) throws(StorageError) -> [DueClaim] { [] }

    func restore(
        _ records: [RestoredRow],
        in scope: AppScope,
        now: Instant
    ) throws(StorageError) -> [Restored] { records.map { _ in .added } }

    func remove(
        _ records: [StoredRecord],
        in scope: AppScope,
        now: Instant
    ) throws(StorageError) {}

    func keep(_ update: FiguresUpdate) throws(StorageError) -> Bool { true }

    func markFigures(
        in scope: AppScope,
        otherThan stamp: Int64,
        after: String?,
        limit: Int
    ) throws(StorageError) -> String? { nil }

    func keep(_ form: [UInt8], as key: BookmarkKey) throws(StorageError) {}

    func replace(
        _ former: [UInt8]?,
        by form: [UInt8],
        as key: BookmarkKey
    ) throws(StorageError) -> Bool { true }

    func keep(_ order: AttributeOrder) throws(StorageError) -> [String] { [] }

    func add(_ counts: [Tally: Int64], app: String) throws(StorageError) {}

    func add(_ key: KeyRecord) throws(StorageError) {}

    func revokeKey(_ id: String, at now: Instant) throws(StorageError) -> KeyRecord? { nil }

    func put(_ webhook: WebhookRecord) throws(StorageError) {}

    func remove(_ webhook: WebhookKey) throws(StorageError) {}

    func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) throws(StorageError) -> Int64? { nil }

    func settle(_ settlement: WebhookSettlement) throws(StorageError) -> Bool { false }

    func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) throws(StorageError) {}

    func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) throws(StorageError) -> Bool { false }
}

extension CommitRequest {
    /// The input of a storage without earlier data.
    var lineages: [CustomerLineages] {
        Dictionary(grouping: facts, by: \.lineage).flatMap { lineage, facts in
            let owners = [OwnershipEntry]().additions(for: facts)
            return owners.map { owner in
                CustomerLineages(
                    key: CustomerKey(
                        app: app,
                        environment: environment,
                        customer: owner.customer
                    ),
                    answer: nil,
                    lineageRecords: [LineageRecord(lineage: lineage, facts: facts, owners: owners)],
                    now: now
                )
            }
        }
    }
}
