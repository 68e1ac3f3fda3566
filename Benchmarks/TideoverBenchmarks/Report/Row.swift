/// One line of the report.
enum Row: String, CaseIterable, Sendable {
    case inProcess
    case withoutSignatures
    case committed
    case http
    case durable
    case constant
    case snapshot
    case bare
    case readsOfFew
    case commitsToFew
    case readsOfMany
    case commitsToMany
    case portfolio
    case commitsAlone
    case commitsBesidePortfolio
    case customerPage
    case customerSearch
    case emailSearch
    case durableOnPostgreSQL
    case durableOfThreeServers
    case readsOfPostgreSQL
    case postgresAlone

    var title: String {
        switch self {
        case .inProcess: "in process: verify, facts, standing"
        case .withoutSignatures: "in process: the same without signatures"
        case .committed: "in process: the same, committed durably"
        case .http: "over HTTP: verify, facts, standing"
        case .durable: "tideover serve: the same, committed durably"
        case .constant: "tideover serve: a constant answer"
        case .snapshot: "tideover serve: a customer's snapshot"
        case .bare: "the HTTP server alone: a constant answer"
        case .readsOfFew: "1,000 customers: snapshots"
        case .commitsToFew: "1,000 customers: notifications"
        case .readsOfMany: "100,000 customers: snapshots"
        case .commitsToMany: "100,000 customers: notifications"
        case .portfolio: "1,000,000 customers in ten apps: the portfolio"
        case .commitsAlone: "the same: notifications"
        case .commitsBesidePortfolio: "the same, the portfolio each second: notifications"
        case .customerPage: "100,000 customers: the dashboard's page of one"
        case .customerSearch: "the same: its search by the beginning of an id"
        case .emailSearch: "the same: its search by email address"
        case .durableOnPostgreSQL: "on PostgreSQL: notifications, committed durably"
        case .durableOfThreeServers: "on PostgreSQL: the same, by three servers on the one core"
        case .readsOfPostgreSQL: "on PostgreSQL: snapshots"
        case .postgresAlone: "pgbench: transactions with the rows of a notification"
        }
    }
}

/// A number derived from a round's readings, and its target.
struct Judgement: Sendable {
    /// The target of a number.
    enum Target: Sendable {
        case atLeast(Double)
        case atMost(Double)
        /// Reported only.
        case none
    }

    let title: String
    let target: Target
    /// Returns the number of one round, given V; nil if its readings are missing.
    let number: @Sendable (_ readings: [Row: Reading], _ verifications: Double) -> Double?

    static let all = [
        score("score in process", of: .inProcess, atLeast: 0.80),
        Judgement(title: "us without signatures", target: .atMost(15)) { readings, _ in
            readings[.withoutSignatures]?.processorMicroseconds
        },
        score("score over HTTP", of: .http, atLeast: 0.70),
        score("score committed durably", of: .durable, atLeast: 0.55),
        ratio(
            "CPU of a snapshot to a constant answer",
            .snapshot,
            .constant,
            .atMost(2),
            \.processorMicroseconds
        ),
        ratio(
            "CPU of a snapshot to the HTTP server alone",
            .snapshot,
            .bare,
            .none,
            \.processorMicroseconds
        ),
        ratio(
            "p99 of snapshots, 100,000 customers to 1,000",
            .readsOfMany,
            .readsOfFew,
            .none,
            \.p99Milliseconds
        ),
        ratio(
            "rate of commits, 100,000 customers to 1,000",
            .commitsToMany,
            .commitsToFew,
            .none,
            \.perSecond
        ),
        Judgement(
            title: "ms for the portfolio of 1,000,000 customers",
            target: .atMost(2_000)
        ) { readings, _ in readings[.portfolio]?.p50Milliseconds },
        ratio(
            "rate of commits, with the portfolio each second to without",
            .commitsBesidePortfolio,
            .commitsAlone,
            .atLeast(0.9),
            \.perSecond
        ),
        ratio(
            "rate of commits, PostgreSQL to SQLite",
            .durableOnPostgreSQL,
            .durable,
            .none,
            \.perSecond
        ),
        ratio(
            "rate of commits on PostgreSQL, three servers to one",
            .durableOfThreeServers,
            .durableOnPostgreSQL,
            .none,
            \.perSecond
        ),
        ratio(
            "rate of commits on PostgreSQL to pgbench",
            .durableOnPostgreSQL,
            .postgresAlone,
            .none,
            \.perSecond
        ),
        page("customer's page", .customerPage), page("search by id", .customerSearch),
        page("search by email", .emailSearch),
    ]

    private static func page(_ title: String, _ row: Row) -> Judgement {
        Judgement(title: "p99 ms of the dashboard's \(title)", target: .atMost(50)) { readings, _ in
            readings[row]?.p99Milliseconds
        }
    }

    /// The used fraction of the machine's maximum, at three verifications per notification.
    private static func score(_ title: String, of row: Row, atLeast least: Double) -> Judgement {
        Judgement(title: title, target: .atLeast(least)) { readings, verifications in
            readings[row].map { $0.perSecond * 3 / verifications }
        }
    }

    private static func ratio(
        _ title: String,
        _ row: Row,
        _ other: Row,
        _ target: Target,
        _ value: @escaping @Sendable (Reading) -> Double
    ) -> Judgement {
        Judgement(title: title, target: target) { readings, _ in
            guard let row = readings[row], let other = readings[other] else { return nil }
            return value(row) / value(other)
        }
    }

    /// Returns nil if there is no target.
    func isMet(by number: Double) -> Bool? {
        switch target {
        case .atLeast(let least): number >= least
        case .atMost(let most): number <= most
        case .none: nil
        }
    }

    /// The target as text.
    var demand: String {
        switch target {
        case .atLeast(let least): ">= \(least.written)"
        case .atMost(let most): "<= \(most.written)"
        case .none: "-"
        }
    }
}
