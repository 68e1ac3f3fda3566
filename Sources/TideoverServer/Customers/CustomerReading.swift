import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// A query for one customer at one instant.
struct CustomerQuestion: Sendable {
    let key: CustomerKey
    /// The requested instant; nil for the newest.
    let at: Instant?
    /// Facts learned later are ignored; nil to use all.
    let asKnownAt: Instant?
    let now: Instant

    init(_ request: Request, customer: String, of app: App, now: Instant) throws {
        let customer = try CustomerID.storable(customer)
        key = CustomerKey(
            app: app.id,
            environment: try app.environment(askedIn: request),
            customer: customer
        )
        at = try request.instant("at")
        asKnownAt = try request.instant("asKnownAt")
        self.now = now
    }

    private init(_ question: CustomerQuestion, in environment: Environment) {
        key = CustomerKey(
            app: question.key.app,
            environment: environment,
            customer: question.key.customer
        )
        at = question.at
        asKnownAt = question.asKnownAt
        now = question.now
    }

    /// Returns the same query for another environment.
    func asked(in environment: Environment) -> CustomerQuestion {
        CustomerQuestion(self, in: environment)
    }
}

/// The data that answers a query about a customer, read from the storage.
struct CustomerReading: Sendable {
    let key: CustomerKey
    let asKnownAt: Instant?
    /// The effective instant of the query.
    let asOf: Instant
    /// The record as known by `asKnownAt`.
    let record: CustomerRecord
    /// The prompts shown by that instant, latest first.
    let prompts: [PromptExposure]
    private let policyHistory: PolicyHistory

    /// Reads what is stored of the customer.
    ///
    /// - Throws: `StorageError` when the storage cannot be read.
    init(
        _ question: CustomerQuestion,
        in context: AppContext
    ) throws(StorageError) {
        let lineages = try context.storage.knownLineages(of: question.key, now: question.now)
        self.init(question, lineages, of: context.app)
    }

    init(_ question: CustomerQuestion, _ lineages: CustomerLineages, of app: App) {
        let projector = Projector(app: app)
        policyHistory = app.policyHistory(in: question.key.environment)
        let all = projector.record(of: lineages)
        key = question.key
        asKnownAt = question.asKnownAt
        record = question.asKnownAt.map(all.asKnown(at:)) ?? all
        asOf = question.at ?? projector.instant(of: record, by: question)
        let latest = min(asOf, asKnownAt ?? asOf)
        prompts = lineages.prompts.filter { $0.shownAt <= latest }
    }

    /// Writes the common fields of all answers.
    func writeFields(to writer: inout JSONWriter) {
        writer.field("app", key.app)
        writer.field("customer", key.customer.text)
        writer.field("environment", key.environment.rawValue)
        writer.field("asOf", asOf.rfc3339)
        writer.field("asKnownAt", asKnownAt?.rfc3339)
        writer.field("reconciledAt", record.reconciledAt?.rfc3339)
        policyHistory.writeVersion(at: min(asOf, asKnownAt ?? asOf), to: &writer)
    }
}

extension Projector {
    /// Returns the effective instant of a query without one. Imported facts count as known at all
    /// times, so those dated later do not move a query about what was known in the past.
    fileprivate func instant(of record: CustomerRecord, by question: CustomerQuestion) -> Instant {
        guard let known = question.asKnownAt else { return instant(of: record, now: question.now) }
        return instant(of: record, now: known, atLatest: known + .clockTolerance)
    }
}

extension StorageReader {
    /// Returns a customer's lineages; empty for an unknown customer.
    func knownLineages(
        of key: CustomerKey,
        now: Instant
    ) throws(StorageError) -> CustomerLineages {
        try lineages(of: key, now: now)
            ?? CustomerLineages(key: key, answer: nil, lineageRecords: [], now: now)
    }
}

extension Request {
    /// Returns the instant in a query parameter; nil if absent.
    func instant(_ name: String) throws -> Instant? {
        guard let text = queryValue(name) else { return nil }
        guard let instant = Instant(rfc3339: text) else {
            throw Problem.badInstant(name, found: text)
        }
        return instant
    }
}
