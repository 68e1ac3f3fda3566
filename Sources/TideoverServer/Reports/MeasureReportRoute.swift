import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers the reports over the history of purchases: `GET /v1/reports/recovery`,
/// `/v1/reports/churn`, `/v1/reports/trials` and `/v1/reports/experiments`. Each has a row for each environment of each app.
struct MeasureReportRoute {
    let contexts: [AppContext]
    let now: Instant

    /// A report over an app's purchases in one environment. It blocks its thread.
    typealias Measure = @Sendable (PurchaseWalk, MeasureQuestion) throws -> any MeasuredRows

    func respond(to request: Request, _ measure: @escaping Measure) async throws -> Response {
        let question = try MeasureQuestion(request, now: now)
        var writer = JSONWriter()
        try await writer.report(of: contexts, at: question.asOf) { context, environment in
            let report = try await context.longRead { read in
                try measure(
                    PurchaseWalk(context, environment, until: question.asOf, read),
                    question
                )
            }
            return { report.writeFields(to: &$0) }
        }
        return .json(bytes: writer.bytes, headers: ["Cache-Control": "private, no-store"])
    }

    /// Failed renewals that began in the range, and their recovery.
    static let recovery: Measure = { purchases, question in
        let range = question.range
        let issues = try purchases.issues().filter { range.contains($0.enteredAt) }
        return RecoveryReport(
            of: issues,
            asOf: question.asOf,
            by: question.dimensions,
            within: RecoveryReport.curveDays
        )
    }

    /// Subscribers at the start of the range, and why some were not subscribed at its end.
    static let churn: Measure = { purchases, question in
        try purchases.measure {
            ChurnReport(of: $0, over: question.lastMonth, by: question.dimensions)
        }
    }

    static let trials: Measure = { purchases, question in
        try purchases.measure {
            TrialReport(of: $0, asOf: question.asOf, by: question.dimensions)
        }
    }
}

extension MeasureReportRoute {
    static let experiments: Measure = { purchases, _ in try purchases.experiments() }
}

/// What a report is about: `from`, `to` and `by` of the query.
struct MeasureQuestion: Sendable {
    /// The instant up to which the history counts: `to`, but not after now.
    let asOf: Instant
    let dimensions: [MeasureDimension]
    private let from: Instant?

    /// - Throws: `bad-instant`, also if `from` is not before `to`; `bad-dimension`.
    init(_ request: Request, now: Instant) throws {
        from = try request.instant("from")
        asOf = min(try request.instant("to") ?? now, now)
        if let from, from >= asOf {
            throw Problem.badRange(found: from)
        }
        let names = request.queryValue("by")?.split(separator: ",") ?? []
        var dimensions: [MeasureDimension] = []
        for name in names {
            guard let dimension = Self.known[String(name)] else {
                throw Problem.badDimension(String(name))
            }
            // A row has one member for each dimension: a repeated one would be a duplicate key.
            if dimensions.contains(where: { $0.name == dimension.name }) { continue }
            dimensions.append(dimension)
        }
        self.dimensions = dimensions
    }

    private static let known: [String: MeasureDimension] = Dictionary(
        uniqueKeysWithValues: [MeasureDimension.product, .store, .country].map { ($0.name, $0) }
    )

    /// All time up to `asOf`, unless the query has `from`.
    var range: Range<Instant> { (from ?? .distantPast)..<asOf }

    /// The 30 days up to `asOf`, unless the query has `from`.
    var lastMonth: Range<Instant> { (from ?? asOf - .days(30))..<asOf }
}

extension Problem {
    static func badDimension(_ found: String) -> Problem {
        Problem(
            "bad-dimension",
            detail: "`by` is a list of `product`, `store` and `country`, separated by commas.",
            members: ["parameter": "by", "found": .string(found)]
        )
    }
}

/// Reads an app's purchases in one environment, page by page.
struct PurchaseWalk {
    private let context: AppContext
    private let environment: Environment
    private let until: Instant
    private let read: LongRead

    private var app: App { context.app }
    private var storage: any Storage { context.storage }

    init(_ context: AppContext, _ environment: Environment, until: Instant, _ read: LongRead) {
        self.context = context
        self.environment = environment
        self.until = until
        self.read = read
    }

    /// Returns every billing issue. That of a customer who returned through another purchase is
    /// recovered. An issue that began while no customer owned the purchase is judged by itself.
    ///
    /// Only the customers with an issue are read again with all their purchases.
    func issues() throws -> [BillingIssue] {
        var issues: [BillingIssue] = []
        var concerned: Set<CustomerID> = []
        try eachIssueRecord { timeline, owners in
            issues += timeline.issues.filter { !owners.hasOwner(at: $0.enteredAt) }
            concerned.formUnion(owners.map(\.customer))
        }
        try eachTimeline(of: concerned) { issues += $1.issues }
        return issues
    }

    /// Returns a report on each experiment of the app's current policy.
    func experiments() throws -> ExperimentRows {
        try experiments(app.policy.experiments.map { $0.asKnown(at: until) })
    }

