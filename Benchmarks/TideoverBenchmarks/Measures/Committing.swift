import CTideoverAllocations
import Glibc
import TideoverCommandLine
import TideoverHTTP
import TideoverSQLite
import TideoverServer

/// Measures the service with its database in this process: from the body of a notification to the
/// commit, without a socket. It counts allocations, statements and writes, which do not depend on
/// the load of the machine.
struct Committing {
    /// The folder of the configuration and the corpus.
    let folder: String

    private static let folder = Parameter.argument("FOLDER", "Where configuration and corpus are")
    private static let count = Parameter.option(
        "--count",
        "N",
        "How many notifications are measured",
        as: ValueForm<Int>.integer(in: 1...100_000),
        default: "3000"
    )

    static let command = Command(
        "committing",
        summary: "measure the service with its database, without a socket",
        examples: [Example("TideoverBenchmarks committing FOLDER", "after `prepare`")],
        parameters: [folder, count],
        run: run
    )

    private static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitCode {
        let work = Committing(folder: arguments[folder])
        output.print(try await work.measure(count: arguments[count]).text)
        return .success
    }

    /// The number of notifications in progress at once, as in the measures with sockets.
    private static let width = 32
    private static let warmUp = 200

    func measure(count: Int) async throws -> Reading {
        let bodies = try Corpus.bodies(
            in: "\(folder)/\(Stage.corpus)",
            atMost: Self.warmUp + count
        )
        let path = "\(folder)/committing.db"
        defer { for suffix in ["", "-wal", "-shm", ".lock"] { unlink(path + suffix) } }
        let storage = try SQLiteStorage(path: path)
        do {
            let service = try Service(
                apps: [App(Setting.load("\(folder)/\(Stage.configuration)"))],
                storage: storage,
                version: "1",
                clock: Setting.now,
                log: { _ in },
                verifications: WorkLimits(running: 2, waiting: Self.width)
            )
            let warmUp = min(Self.warmUp, bodies.count / 2)
            _ = try await Self.send(bodies[..<warmUp], to: service.handler)
            tideover_count_process()
            let before = Meter(storage)
            let times = try await Self.send(bodies[warmUp...], to: service.handler)
            let reading = Meter(storage).reading(since: before, times)
            await storage.close()
            return reading
        } catch {
            await storage.close()
            throw error
        }
    }

    /// Sends notifications, and returns the duration of each in nanoseconds.
    private static func send(
        _ bodies: ArraySlice<[UInt8]>,
        to handler: @escaping Handler
    ) async throws -> [Int64] {
        try await withThrowingTaskGroup(of: Int64.self) { group in
            var rest = bodies
            for body in rest.prefix(width) {
                group.addTask { @concurrent in try await send(body, to: handler) }
            }
            rest = rest.dropFirst(width)
            var times: [Int64] = []
            while let time = try await group.next() {
                times.append(time)
                guard let body = rest.popFirst() else { continue }
                group.addTask { @concurrent in try await send(body, to: handler) }
            }
            return times
        }
    }

    private static func send(_ body: [UInt8], to handler: Handler) async throws -> Int64 {
        let begun = Clocks.now(CLOCK_MONOTONIC)
        let response = try await handler(
            Request(method: "POST", path: Setting.notifications, body: body)
        )
        guard response.status == 200 else {
            let body = String(decoding: response.body, as: UTF8.self)
            throw CommandFailure(.software, "a notification was not committed: \(body)")
        }
        return Clocks.now(CLOCK_MONOTONIC) - begun
    }

    /// The counts of this process and of its storage at an instant.
    private struct Meter {
        private let clock = Clocks.now(CLOCK_MONOTONIC)
        private let processor = Clocks.now(CLOCK_PROCESS_CPUTIME_ID)
        private let counts = tideover_process_counts()
        private let statements: Int

        init(_ storage: SQLiteStorage) { statements = storage.statementCount ?? 0 }

        func reading(since former: Meter, _ times: [Int64]) -> Reading {
            let sorted = times.sorted()
            let count = Double(sorted.count)
            func each(_ now: UInt64, _ then: UInt64) -> Double { Double(now - then) / count }
            return Reading(
                perSecond: count * 1_000_000_000 / Double(clock - former.clock),
                processorMicroseconds: Double(processor - former.processor) / 1_000 / count,
                p50Milliseconds: Double(sorted[sorted.count / 2]) / 1_000_000,
                p99Milliseconds: Double(sorted[sorted.count * 99 / 100]) / 1_000_000,
                allocations: each(counts.allocations, former.counts.allocations),
                storage: Reading.StorageCost(
                    statements: Double(statements - former.statements) / count,
                    writes: each(counts.writes, former.counts.writes),
                    kilobytesWritten: each(counts.bytes_written, former.counts.bytes_written)
                        / 1_000
                )
            )
        }
    }
}
