import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverRehearsal
import TideoverSandbox
import TideoverServer
import TideoverUnionChecker

@testable import TideoverTestServer

/// What RevenueCat's SDKs conclude at every step of generated stories, with faulty messages and
/// responses of the stores.
@Suite struct StoryUnionTests {
    private static let sdk = RevenueCatSDK(appStoreKeys: ["appl_test"])

    /// The answers that were compared, and what differed.
    private struct Comparison {
        var answers = 0
        var withAccess = 0
        var faults: [String] = []
    }

    /// Compares what the SDKs conclude with the server's own answer at the same instant.
    private static func compare(
        _ answer: Response,
        with service: Service,
        _ comparison: Locked<Comparison>
    ) async throws {
        let root = try JSONDocument(answer.body).root
        guard answer.status == 200, let customer = root["customer"]?.string else { return }
        let response = try await service.checkedAnswer(
            to: Request(
                path: "/v1/subscribers/\(PercentEncoding.encode(customer))",
                headers: ["Authorization": "Bearer appl_test"]
            )
        )
        for time in [nil, response.headers["X-RevenueCat-Request-Time"]] {
            let checker = try UnionChecker(response.body, requestTime: time)
            for (name, entitlement) in root["entitlements"]?.members.map({ $0 }) ?? [] {
                let access = entitlement["access"]?.bool == true
                for platform in UnionChecker.Platform.allCases
                where checker.isActive(name, on: platform) != access {
                    let place = "\(name) on \(platform.rawValue) at \(checker.requestDate.rfc3339)"
                    comparison.withLock { $0.faults.append("\(place): access is \(access)") }
                }
                if access { comparison.withLock { $0.withAccess += 1 } }
            }
        }
        comparison.withLock { $0.answers += 1 }
    }

    /// Plays stories of all kinds until a thousand answers are compared.
    @Test func `at a thousand steps an entitlement is active exactly while there is access`()
        async throws
    {
        let comparison = Locked(Comparison())
        var seed: UInt64 = 0
        while comparison.withLock({ $0.answers }) < 1_000 {
            seed += 1
            try #require(seed <= 30, "stories have few answers")
            for kind in StoryKind.allCases {
                _ = try await Rehearsal.played(
                    .generated(seed: seed, of: kind),
                    keepsUp: true,
                    revenueCatSDK: Self.sdk,
                    planting: { rehearsal, target in
                        let (answer, service) = (target.readBack, rehearsal.service)
                        target.readBack = { request in
                            let response = try await answer(request)
                            try await Self.compare(response, with: service, comparison)
                            return response
                        }
                    },
                    then: { _, _ in }
                )
            }
        }
        let found = comparison.withLock { $0 }
        #expect(found.faults == [])
        #expect(found.withAccess > 200)
    }
}
