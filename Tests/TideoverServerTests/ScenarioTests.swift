import Foundation
import Testing
import TideoverAppStore
import TideoverCore
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures

/// Whole lives, told by the simulated store to the real server.
@Suite struct ScenarioTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Scenarios")

    static let files: [String] = {
        let all = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (all ?? []).filter { $0.hasSuffix(".json5") }.sorted()
    }()

    @Test func `there are scenarios`() {
        #expect(!Self.files.isEmpty)
    }

    @Test(arguments: files)
    func `a scenario comes out as it says, and we never differ from the store's own truth`(
        file: String
    ) async throws {
        let bytes = Array(try Data(contentsOf: Self.folder.appending(path: file)))
        let scenario = try Scenario(reading: bytes)
        let authority = try SandboxAuthority()
        let rehearsal = try Rehearsal(scenario, root: authority.root)
        let target = ScenarioTarget(
            deliver: rehearsal.service.handler,
            readBack: rehearsal.service.handler,
            setClock: { rehearsal.clock.set($0) }
        )
        let report = try await ScenarioRunner(target: target, authority: authority).run(scenario)
        for failure in report.failures { Issue.record("\(failure)") }
        #expect(report.passed)
        #expect(!report.verdicts.isEmpty)
        for reading in report.readings {
            #expect(reading.mistake(about: "premium") == nil, "at \(reading.at)")
        }
        await rehearsal.close()
    }
}

/// The server that a scenario is played against.
private final class Rehearsal: Sendable {
    let service: Service
    let clock = TestClock()
    private let storage: SQLiteStorage
    private let folder: URL

    init(_ scenario: Scenario, root: [UInt8]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-scenario-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let storage = try SQLiteStorage(path: folder.appending(path: "tideover.db").path)
        var catalogue = Catalogue()
        for product in scenario.app.store.products {
            catalogue.products[product.id] = Product(
                entitlements: scenario.app.entitlements[product.id] ?? [],
                period: Period(iso8601: product.period.text)
            )
        }
        let trust = AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: scenario.app.store.bundleId,
                appAppleId: scenario.app.store.appAppleId,
                environments: [.simulated]
            ),
            authorities: try AppStoreTrust.roots(
                simulated: TrustAnchor(name: "simulated", der: root)
            )
        )
        let app = App(
            id: scenario.app.id,
            environments: [.simulated],
            catalogue: catalogue,
            policy: Policy(),
            appStore: trust
        )
        let clock = clock
        self.folder = folder
        self.storage = storage
        service = try Service(
            apps: [app],
            storage: storage,
            version: "test",
            clock: { clock.now },
            log: { _ in }
        )
    }

    func close() async {
        await storage.close()
        try? FileManager.default.removeItem(at: folder)
    }
}