    /// Returns a report on each of some experiments of the app.
    func experiments(_ experiments: [Experiment]) throws -> ExperimentRows {
        var entries = experiments.map { _ in [ExperimentEntry]() }
        try eachTimeline(of: try customers(in: experiments)) { lineages, timeline in
            for (position, experiment) in experiments.enumerated() {
                let entry = timeline.entry(
                    in: experiment,
                    of: lineages.identity,
                    shown: lineages.prompts
                )
                if let entry { entries[position].append(entry) }
            }
        }
        return ExperimentRows(
            reports: zip(experiments, entries).map {
                ExperimentReport(of: $1, in: $0, asOf: until)
            }
        )
    }

    /// Returns the customers with a payment that failed during some of the experiments.
    private func customers(in experiments: [Experiment]) throws -> Set<CustomerID> {
        guard experiments.contains(where: { $0.start <= until }) else { return [] }
        var customers: Set<CustomerID> = []
        try eachIssueRecord { timeline, owners in
            let isConcerned = timeline.issues.contains { issue in
                experiments.contains { $0.includes(issue.enteredAt) }
            }
            if isConcerned { customers.formUnion(owners.map(\.customer)) }
        }
        return customers
    }

    /// Calls a function with the timeline and the owners of each purchase with a billing issue.
    private func eachIssueRecord(
        _ body: (LineageTimeline, [OwnershipEntry]) -> Void
    ) throws {
        let all = LineageRecordStream(app.id, environment, in: storage, read)
        for lineageRecord in all {
            let timeline = timeline(of: lineageRecord)
            if !timeline.issues.isEmpty { body(timeline, lineageRecord.owners) }
        }
        try all.check()
    }

    /// Calls a function with the timeline of each of some customers over all their purchases, once
    /// for all IDs of a customer.
    private func eachTimeline(
        of customers: Set<CustomerID>,
        _ body: (CustomerLineages, CustomerTimeline) -> Void
    ) throws {
        var done: Set<CustomerID> = []
        let projector = Projector(app: app)
        for customer in customers {
            try read.goOn()
            var lineages = try knownLineages(of: customer)
            let primary = lineages.identity.primary
            guard done.insert(primary).inserted else { continue }
            if primary != customer { lineages = try knownLineages(of: primary) }
            let record = projector.record(of: lineages).withJoinedIDs
            body(lineages, CustomerTimeline(record, until: until))
        }
    }

    private func knownLineages(of customer: CustomerID) throws -> CustomerLineages {
        let key = CustomerKey(app: app.id, environment: environment, customer: customer)
        return try storage.knownLineages(of: key, now: until)
    }

    /// Returns a report over the timelines of all purchases, which are read as it asks for them.
    func measure<Report>(_ report: (AnySequence<LineageTimeline>) -> Report) throws -> Report {
        let all = LineageRecordStream(app.id, environment, in: storage, read)
        let report = report(AnySequence(all.lazy.map(timeline)))
        try all.check()
        return report
    }

    /// Calls a function with the record of each customer.
    func eachRecord(_ body: (CustomerRecord) -> Void) throws {
        let projector = Projector(app: app)
        try eachCustomer { key in
            let lineages = try storage.knownLineages(of: key, now: until)
            body(projector.record(of: lineages).withJoinedIDs)
        }
    }

    private func timeline(of lineageRecord: LineageRecord) -> LineageTimeline {
        let history = app.policyHistory(in: environment)
        return LineageTimeline(
            lineage: lineageRecord.lineage,
            facts: lineageRecord.facts,
            catalogue: history.catalogue,
            policy: history.policy,
            until: until
        )
    }

    private func eachCustomer(_ body: (CustomerKey) throws -> Void) throws {
        let pageLength = 200
        var last: String?
        while true {
            let page = try storage.customers(
                in: AppScope(app.id, environment),
                prefix: "",
                after: last,
                limit: pageLength
            )
            for listed in page where listed.id == listed.customer {
                try read.goOn()
                try body(
                    CustomerKey(app: app.id, environment: environment, customer: listed.customer)
                )
            }
            guard page.count == pageLength else { return }
            last = page.last?.id.text
        }
    }
}

/// The purchases of an app in one environment, in the order of their keys.
///
/// A sequence cannot throw: after an error it ends, and `check` throws the error.
private final class LineageRecordStream: Sequence, IteratorProtocol {
    private let app: String
    private let environment: Environment
    private let storage: any Storage
    private let read: LongRead
    /// The rest of the current page, last purchase first.
    private var page: [LineageRecord] = []
    private var last: String?
    private var isAtEnd = false
    private var failure: (any Error)?

    private static let pageLength = 100

    init(
        _ app: String,
        _ environment: Environment,
        in storage: any Storage,
        _ read: LongRead
    ) {
        self.app = app
        self.environment = environment
        self.storage = storage
        self.read = read
    }

    func next() -> LineageRecord? {
        do {
            try read.goOn()
            if page.isEmpty, !isAtEnd { try turnPage() }
        } catch {
            failure = error
            return nil
        }
        return page.popLast()
    }

