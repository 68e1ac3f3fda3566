import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat
import TideoverServer
import TideoverUnionChecker

@testable import TideoverTestServer

/// Checks what RevenueCat's SDKs conclude about each history of `Conformance`.
@Suite struct ConformanceUnionTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Conformance")

    /// By file. Reading a table takes longer than the checks of its histories.
    private static let tables: [String: Result<ConformanceTable, any Error>] = {
        var tables: [String: Result<ConformanceTable, any Error>] = [:]
        for file in ConformanceTableTests.files {
            tables[file] = Result {
                try ConformanceTable(Array(Data(contentsOf: folder.appending(path: file))))
            }
        }
        return tables
    }()

    private static func histories(
        _ file: String,
        in environment: Environment
    ) throws -> [ConformanceHistory] {
        let table = try #require(tables[file]).get()
        return try table.histories(in: environment, translating: ConformanceMessages.translation)
    }

    /// At most a dozen histories, spread over the file.
    private static func some(_ histories: [ConformanceHistory]) -> [ConformanceHistory] {
        let step = histories.count / 12 + 1
        return stride(from: 0, to: histories.count, by: step).map { histories[$0] }
    }

    @Test(arguments: ConformanceTableTests.files)
    func `at each boundary of every case an entitlement is active exactly while there is access`(
        file: String
    ) async throws {
        let histories = try Self.histories(file, in: .production)
        #expect(!histories.isEmpty)
        for history in histories {
            try Self.requireAgreement(history)
            // Other tests share the threads.
            await Task.yield()
        }
    }

    /// The environments differ in one member of each purchase.
    @Test(arguments: ConformanceTableTests.files, Environment.allCases.filter { $0 != .production })
    func `the access of other environments agrees too`(
        file: String,
        environment: Environment
    ) async throws {
        for history in Self.some(try Self.histories(file, in: environment)) {
            try Self.requireAgreement(history)
            await Task.yield()
        }
    }

    @Test func `the cases have boundaries with and without access`() throws {
        var counts = [true: 0, false: 0]
        for file in ConformanceTableTests.files {
            for history in Self.some(try Self.histories(file, in: .production)) {
                let known = history.record.history
                for instant in history.instants {
                    for entitlement in known.snapshot(at: instant).entitlements {
                        counts[entitlement.standing.access, default: 0] += 1
                    }
                }
            }
        }
        #expect(counts.values.allSatisfy { $0 > 100 }, "\(counts)")
    }

    /// The checker in Python shares no code with this one.
    @Test func `another checker concludes the same at each boundary`() throws {
        var answers: [[UInt8]] = []
        for name in ConformanceTableTests.files {
            for history in Self.some(try Self.histories(name, in: .production)) {
                let known = history.record.history
                answers += history.instants.map { history.answer(known, at: $0) }
            }
        }
        let concluded = try OtherChecker.conclusions(from: answers)
        try #require(concluded.count == answers.count)
        for (answer, other) in zip(answers, concluded) {
            let checker = try UnionChecker(answer)
            #expect(other["refusals"]?.count == 0)
            for platform in [UnionChecker.Platform.ios, .android] {
                let theirs = try #require(other[platform.rawValue])
                #expect(checker.conclusions(on: platform) == JSONValue(theirs))
            }
        }
    }

    /// Requires that each SDK accepts the answers at all instants, and concludes our access from
    /// them, by the date in the header and in the body.
    private static func requireAgreement(_ history: ConformanceHistory) throws {
        let known = history.record.history
        for instant in history.instants {
            let answer = history.answer(known, at: instant)
            let time = String(instant.millisecondsSince1970)
            let byHeader = try UnionChecker(answer, requestTime: time)
            for entitlement in known.snapshot(at: instant).entitlements {
                let access = entitlement.standing.access
                for platform in UnionChecker.Platform.allCases {
                    for checker in [byHeader, byHeader.byBody] {
                        try #require(
                            checker.isActive(entitlement.name, on: platform) == access,
                            """
                            \(history.name): \(entitlement.name) on \(platform.rawValue) at \
                            \(instant.rfc3339), by \(checker.requestDate.rfc3339)
                            """
                        )
                    }
                }
            }
        }
    }
}

extension ConformanceHistory {
    /// Returns an answer to a device.
    fileprivate func answer(_ known: CustomerHistory, at instant: Instant) -> [UInt8] {
        let info = SDKProjection(record, known, at: instant).customerInfo
        var writer = JSONWriter()
        writer.object { info.writeMembers(to: &$0, requestDate: instant) }
        return writer.bytes
    }

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
