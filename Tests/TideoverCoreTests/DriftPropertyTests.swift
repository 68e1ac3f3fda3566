import Testing
import TideoverCore
import TideoverLives

/// Properties that are true for every device report and every server answer.
@Suite struct DriftPropertyTests {
    private static let now: Instant = "2026-05-20T10:00:00Z"
    private static let lineage = Lineage(store: .appStore, environment: .production, id: "1")

    /// Returns one of a few instants around now, so that instants coincide.
    private func instant(_ random: inout SeededRandom) -> Instant {
        let days = Int64.random(in: 0...4, using: &random) * 15 - 30
        return Self.now + .days(days) + .seconds(Int64.random(in: 0...2, using: &random) * 61)
    }

    private func end(_ random: inout SeededRandom) -> DeviceWord.End {
        switch Int64.random(in: 0...3, using: &random) {
        case 0: .unsaid
        case 1: .never
        default: .at(instant(&random))
        }
    }

    private func word(_ random: inout SeededRandom) -> DeviceWord {
        DeviceWord(
            access: Int64.random(in: 0...1, using: &random) == 1,
            end: end(&random),
            originalTransactionId: Int64.random(in: 0...1, using: &random) == 1 ? "1" : nil,
            isVerified: Int64.random(in: 0...4, using: &random) > 0,
            unfinished: Int64.random(in: 0...4, using: &random) == 0 ? ["1"] : []
        )
    }

    private func server(_ random: inout SeededRandom) -> ServerWord {
        let states = State.allCases
        let confidences = Confidence.allCases
        return ServerWord(
            state: states[Int(Int64.random(in: 0...Int64(states.count - 1), using: &random))],
            confidence: confidences[
                Int(Int64.random(in: 0...Int64(confidences.count - 1), using: &random))
            ],
            until: Int64.random(in: 0...3, using: &random) == 0 ? nil : instant(&random),
            lineage: Int64.random(in: 0...3, using: &random) == 0 ? nil : Self.lineage,
            saidAt: Int64.random(in: 0...3, using: &random) == 0 ? nil : instant(&random)
        )
    }

    private func judge(
        _ random: inout SeededRandom,
        _ after: ServerWord,
        _ report: DeviceReport?,
        at now: Instant
    ) throws -> DriftJudge {
        DriftJudge(
            customer: try #require(CustomerID("u_42")),
            environment: .production,
            now: now,
            report: report,
            before: [
                "premium": Int64.random(in: 0...1, using: &random) == 0 ? after : server(&random)
            ],
            after: ["premium": after],
            byDeviceClock: ["premium": server(&random)],
            news: Int64.random(in: 0...1, using: &random) == 0
                ? []
                : [
                    DriftJudge.News(
                        lineage: Self.lineage,
                        source: .deviceTransaction,
                        since: instant(&random),
                        wasKnown: true
                    )
                ]
        )
    }

    private func report(_ random: inout SeededRandom) -> DeviceReport {
        let holders: [DeviceReport.Holder?] = [nil, .nobody, .customer, .another]
        let holder = holders[Int(Int64.random(in: 0...3, using: &random))]
        return DeviceReport(
            DeviceConclusion(
                at: Int64.random(in: 0...1, using: &random) == 0 ? nil : instant(&random),
                askedAt: Int64.random(in: 0...1, using: &random) == 0 ? nil : instant(&random),
                environment: Int64.random(in: 0...5, using: &random) == 0 ? "sandbox" : nil,
                words: ["premium": word(&random)]
            ),
            purchases: holder.map {
                ["1": DeviceReport.Purchase(lineage: Self.lineage, holder: $0)]
            } ?? [:]
        )
    }

    @Test func `a difference is found once, agreement never, and healing is final`()
        throws
    {
        var random = SeededRandom(seed: 11)
        for _ in 0..<300 {
            let after = server(&random)
            let report = report(&random)
            let judge = try judge(&random, after, report, at: Self.now)
            let found = judge.drifts(open: [])
            #expect(found.count <= 1)
            let open = found.filter(\.isOpen)
            let access = report.conclusion.words["premium"]?.access ?? false
            if access != after.access {
                #expect(open.count == 1)
            } else {
                #expect(open.allSatisfy { $0.direction == .untilDiffers })
            }
            #expect(judge.drifts(open: open).allSatisfy { !$0.isOpen }, "the same report again")

            let later = try self.judge(
                &random,
                server(&random),
                Int64.random(in: 0...1, using: &random) == 0 ? nil : self.report(&random),
                at: Self.now + .days(Int64.random(in: 0...40, using: &random))
            )
            let next = later.drifts(open: open)
            let healed = next.filter { !$0.isOpen }
            #expect(healed.allSatisfy { $0.timeToHeal ?? .zero >= .zero })
            let stillOpen = open.filter { drift in !healed.contains { $0.id == drift.id } }
            let begun = next.filter { drift in
                drift.isOpen && !open.contains { $0.id == drift.id }
            }
            #expect(stillOpen.count + begun.count <= 1, "one at most is open")
        }
    }
}
