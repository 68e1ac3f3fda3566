import TideoverCore
import TideoverStorage

/// The commit requests of one caller, which are stored or rejected together.
struct CommitJob: Sendable {
    let batch: [CommitRequestRows]
    let derive: @Sendable (CustomerLineages) -> Derivation

    var scope: AppScope? { batch.first?.commitRequest.scope }
}

/// Jobs of one app and environment that go through the steps of a commit together.
///
/// Each step sends the statements of all jobs at once, so a round costs as many round trips as one
/// commit. Jobs of one round concern different lineages and customers, so that none sees data of
/// another.
struct CommitRound {
    private let session: WriteSession
    private let scope: AppScope
    private let jobs: [CommitJob]

    init(_ session: WriteSession, _ scope: AppScope, _ jobs: [CommitJob]) {
        self.session = session
        self.scope = scope
        self.jobs = jobs
    }

    /// A customer to derive for a job.
    private struct Derived {
        let job: Int
        var reading: CustomerReading
        var read: ReadCustomer
        var derivation: Derivation
    }

    /// Stores the content of the jobs, and its consequences.
    func run() throws(StorageError) -> [[CommitOutcome]] {
        let taken = try take()
        let ids = try primaries(of: taken)
        var readings: [(job: Int, reading: CustomerReading)] = []
        for (job, taken) in taken.enumerated() {
            let kept = taken.compactMap(\.self)
            for key in Set(kept.flatMap { $0.concerned(ids) }).sorted() {
                readings.append((job, reading(of: key, kept, ids)))
            }
        }
        let keys = Set(readings.map(\.reading.key))
        guard jobs.count == 1 || keys.count == readings.count else {
            // The plan was wrong, as an earlier round changed an owner. Each job then runs alone.
            throw StorageError(.refused, place: session.connection.place, detail: "an overlap")
        }
        let derived = try derive(readings)
        let rows = try store(derived)
        for taken in taken.flatMap(\.self) {
            guard let taken else { continue }
            try session.add(taken.commitRequest.tallies, app: scope.app)
        }
        return taken.map { $0.map { $0?.outcome(rows, ids) ?? .duplicate } }
    }

    // MARK: Taking

    /// Stores what the commit requests contain; nil for a duplicate.
    private func take() throws(StorageError) -> [[Taken?]] {
        let requests = jobs.flatMap(\.batch)
        var taken: [Taken?] = []
        for run in CommitTaking.runs(requests) {
            taken += try CommitTaking(session, scope).take(run)
        }
        var rest = taken[...]
        return jobs.map { job in
            defer { rest = rest.dropFirst(job.batch.count) }
            return Array(rest.prefix(job.batch.count))
        }
    }

    /// The customers that all named ids belong to.
    private func primaries(
        of taken: [[Taken?]]
    ) throws(StorageError) -> [CustomerID: CustomerID] {
        let named = taken.flatMap(\.self).compactMap(\.self).flatMap(\.named)
        guard !named.isEmpty else { return [:] }
        return try session.customers.primaries(of: Set(named), in: scope)
    }

    private func reading(
        of key: CustomerKey,
        _ kept: [Taken],
        _ ids: [CustomerID: CustomerID]
    ) -> CustomerReading {
        var occasion = Occasion(now: kept.first?.commitRequest.now ?? .distantPast)
        let isOwn = { (named: CustomerKey) in
            (ids[named.customer] ?? named.customer) == key.customer
        }
        for request in kept.map(\.commitRequest) where request.reconciled.contains(where: isOwn) {
            occasion.reconciledAt = occasion.now
            if let store = request.presentedIn {
                occasion.presented.instants[store] = occasion.now
            }
        }
        for request in kept.map(\.commitRequest) where request.customers.contains(where: isOwn) {
            occasion.presented.add(request.accountOffers, at: occasion.now)
        }
        for shown in kept.flatMap(\.commitRequest.prompts) where isOwn(shown.customer) {
            occasion.prompts.append(shown.exposure)
        }
        if let joined = kept.compactMap(\.joined).first(where: { $0.key == key }) {
            occasion.reconciledAt = joined.reconciledAt ?? occasion.reconciledAt
            occasion.leastVersion = joined.leastVersion
            occasion.presented.merge(joined.presented)
        }
        var changed: [String: LineageRecord] = [:]
        for taken in kept { changed.merge(taken.newFacts.mapValues(\.lineageRecord)) { $1 } }
        return CustomerReading(key: key, occasion: occasion, changed: changed, isWhole: false)
    }

