import Testing
import TideoverCore
import TideoverLives

/// Figures derived once stand for the facts at every instant.
@Suite struct FiguresTests {
    /// Returns what the form of figures contains.
    private static func stored(_ figures: ReportFigures) throws -> ReportFigures {
        let read = try #require(FiguresForm.figures(FiguresForm.bytes(of: figures)))
        #expect(read == figures)
        return read
    }

    private static func lives(_ random: inout SeededRandom) -> [Life] {
        [GeneratedLife(&random).life, GeneratedPlayLife(&random).life]
    }

    @Test func `figures of every generated life give the report of its facts at each instant`()
        async throws
    {
        for seed in ConvergenceTests.seeds.prefix(10) {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            for life in Self.lives(&random) {
                try Self.check(life, seed)
            }
        }
    }

    private static func check(_ life: Life, _ seed: UInt64) throws {
        let whole = life.told(until: .distantFuture)
        var figures = ReportFigures()
        figures.subscription = SubscriptionFigures(whole)
        figures.failures = whole.failures
        figures.lockouts = [.grace: .minutes(5), .judgement: .days(400)]
        figures = try stored(figures)
        for instant in life.history.boundaries(policy: life.policy).sorted().prefix(60) {
            for end in [instant, instant + Milliseconds(1)] {
                let told = life.told(until: end)
                let range = Instant.distantPast..<end
                let report = PortfolioReport(of: [told], issues: told.issues, over: range)
                #expect(Self.report([figures], range) == report, "seed \(seed) at \(end.rfc3339)")
            }
        }
    }

    private static func report(
        _ all: [ReportFigures],
        _ range: Range<Instant>
    ) -> PortfolioReport {
        var tally = PortfolioTally(at: [range.upperBound])
        var failures = PortfolioFailures(over: range)
        for figures in all {
            tally.add(figures.subscription)
            for failure in figures.failures { failures.add(failure) }
        }
        return PortfolioReport(tally, failures)
    }

    @Test func `figures of a customer's failures hold at each instant, over all purchases`()
        async throws
    {
        for seed in ConvergenceTests.seeds.prefix(10) {
            await Task.yield()
            var random = SeededRandom(seed: seed)
            let lives = Self.lives(&random) + Self.lives(&random)
            let record = ExplanationTests.record(lives)
            var figures = ReportFigures()
            figures.failures = CustomerTimeline.failures(of: record)
            figures = try Self.stored(figures)
            let instants = lives.flatMap { $0.history.boundaries(policy: $0.policy) }
            for instant in Set(instants).sorted().prefix(60) {
                let issues = CustomerTimeline(record, until: instant).issues
                let range = Instant.distantPast..<instant
                var expected = PortfolioFailures(over: range)
                for issue in issues { expected.add(FailureFigures(issue)) }
                var found = PortfolioFailures(over: range)
                for failure in figures.failures { found.add(failure) }
                #expect(found == expected, "seed \(seed) at \(instant.rfc3339)")
            }
        }
    }

    @Test func `other bytes are no figures`() throws {
        var figures = ReportFigures()
        let life = Diary("1").term(0, 30).outlook(of: 30, said: 30, failing: true, grace: 46)
        let timeline = life.timeline(until: 90)
        figures.subscription = SubscriptionFigures(timeline)
        figures.failures = timeline.issues.map { FailureFigures($0) }
        #expect(figures.failures.count == 1)
        let bytes = FiguresForm.bytes(of: figures)
        #expect(bytes.count < 100)
        #expect(FiguresForm.figures(bytes) == figures)
        // A shorter form may be complete, but never the same.
        for end in bytes.indices {
            #expect(FiguresForm.figures(Array(bytes[..<end])) != figures)
        }
        #expect(FiguresForm.figures(bytes + [0xff]) == nil)
        #expect(FiguresForm.figures([0x7e]) == nil)
        #expect(FiguresForm.figures([]) == nil)
    }
}
