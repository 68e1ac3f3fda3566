import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/reports/portfolio`: subscriptions by state, their revenue, and the money of
/// failed renewals, for each environment of each app and in total.
struct PortfolioReportRoute {
    let contexts: [AppContext]
    let now: Instant

    func respond(to request: Request) async throws -> Response {
        let question = try PortfolioQuestion(request, now: now)
        var rows: [(app: App, environment: Environment, report: PortfolioReport)] = []
        for context in contexts {
            for environment in context.app.environments {
                let report = try await context.longRead { read in
                    try FiguresSource(context, environment, read)
                        .portfolio(at: question.instants, over: question.range)
                }
                rows.append((context.app, environment, report))
            }
        }
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            question.writeFields(to: &writer)
            writer.field("rows", objects: rows) { row, writer in
                writer.field("app", row.app.id)
                writer.field("environment", row.environment.rawValue)
                PortfolioFigures(row.report).writeFields(question.rates, to: &writer)
                writer.history(of: row.report)
            }
            writer.totals(of: rows.map { ($0.environment, $0.report) }, question.rates)
        }
    }
}

/// What a portfolio report is about: `from`, `to`, `each`, `currency` and `rates` of the query.
struct PortfolioQuestion: Sendable {
    let range: Range<Instant>
    let unit: CalendarUnit?
    /// The earlier instants at which subscriptions are counted too, in order.
    let instants: [Instant]
    /// Nil if sums stay in their currencies.
    let rates: ExchangeRates?

    /// The most instants at which subscriptions are counted.
    static let most = 400

    /// - Throws: `bad-instant`, `bad-report-parameter`.
    init(_ request: Request, now: Instant) throws {
        range = try MeasureQuestion(request, now: now).lastMonth
        unit = try request.queryValue("each").map { text throws(Problem) in
            guard let unit = CalendarUnit(rawValue: text) else {
                throw .badReportParameter("each", found: text, "`each` is day, week or month.")
            }
            return unit
        }
        instants = try Self.instants(in: range, unit)
        rates = try Self.rates(request)
    }

    private static func instants(
        in range: Range<Instant>,
        _ unit: CalendarUnit?
    ) throws(Problem) -> [Instant] {
        guard let unit else { return [] }
        guard let starts = unit.starts(in: range, atMost: most) else {
            throw .badReportParameter(
                "each",
                found: unit.rawValue,
                "The range has more than \(most) of them. Choose a shorter range or a longer unit."
            )
        }
        return [range.lowerBound] + starts
    }

    private static func rates(_ request: Request) throws(Problem) -> ExchangeRates? {
        let text = request.queryValue("rates")
        guard let currency = request.queryValue("currency") else {
            guard let text else { return nil }
            throw .badReportParameter("rates", found: text, "`rates` needs `currency`.")
        }
        guard let rates = ExchangeRates(to: currency, rates: text ?? "") else {
            throw .badReportParameter(
                "rates",
                found: "\(currency) \(text ?? "")",
                "`currency` is a code such as EUR, and `rates` a list such as USD:0.92,JPY:0.0061."
            )
        }
        return rates
    }

    func writeFields(to writer: inout JSONWriter) {
        writer.field("asOf", range.upperBound.rfc3339)
        writer.field("from", range.lowerBound.rfc3339)
        writer.field("to", range.upperBound.rfc3339)
        writer.field("each", unit?.rawValue)
        guard let rates else { return writer.field("conversion", String?.none) }
        writer.field(
            "conversion",
            object: { writer in
                writer.field("currency", rates.currency)
                writer.field("rates", objects: rates.stated) { stated, writer in
                    writer.field("currency", stated.currency)
                    writer.field("rate", stated.rate)
                }
            }
        )
    }
}

extension Problem {
    static func badReportParameter(
        _ parameter: String,
        found: String,
        _ detail: String
    ) -> Problem {
        Problem(
            "bad-report-parameter",
            detail: detail,
            members: ["parameter": .string(parameter), "found": .string(found)]
        )
    }
}

/// The figures of one app in one environment, or of several together.
private struct PortfolioFigures {
    private var counts: [SubscriptionState: Int] = [:]
    private var subscribers = 0
    private var revenue: [String: PortfolioReport.Revenue] = [:]
    private var withoutPrice = 0
    private var issues = 0
    private var money: [String: RecoveryReport.Sum] = [:]
    private var issuesWithoutPrice = 0

    init() {}

    init(_ report: PortfolioReport) {
        self.init()
        add(report)
    }

    /// Adds the figures of another app, as they are reported for it.
    mutating func add(_ report: PortfolioReport) {
        guard let point = report.points.last else { return }
        counts.merge(point.counts, uniquingKeysWith: +)
        subscribers += point.subscribers
        withoutPrice += point.withoutPrice
        for sum in point.revenue {
            revenue[sum.currency] = revenue[sum.currency].map { $0.adding(sum) } ?? sum
        }
        issues += report.failures.issues
        issuesWithoutPrice += report.failures.withoutPrice
        for sum in report.failures.money {
            money[sum.currency] = money[sum.currency].map { $0.adding(sum) } ?? sum
        }
    }

    func writeFields(_ rates: ExchangeRates?, to writer: inout JSONWriter) {
        let revenue = revenue.values.sorted { $0.currency < $1.currency }
        let money = money.values.sorted { $0.currency < $1.currency }
        writer.subscriptions(counts, subscribers)
        writer.revenue(revenue, withoutPrice: withoutPrice)
        writer.field("issues", issues)
        writer.field("money", each: money) { $0.write(to: &$1) }
        writer.field("issuesWithoutPrice", issuesWithoutPrice)
        guard let rates else { return writer.field("converted", String?.none) }
        let conversion = Conversion(revenue, money, rates)
        writer.field("converted", object: { conversion.writeFields(to: &$0) })
    }
}

/// The sums of several currencies in one.
private struct Conversion {
    private var sums: [(name: String, milliunits: Int64)]
    /// Currencies without a rate, which are in no sum.
    private var leftOut: Set<String> = []

    init(
        _ revenue: [PortfolioReport.Revenue],
        _ money: [RecoveryReport.Sum],
        _ rates: ExchangeRates
    ) {
        let currency = rates.currency
        sums = PortfolioReport.Revenue(currency: currency).amounts
        sums += RecoveryReport.Sum(currency: currency).amounts
        for sum in revenue { add(sum.amounts, of: sum.currency, rates) }
        for sum in money { add(sum.amounts, of: sum.currency, rates) }
    }

    private mutating func add(
        _ amounts: [(name: String, milliunits: Int64)],
        of currency: String,
        _ rates: ExchangeRates
    ) {
        for (name, milliunits) in amounts {
            guard let converted = rates.converted(milliunits, of: currency),
                let place = sums.firstIndex(where: { $0.name == name })
            else {
                leftOut.insert(currency)
                continue
            }
            sums[place].milliunits = sums[place].milliunits.addingSaturated(converted)
        }
    }

    func writeFields(to writer: inout JSONWriter) {
        for sum in sums { writer.field(sum.name, sum.milliunits) }
        writer.field("leftOut", each: leftOut.sorted()) { $1.value($0) }
    }
}

extension PortfolioReport.Revenue {
    fileprivate var amounts: [(name: String, milliunits: Int64)] {
        [
            ("mrr", recurring), ("active", active), ("cancelled", cancelled), ("grace", grace),
            ("hold", hold),
        ]
    }

    fileprivate func adding(_ other: Self) -> Self {
        var sum = self
        sum.active = active.addingSaturated(other.active)
        sum.cancelled = cancelled.addingSaturated(other.cancelled)
        sum.grace = grace.addingSaturated(other.grace)
        sum.hold = hold.addingSaturated(other.hold)
        return sum
    }
}

extension RecoveryReport.Sum {
    fileprivate var amounts: [(name: String, milliunits: Int64)] {
        [("atRisk", atRisk), ("recovered", recovered), ("lost", lost), ("open", open)]
    }

    fileprivate func adding(_ other: Self) -> Self {
        Self(
            currency: currency,
            atRisk: atRisk.addingSaturated(other.atRisk),
            recovered: recovered.addingSaturated(other.recovered),
            lost: lost.addingSaturated(other.lost),
            open: open.addingSaturated(other.open)
        )
    }
}

// MARK: - JSON

extension JSONWriter {
    fileprivate mutating func subscriptions(
        _ counts: [SubscriptionState: Int],
        _ subscribers: Int
    ) {
        field("subscribers", subscribers)
        field(
            "subscriptions",
            object: { writer in
                for state in SubscriptionState.allCases {
                    writer.field(state.rawValue, counts[state] ?? 0)
                }
            }
        )
    }

    fileprivate mutating func revenue(_ sums: [PortfolioReport.Revenue], withoutPrice: Int) {
        field("revenue", objects: sums) { sum, writer in
            writer.field("currency", sum.currency)
            for (name, milliunits) in sum.amounts { writer.field(name, milliunits) }
        }
        field("withoutPrice", withoutPrice)
    }

    /// Writes the subscriptions at the instants that `each` asked for; none without it.
    fileprivate mutating func history(of report: PortfolioReport) {
        field(
            "history",
            array: { writer in
                guard report.points.count > 1 else { return }
                for point in report.points {
                    writer.object { writer in
                        writer.field("at", point.at.rfc3339)
                        writer.subscriptions(point.counts, point.subscribers)
                        writer.revenue(point.revenue, withoutPrice: point.withoutPrice)
                    }
                }
            }
        )
    }

    /// Writes the sums over apps, each environment apart.
    fileprivate mutating func totals(
        of reports: [(environment: Environment, report: PortfolioReport)],
        _ rates: ExchangeRates?
    ) {
        field(
            "totals",
            array: { writer in
                for environment in Environment.allCases {
                    let own = reports.filter { $0.environment == environment }
                    guard !own.isEmpty else { continue }
                    var figures = PortfolioFigures()
                    for row in own { figures.add(row.report) }
                    writer.object { writer in
                        writer.field("environment", environment.rawValue)
                        writer.field("apps", own.count)
                        figures.writeFields(rates, to: &writer)
                    }
                }
            }
        )
    }
}
