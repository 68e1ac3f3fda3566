import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverHTTP
import TideoverHTTPServer
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
        let server = try HTTPServer(port: 0, limits: limits, handler: handler)
        output.message("listening on http://\(server.address)")
        await server.run()
        return .success
    }

    /// The length and the headers of a snapshot.
    private static let constant: Handler = {
        var response = Response.json(bytes: [UInt8](repeating: UInt8(ascii: " "), count: 600))
        response.headers["ETag"] = "W/\"1-0123456789abcdef\""
        response.headers["Cache-Control"] = "private, no-cache"
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

    func prune(_ order: PruneOrder) async throws(StorageError) -> Pruned {
        Pruned(count: 0, next: nil)
    }

    func erase(_ erasure: Erasure) async throws(StorageError) -> Erased? { Erased() }

    func record(
        _ version: PolicyVersion,
        app: String,
        environment: Environment
    ) async throws(StorageError) -> Bool { true }

    func policyVersions(
        app: String,
        environment: Environment
    ) throws(StorageError) -> [PolicyVersion] { [] }

    func row(of customer: CustomerKey) throws(StorageError) -> CustomerRow? { nil }

    func claimDue(_ order: DueOrder) async throws(StorageError) -> [DueClaim] { [] }

    func due(
        app: String,
        environment: Environment,
        now: Instant,
        limit: Int
    ) throws(StorageError) -> DueReading { DueReading(count: 0, oldest: nil, next: nil) }

    func lineages(
        of customer: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages? { nil }

    func evidence(_ id: EvidenceID, app: String) throws(StorageError) -> Evidence? { nil }

    func evidence(
        app: String,
        environment: Environment,
        after: EvidenceID?,
        limit: Int
    ) throws(StorageError) -> [Evidence] { [] }

    func evidence(
        app: String,
        environment: Environment,
        keyed prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [Evidence] { [] }

    func customers(
        app: String,
        environment: Environment,
        email: EmailAddress,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] { [] }

    func lineages(
        app: String,
        environment: Environment,
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
        app: String,
        environment: Environment,
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
        app: String,
        environment: Environment,
        prefix: String,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [ListedCustomer] { [] }

    func unclaimed(
        app: String,
        environment: Environment,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [LineageRecord] { [] }

    func unclaimedCount(
        app: String,
        environment: Environment,
        limit: Int
    ) throws(StorageError) -> Int { 0 }

    func records(
        app: String,
        environment: Environment,
        from place: RecordPlace,
        limit: Int
    ) throws(StorageError) -> RecordPage { RecordPage(records: [], next: nil) }

    func restore(
        _ records: [StoredRecord],
        app: String,
        environment: Environment,
        now: Instant
    ) async throws(StorageError) -> [Restored] { records.map { _ in .added } }

    func figures(
        app: String,
        environment: Environment,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow] { [] }

    func staleFigures(
        app: String,
        environment: Environment,
        limit: Int
    ) throws(StorageError) -> StaleFiguresPage { StaleFiguresPage(turn: 0, subjects: []) }

    func keep(_ update: FiguresUpdate) async throws(StorageError) -> Bool { true }

    func markFigures(
        app: String,
        environment: Environment,
        otherThan stamp: Int64,
        after: String?,
        limit: Int
    ) async throws(StorageError) -> String? { nil }

    func bookmark(_ key: BookmarkKey) throws(StorageError) -> [UInt8]? { nil }

    func keep(_ form: [UInt8], as key: BookmarkKey) async throws(StorageError) {}

    func attributes(of customer: CustomerKey) throws(StorageError) -> [CustomerAttribute] { [] }

    func keep(_ order: AttributeOrder) async throws(StorageError) -> [String] { [] }

    func outbox(
        app: String,
        after: EventID?,
        limit: Int
    ) throws(StorageError) -> [OutboxEvent] { [] }

    func counts(app: String) throws(StorageError) -> [Tally: Int64] { [:] }

    func add(_ counts: [Tally: Int64], app: String) async throws(StorageError) {}

    func keys() throws(StorageError) -> [KeyRecord] { [] }

    func latestEvents(app: String, limit: Int) throws(StorageError) -> [OutboxEvent] { [] }

    func sharedChanges() throws(StorageError) -> SharedChanges? { nil }

    func add(_ key: KeyRecord) async throws(StorageError) {}

    func revokeKey(_ id: String, at now: Instant) async throws(StorageError) -> KeyRecord? { nil }

    func close() async {}
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

// MARK: - Webhooks

/// Without receivers there is nothing to deliver.
extension ForgetfulStorage {
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

    func put(_ webhook: WebhookRecord) async throws(StorageError) {}

    func claim(
        _ key: WebhookKey,
        now: Instant,
        until: Instant
    ) async throws(StorageError) -> Int64? { nil }

    func settle(_ settlement: WebhookSettlement) async throws(StorageError) -> Bool { false }

    func queue(
        _ events: [EventID],
        to key: WebhookKey,
        at now: Instant
    ) async throws(StorageError) {}

    func setWebhook(
        _ key: WebhookKey,
        disabled reason: String?,
        at now: Instant
    ) async throws(StorageError) -> Bool { false }
}
