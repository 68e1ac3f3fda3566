import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat
import TideoverServer
import TideoverTestProcesses
import TideoverUnionChecker

/// Checks what RevenueCat's SDKs conclude about the histories of `Conformance`: each case with
/// `TIDEOVER_UNION_CASES=all`, which takes 13 minutes without optimization, else some of each file.
@Suite struct ConformanceUnionTests {
    private static let isWhole =
        ProcessInfo.processInfo.environment["TIDEOVER_UNION_CASES"] == "all"
    /// The number of histories of a file that the short form checks at most, in one environment.
    private static let fewest = 12

    /// Some of the histories, spread over the file.
    private static func some(_ histories: [ConformanceHistory]) -> [ConformanceHistory] {
        let step = isWhole ? 1 : histories.count / fewest + 1
        return stride(from: 0, to: histories.count, by: step).map { histories[$0] }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Conformance")

    private static func histories(
        _ file: String,
        in environment: Environment
    ) throws -> [ConformanceHistory] {
        let bytes = try Array(Data(contentsOf: folder.appending(path: file)))
        return try ConformanceTable(bytes)
            .histories(in: environment, translating: ConformanceMessages.translation)
    }

    @Test(arguments: ConformanceTableTests.files, Environment.allCases)
    func `at each boundary of every case an entitlement is active exactly while there is access`(
        file: String,
        environment: Environment
    ) async throws {
        let histories = try Self.histories(file, in: environment)
        #expect(!histories.isEmpty)
        for history in Self.some(histories) {
            for instant in history.instants {
                try Self.requireAgreement(history, at: instant)
            }
            // Other tests share the threads.
            await Task.yield()
        }
    }

    /// The checker in Python shares no code with this one.
    @Test func `another checker concludes the same at each boundary of every case`() throws {
        let folder = FileManager.default.temporaryDirectory
        let file = folder.appending(path: "tideover-union-\(UUID().uuidString).jsonl")
        defer { try? FileManager.default.removeItem(at: file) }
        var lines: [UInt8] = []
        for name in ConformanceTableTests.files {
            for history in Self.some(try Self.histories(name, in: .production)) {
                for instant in history.instants { lines += Self.line(history, at: instant) }
            }
        }
        try Data(lines).write(to: file)
        let script = Self.folder.deletingLastPathComponent()
            .appending(path: "scripts/revenuecat_union.py").path
        let said = try ChildProcess.run([
            "/usr/bin/python3", "-B", script, "--answers", file.path,
        ])
        #expect(said.code == 0, "\(said.results)\(said.messages)")
        #expect(said.results.contains("answers that agree"))
    }

    /// Returns an answer with the access that it must give.
    private static func line(_ history: ConformanceHistory, at instant: Instant) -> [UInt8] {
        let known = history.record.history
        let info = SDKProjection(history.record, known, at: instant).customerInfo
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("time", String(instant.millisecondsSince1970))
            writer.field("body", object: { info.writeMembers(to: &$0, requestDate: instant) })
            writer.field(
                "access",
                object: { writer in
                    for entitlement in known.snapshot(at: instant).entitlements {
                        writer.field(entitlement.name, entitlement.standing.access)
                    }
                }
            )
        }
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    @Test func `the cases have boundaries with and without access`() throws {
        var counts = [true: 0, false: 0]
        for file in ConformanceTableTests.files {
            for history in Self.some(try Self.histories(file, in: .production)) {
                for instant in history.instants {
                    let snapshot = history.record.history.snapshot(at: instant)
                    for entitlement in snapshot.entitlements {
                        counts[entitlement.standing.access, default: 0] += 1
                    }
                }
            }
        }
        #expect(counts.values.allSatisfy { $0 > 100 }, "\(counts)")
    }

    /// Requires that each SDK accepts the answer, and concludes our access from it.
    private static func requireAgreement(
        _ history: ConformanceHistory,
        at instant: Instant
    ) throws {
        let known = history.record.history
        let snapshot = known.snapshot(at: instant)
        let info = SDKProjection(history.record, known, at: instant).customerInfo
        var writer = JSONWriter()
        writer.object { info.writeMembers(to: &$0, requestDate: instant) }
        for time in [nil, String(instant.millisecondsSince1970)] {
            let checker = try UnionChecker(writer.bytes, requestTime: time)
            for entitlement in snapshot.entitlements {
                for platform in UnionChecker.Platform.allCases {
                    try #require(
                        checker.isActive(entitlement.name, on: platform)
                            == entitlement.standing.access,
                        """
                        \(history.name): \(entitlement.name) on \(platform.rawValue) at \
                        \(instant.rfc3339), by the \(time == nil ? "body" : "header")
                        """
                    )
                }
            }
        }
    }
}

extension ConformanceHistory {
    /// One millisecond before, at and after each boundary and each instant that the case asks.
    fileprivate var instants: [Instant] {
        let policies = record.policy.versions.map(\.value)
        let known = record.history.lineageRecords
        let edges = policies.flatMap { policy in
            known.flatMap { $0.history.boundaries(policy: policy) }
        }
        return Set(edges + asked).sorted().filter { Instant.writable.contains($0) }.flatMap {
            [$0 - Milliseconds(1), $0, $0 + Milliseconds(1)]
        }
    }
}
