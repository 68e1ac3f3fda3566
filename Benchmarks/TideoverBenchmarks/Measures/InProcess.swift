import CTideoverAllocations
import Glibc
import TideoverAppStore
import TideoverCommandLine
import TideoverCore
import TideoverJSON
import TideoverServer
import TideoverSignatures
import TideoverStorage

/// Measures the work without socket and storage: from the body of a notification to the answer.
enum InProcess {
    private static let folder = Parameter.argument("FOLDER", "Where configuration and corpus are")
    private static let seconds = Parameter.option(
        "--seconds",
        "N",
        "How long each of the two loops runs, in tenths",
        as: ValueForm<Int>.integer(in: 1...600),
        default: "40"
    )

    static let command = Command(
        "in-process",
        summary: "measure one thread from a notification's body to the answer",
        examples: [Example("TideoverBenchmarks in-process FOLDER", "with and without signatures")],
        parameters: [folder, seconds],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let nanoseconds = Int64(arguments[seconds]) * 100_000_000
        for reading in try measure(in: arguments[folder], nanoseconds: nanoseconds) {
            output.print(reading.text)
        }
        return .success
    }

    /// Measures the loop with all signatures verified, and the one without verification.
    static func measure(in folder: String, nanoseconds: Int64) throws -> [Reading] {
        let configured = try Setting.load("\(folder)/\(Stage.configuration)")
        let bodies = try Corpus.bodies(in: "\(folder)/\(Stage.corpus)", atMost: 1_000)
        let app = try App(configured)
        guard let trust = app.appStore else {
            throw CommandFailure(.configuration, "the app has no App Store")
        }
        let work = Work(app: app, trust: trust, now: Setting.now())
        // Parses signed documents strictly, without verifying signatures.
        let believing: SignatureCheck = { compact in
            VerifiedPayload(payload: try trust.read(compact).payload, authority: .simulated)
        }
        return try [trust.check(at: work.now), believing].map { check in
            try loop(over: bodies, nanoseconds: nanoseconds) { try work.answer(to: $0, check) }
        }
    }

    private static func loop(
        over bodies: [[UInt8]],
        nanoseconds: Int64,
        _ body: ([UInt8]) throws -> Int
    ) throws -> Reading {
        for first in bodies.prefix(20) { _ = try body(first) }
        var times: [Int64] = []
        times.reserveCapacity(1 << 20)
        var (length, next) = (0, 0)
        let allocations = tideover_allocation_count()
        let processor = Clocks.now(CLOCK_THREAD_CPUTIME_ID)
        let begun = Clocks.now(CLOCK_MONOTONIC)
        var last = begun
        while last - begun < nanoseconds {
            length += try body(bodies[next])
            next = (next + 1) % bodies.count
            let now = Clocks.now(CLOCK_MONOTONIC)
            times.append(now - last)
            last = now
        }
        precondition(length > 0, "every notification leads to an answer")
        let allocated = Double(tideover_allocation_count() - allocations)
        return Reading(
            times: times.sorted(),
            nanoseconds: last - begun,
            ofProcessor: Clocks.now(CLOCK_THREAD_CPUTIME_ID) - processor,
            allocations: allocated / Double(times.count)
        )
    }

    /// The work for one notification.
    private struct Work {
        let app: App
        let trust: AppStoreTrust
        let now: Instant

        /// Returns the answer's length, so that the compiler cannot remove any work.
        func answer(to body: [UInt8], _ check: SignatureCheck) throws -> Int {
            let reading = try AppStoreReader(app: trust.identity).readNotification(
                body: body,
                check: check
            )
            let commitRequest = CommitRequest(
                app: app.id,
                environment: reading.environment,
                facts: reading.facts(
                    learnedAt: now,
                    source: .appStoreNotification,
                    evidence: EvidenceID(hex: "")
                ),
                now: now
            )
            return commitRequest.lineages.reduce(0) { $0 + answer($1).count }
        }

        private func answer(_ lineages: CustomerLineages) -> [UInt8] {
            let record = CustomerRecord(
                customer: lineages.key.customer,
                environment: lineages.key.environment,
                lineageRecords: lineages.lineageRecords.map {
                    CustomerRecord.LineageRecord(
                        lineage: $0.lineage,
                        facts: $0.facts,
                        owners: $0.owners
                    )
                },
                catalogue: app.catalogue,
                policy: app.policy
            )
            var writer = JSONWriter()
            writer.object { record.history.snapshot(at: now).writeAnswer(to: &$0) }
            return writer.bytes
        }
    }
}
