import Glibc
import TideoverCommandLine
import TideoverCore
import TideoverJSON
import TideoverLives

/// `measure`: measures a standing, a timeline and a report, and their growth with the history.
enum Measure {
    private static let chart = Parameter.option(
        "--chart",
        "FILE",
        "Where to draw how the cost grows, as SVG"
    )
    private static let short = Parameter.flag(
        "--short",
        "A moment each: to see that everything works, not to measure"
    )

    static let command = Command(
        "measure",
        summary: "measure the core on one thread",
        examples: [Example("TideoverCoreBenchmarks measure --chart growth.svg", "and draw it")],
        parameters: [chart, short],
        notes: ["Times are processor time of the one thread; the least of five runs."],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let isShort = arguments[short]
        output.print(calls(seconds: isShort ? 0.01 : 2))
        output.print()
        output.print(report(lives: isShort ? 300 : 1_000_000))
        output.print()
        let growth = Growth.measured(
            months: isShort ? [12, 24] : [12, 24, 48, 96, 192, 384, 768],
            seconds: isShort ? 0.01 : 0.5
        )
        output.print(growth.table)
        if let path = arguments[chart] { try write(growth.chart, to: path) }
        return .success
    }

    // MARK: Calls

    private static func calls(seconds: Double) -> Table {
        var forty = Subscriptions.monthly(months: 13)
        forty.facts = Array(forty.facts.prefix(40))
        let instants = forty.history.boundaries(policy: forty.policy)
        let history = forty.history
        let policy = Versioned(forty.policy)
        let fiveYears = Subscriptions.monthly(months: 60)
        var table = Table(columns)
        let asked = Cost.of(seconds: seconds) { call in
            let instant = instants[call % instants.count]
            return history.standing(at: instant, policy: policy).access ? 1 : 2
        }
        table.add(row("standing, of a history of 40 facts", asked))
        let read = Cost.of(seconds: seconds) { call in
            let instant = instants[call % instants.count]
            return forty.history.standing(at: instant, policy: policy).access ? 1 : 2
        }
        table.add(row("standing, from 40 facts in no order", read))
        let count = fiveYears.facts.count
        let told = Cost.of(seconds: seconds) { _ in
            let told = fiveYears.told(until: Instant(millisecondsSince1970: 4_000_000_000_000))
            return told.transitions.count + told.timeline(of: "premium").spans.count
        }
        table.add(row("timeline of five years by the month, \(count) facts", told))
        let forms = forty.facts.map(form(of:))
        let written = Cost.of(seconds: seconds) { form(of: forty.facts[$0 % 40]).count }
        table.add(row("a fact's JSON, written", written))
        let parsed = Cost.of(seconds: seconds) { call in
            fact(forms[call % 40]) == nil ? 2 : 1
        }
        table.add(row("a fact's JSON, read", parsed))
        let derivation = Derivation()
        let answered = Cost.of(seconds: seconds) { _ in derivation.answerAndEvents() }
        table.add(row("a customer of 12 facts, to answer and events", answered))
        let restored = Cost.of(seconds: seconds) { _ in derivation.read() }
        table.add(row("12 stored facts, read", restored))
        return table
    }

    private static func form(of fact: Fact) -> [UInt8] {
        var writer = JSONWriter()
        fact.write(to: &writer)
        return writer.bytes
    }

    private static func fact(_ form: [UInt8]) -> Fact? {
        (try? JSONDocument(form, limits: .local)).flatMap { try? Fact(json: $0.root) }
    }

    private static let columns: [Table.Column] = [
        .init("one thread"), .init("us a call", .trailing), .init("a second", .trailing),
        .init("allocations", .trailing),
    ]

    private static func row(_ title: String, _ cost: Cost) -> [Table.Cell] {
        [
            .init(title), .init((cost.nanoseconds / 1_000).written),
            .init((1_000_000_000 / cost.nanoseconds).written), .init(cost.allocations.written),
        ]
    }

    // MARK: The report

    /// Measures the report over the issues of lives with one failed payment each, from their facts.
    private static func report(lives: Int) -> Table {
        let end = Instant(millisecondsSince1970: 1_640_995_200_000)
        var issues: [BillingIssue] = []
        issues.reserveCapacity(lives)
        let told = Cost.ofOne {
            for number in 0..<lives {
                issues += Subscriptions.failing(number: number).told(until: end).issues
            }
            return issues.count
        }
        precondition(issues.count == lives, "every one of these lives fails once")
        let counted = Cost.ofOne {
            RecoveryReport(of: issues, asOf: end, by: [.product]).rows.count
        }
        var table = Table([
            .init("\(Double(lives).written) lives with a failed payment"), .init("s", .trailing),
            .init("lives a second", .trailing), .init("allocations a life", .trailing),
        ])
        for (title, cost) in [("facts to timeline", told), ("recovery report", counted)] {
            table.add([
                .init(title), .init((cost.nanoseconds / 1_000_000_000).written),
                .init((Double(lives) / cost.nanoseconds * 1_000_000_000).written),
                .init((cost.allocations / Double(lives)).written),
            ])
        }
        return table
    }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else {
            throw CommandFailure(.cannotCreate, "cannot write \(path)")
        }
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten else {
            throw CommandFailure(.io, "\(path) could not be written")
        }
    }
}