    private func turnPage() throws {
        page = try storage.lineages(
            in: AppScope(app, environment),
            after: last,
            limit: Self.pageLength
        ).reversed()
        last = page.first?.lineage.key
        isAtEnd = page.count < Self.pageLength
    }

    /// - Throws: the error that ended the sequence early.
    func check() throws {
        if let failure { throw failure }
    }
}

// MARK: - JSON

/// A report with groups of rows that writes itself.
protocol MeasuredRows: Sendable {
    func writeFields(to writer: inout JSONWriter)
}

extension JSONWriter {
    /// Writes the names of the dimensions, and the groups with their values.
    fileprivate mutating func groups<Row>(
        of rows: [Row],
        by dimensions: [String],
        values: (Row) -> [String?],
        _ write: (Row, inout JSONWriter) -> Void
    ) {
        field("dimensions", each: dimensions) { $1.value($0) }
        field("groups", objects: rows) { row, writer in
            for (name, value) in zip(dimensions, values(row)) {
                writer.field(name, value)
            }
            write(row, &writer)
        }
    }

    /// Writes a share with its denominator and a 95 % interval, which are null if nothing is
    /// decided.
    fileprivate mutating func field(_ name: String, _ share: Share) {
        field(
            name,
            object: { writer in
                writer.field("of", share.whole)
                writer.field("share", share.value)
                writer.field("lower", share.interval()?.lower)
                writer.field("upper", share.interval()?.upper)
            }
        )
    }
}

extension RecoveryReport: MeasuredRows {
    /// The days at which the curve is given; the usual horizons 30, 60 and 90 are among them.
    fileprivate static let curveDays = [1, 3, 7, 14, 21, 30, 45, 60, 90]

    func writeFields(to writer: inout JSONWriter) {
        writer.groups(of: rows, by: dimensions, values: \.values) { row, writer in
            row.writeFields(to: &writer)
        }
    }
}

extension RecoveryReport.Row {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        writer.field("issues", issues)
        writer.field("open", open)
        writer.field("recovered", recovered)
        writer.field("recoveredFromGrace", recoveredFromGrace)
        writer.field("recoveredFromHold", recoveredFromHold)
        writer.field("recoveredByNewPurchase", recoveredByNewPurchase)
        writer.field("lost", lost)
        writer.field("cancelledFromGrace", cancelledFromGrace)
        writer.field("cancelledFromHold", cancelledFromHold)
        writer.field("unrecovered", unrecovered)
        writer.field("takenBack", takenBack)
        writer.field("unconfirmed", unconfirmed)
        writer.field("medianDays", medianTime?.days)
        writer.field("ninthDecileDays", ninthDecileTime?.days)
        for (name, horizons) in [("all", all), ("fromGrace", fromGrace), ("fromHold", fromHold)] {
            writer.field(name, each: horizons) { $0.write(to: &$1) }
        }
        writer.field("money", each: money) { $0.write(to: &$1) }
        writer.field("withoutPrice", withoutPrice)
    }
}

extension RecoveryReport.Horizon {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("days", days)
            writer.field("entries", entries)
            writer.field("decided", simple)
            writer.field(
                "estimate",
                object: { writer in
                    writer.field("share", estimate?.value)
                    writer.field("lower", estimate?.interval().lower)
                    writer.field("upper", estimate?.interval().upper)
                    writer.field("atRisk", estimate?.atRisk)
                }
            )
        }
    }
}

extension RecoveryReport.Sum {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("currency", currency)
            writer.field("atRisk", atRisk)
            writer.field("recovered", recovered)
            writer.field("lost", lost)
            writer.field("open", open)
        }
    }
}

extension ChurnReport: MeasuredRows {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("from", range.lowerBound.rfc3339)
        writer.field("to", range.upperBound.rfc3339)
        writer.groups(of: rows, by: dimensions, values: \.values) { row, writer in
            writer.field("atStart", row.atStart)
            writer.field("churned", row.churned)
            writer.field("voluntary", row.voluntary)
            writer.field("cancelledFromGrace", row.cancelledFromGrace)
            writer.field("cancelledFromHold", row.cancelledFromHold)
            writer.field("involuntary", row.involuntary)
            writer.field("takenBack", row.takenBack)
            writer.field("returned", row.returned)
            writer.field("unconfirmed", row.unconfirmed)
            writer.field("churn", row.churn)
        }
    }
}

extension TrialReport: MeasuredRows {
    func writeFields(to writer: inout JSONWriter) {
        writer.groups(of: rows, by: dimensions, values: \.values) { row, writer in
            writer.field("cohort", row.cohort)
            writer.field("started", row.started)
            writer.field("running", row.running)
            writer.field("inBillingIssue", row.inBillingIssue)
            writer.field("converted", row.converted)
            writer.field("cancelled", row.cancelled)
            writer.field("lapsed", row.lapsed)
            writer.field("takenBack", row.takenBack)
            writer.field("unconfirmed", row.unconfirmed)
            writer.field("conversion", row.conversion)
        }
    }
}

extension Milliseconds {
    fileprivate var days: Double { Double(count) / 86_400_000 }
}
