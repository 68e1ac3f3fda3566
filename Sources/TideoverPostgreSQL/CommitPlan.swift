import TideoverCore
import TideoverStorage

/// Divides the commits of a transaction into rounds (`CommitRound`).
struct CommitPlan {
    /// Jobs of one app and environment, by their positions.
    struct Round {
        let scope: AppScope
        var jobs: [Int]
        fileprivate var lineages: Set<String>
        fileprivate var customers: Set<CustomerID>
        /// Whether other jobs may join.
        fileprivate var isOpen: Bool

        fileprivate func takes(_ reach: Reach) -> Bool {
            isOpen && reach.isPlain && lineages.isDisjoint(with: reach.lineages)
                && customers.isDisjoint(with: reach.customers)
        }

        fileprivate mutating func add(_ job: Int, _ reach: Reach) {
            jobs.append(job)
            lineages.formUnion(reach.lineages)
            customers.formUnion(reach.customers)
        }
    }

    /// What one job concerns.
    fileprivate struct Reach {
        let isPlain: Bool
        var lineages: Set<String> = []
        var customers: Set<CustomerID> = []

        init(_ job: CommitJob) {
            isPlain = job.batch.allSatisfy(\.commitRequest.isPlain)
            for rows in job.batch {
                let request = rows.commitRequest
                let keys =
                    request.customers + request.reconciled + request.prompts.map(\.customer)
                    + request.claims.map(\.customer)
                customers.formUnion(keys.map(\.customer))
                customers.formUnion(rows.facts.compactMap { $0.fact.claim?.customer })
                lineages.formUnion(rows.facts.map(\.fact.lineage.key))
            }
        }
    }

    let rounds: [Round]

    /// Plans jobs, which are not empty, in a transaction that has locked their apps.
    init(_ jobs: [CommitJob], _ session: WriteSession) throws(StorageError) {
        var reaches = jobs.map(Reach.init)
        if jobs.count > 1 { try Self.extend(&reaches, jobs, session) }
        var rounds: [Round] = []
        var latest: [AppScope: Int] = [:]
        for (index, reach) in reaches.enumerated() {
            guard let scope = jobs[index].scope else { continue }
            if let place = latest[scope], rounds[place].takes(reach) {
                rounds[place].add(index, reach)
            } else {
                latest[scope] = rounds.count
                rounds.append(
                    Round(
                        scope: scope,
                        jobs: [index],
                        lineages: reach.lineages,
                        customers: reach.customers,
                        isOpen: reach.isPlain
                    )
                )
            }
        }
        self.rounds = rounds
    }

    /// Adds the owners of the lineages, and replaces aliases by their customers.
    private static func extend(
        _ reaches: inout [Reach],
        _ jobs: [CommitJob],
        _ session: WriteSession
    ) throws(StorageError) {
        let scopes = Set(jobs.compactMap(\.scope))
        for scope in scopes {
            let own = jobs.indices.filter { jobs[$0].scope == scope }
            let lineages = own.reduce(into: Set<String>()) { $0.formUnion(reaches[$1].lineages) }
            let owners = try owners(of: lineages, in: scope, session)
            for index in own {
                let found = reaches[index].lineages.compactMap { owners[$0] }
                for owners in found { reaches[index].customers.formUnion(owners) }
            }
            let named = own.reduce(into: Set<CustomerID>()) { $0.formUnion(reaches[$1].customers) }
            let primaries = try session.customers.primaries(of: named, in: scope)
            for index in own {
                reaches[index].customers = Set(
                    reaches[index].customers.map { primaries[$0] ?? $0 }
                )
            }
        }
    }

    private static func owners(
        of lineages: Set<String>,
        in scope: AppScope,
        _ session: WriteSession
    ) throws(StorageError) -> [String: Set<CustomerID>] {
        let answer = try session.connection.ask(
            SQL.ownersOfLineages,
            in: scope,
            .texts(Array(lineages))
        )
        let rows = try answer.all { row throws(StorageError) in
            (row.text(0), try session.customers.connection.rows.customer(row.text(1)))
        }
        return rows.reduce(into: [:]) { $0[$1.0, default: []].insert($1.1) }
    }
}
