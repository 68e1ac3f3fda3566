import Testing
import TideoverConfiguration
import TideoverCore
import TideoverDoctor
import TideoverJSON
import TideoverSandbox

@testable import TideoverTestServer

/// The stored purchases and failures of a server compared with the catalogue.
@Suite struct PreflightTests {
    private static func app(grace: String?) -> Configuration.App {
        Configuration.App(
            id: "cards",
            environments: [.production, .sandbox, .simulated],
            appStore: Configuration.AppStore(bundleId: "com.example.cards"),
            catalogue: Catalogue(products: [
                "cards.pro.monthly": Product(
                    entitlements: ["premium"],
                    group: "pro",
                    period: Period(months: 1),
                    grace: grace.flatMap { Period(iso8601: $0) }
                )
            ])
        )
    }

    private static let untold = GraceSetting.untold("appStore.keyId may not read it")

    /// Returns a survey of a life at the simulated store, with or without a failed payment.
    private func survey(fails: Bool, grants: Bool = true) async throws -> JSONNode {
        let rehearsed = try RehearsedStore(grace: grants ? .sixteenDays : .off)
        let time = TestTime()
        let backEnd = try RehearsedBackEnd(rehearsed, time)
        let store = rehearsed.store
        try await store.subscribe(token: TestServer.anna)
        if fails { try await store.perform(.failPayments, by: "anna") }
        for _ in 0..<35 {
            try await store.pass(.days(1), on: time) { body in
                try await backEnd.post(body)
            }
        }
        let answer = try await backEnd.get("/v1/apps/cards/survey?environment=simulated")
        await backEnd.close()
        return try JSONDocument(answer.encoded()).root
    }

    private func judge(
        _ answer: JSONNode,
        grace: String?,
        in environment: Environment = .simulated
    ) -> [String] {
        Finding.grace(of: Self.app(grace: grace), in: environment, Self.untold, answer).map {
            "\($0.verdict.rawValue): \($0.detail)"
        }
    }

    @Test func `failures without grace are a problem where the catalogue has a grace`() async throws
    {
        let told = judge(try await survey(fails: true, grants: false), grace: "P16D")
        #expect(told.count == 2)
        #expect(told[0].hasPrefix("ok: App Store Connect does not report the setting"))
        #expect(told[0].contains("may not read it"))
        #expect(told[1].hasPrefix("problem: "))
        #expect(
            told[1].contains("came without grace, like 1 of 1, and the catalogue has 16 days")
        )
    }

    @Test func `a grace of another length than the catalogue's is a problem`() async throws {
        let told = judge(try await survey(fails: true), grace: "P3D")
        #expect(told.last?.hasPrefix("problem: ") == true)
        #expect(told.last?.contains("came with 16 days") == true)
        #expect(told.last?.contains("the catalogue has 3 days") == true)
    }

    @Test func `a grace that the catalogue lacks is a problem, and a matching one is not`()
        async throws
    {
        let answer = try await survey(fails: true)
        #expect(judge(answer, grace: nil).last?.contains("the catalogue has none") == true)
        #expect(judge(answer, grace: nil).last?.hasPrefix("problem: ") == true)
        #expect(judge(answer, grace: "P16D").last?.hasPrefix("ok: ") == true)
        #expect(judge(answer, grace: "P3D", in: .sandbox).last?.hasPrefix("warning: ") == true)
    }

    @Test func `without a failure the check reports that it cannot decide`() async throws {
        let told = judge(try await survey(fails: false), grace: "P16D")
        #expect(told.count == 2)
        #expect(told.last?.hasPrefix("ok: no payment") == true)
        #expect(told.last?.contains("the setting is unknown") == true)
    }

    @Test func `products that the catalogue lacks are reported`() async throws {
        let answer = try await survey(fails: false)
        func finding(_ app: Configuration.App) -> Finding? {
            Finding.catalogue(of: app, in: .simulated, answer)
        }
        #expect(finding(Self.app(grace: nil))?.verdict == .ok)
        let bare = Configuration.App(id: "cards", environments: [.simulated])
        #expect(finding(bare)?.verdict == .problem)
        #expect(finding(bare)?.detail.contains("cards.pro.monthly") == true)
    }
}