    // MARK: Deriving

    private func derive(
        _ readings: [(job: Int, reading: CustomerReading)]
    ) throws(StorageError) -> [Derived] {
        var derived: [Derived] = []
        let read = try session.customers.read(readings.map(\.reading))
        for (customer, read) in zip(readings, read) {
            derived.append(
                Derived(
                    job: customer.job,
                    reading: customer.reading,
                    read: read,
                    derivation: jobs[customer.job].derive(read.lineages)
                )
            )
        }
        for index in derived.indices where derived[index].derivation.needsAll {
            derived[index].reading.isWhole = true
            guard let whole = try session.customers.read([derived[index].reading]).first else {
                preconditionFailure("each customer is read")
            }
            derived[index].read = whole
            derived[index].derivation = jobs[derived[index].job].derive(whole.lineages)
        }
        return derived
    }

    // MARK: Storing

    private func store(
        _ derived: [Derived]
    ) throws(StorageError) -> [CustomerKey: CustomerRow] {
        var rows: [CustomerKey: CustomerRow] = [:]
        var told: [CustomerKey: Set<String>] = [:]
        var stories = jobs.map { _ in EventOrder() }
        for result in derived {
            let row = result.read.lineages.row(for: result.derivation)
            try put(row, result.derivation)
            rows[row.key] = row
            told[row.key] = result.read.told
            stories[result.job].add(result.derivation.events, of: row)
        }
        for (event, row) in stories.flatMap(\.inOrder) {
            if let name = event.name {
                guard told[row.key, default: []].insert(name).inserted else { continue }
            }
            try append(event, of: row)
        }
        return rows
    }

    private func put(_ row: CustomerRow, _ derivation: Derivation) throws(StorageError) {
        let connection = session.connection
        for settled in derivation.settled {
            try connection.ask(
                SQL.settle,
                in: scope,
                .text(settled.lineage.key),
                .text(row.fingerprint),
                .instant(settled.since)
            )
        }
        try connection.ask(
            SQL.putCustomer,
            in: scope,
            .text(row.key.customer.text),
            .integer(row.version),
            .bytes(row.answer),
            .instant(row.validUntil),
            .text(row.fingerprint),
            .instant(row.derivedAt),
            .optional(row.pass?.compact),
            .optional(row.pass?.signer),
            .instant(row.pass?.issuedAt),
            .instant(row.pass?.renewAt),
            .instant(row.reconciledAt),
            .optional(PresentedText.write(row.presented))
        )
        for drift in derivation.drift { try session.put(drift, of: row.key) }
    }

    private func append(_ event: Event, of row: CustomerRow) throws(StorageError) {
        let id = try session.events.next(
            in: scope.app,
            at: row.derivedAt,
            random: session.random()
        )
        if let name = event.name {
            try session.connection.ask(
                CommonSQL.insertTold,
                in: scope,
                .text(row.key.customer.text),
                .text(name),
                .text(id.description)
            )
        }
        try session.connection.ask(
            CommonSQL.insertEvent,
            .text(scope.app),
            .text(id.description),
            .text(scope.environment.rawValue),
            .text(row.key.customer.text),
            .integer(row.version),
            .text(event.kind),
            .instant(event.at),
            .bytes(event.body)
        )
    }
}
