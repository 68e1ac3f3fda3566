import Foundation
import StoreKit
import StoreKitFaking
import Testing
import TideoverCore
import TideoverKit
import TideoverLocks
import TideoverSandbox

/// Kills the app before each of its effects, on the stand-in and beside a server.
@Suite @MainActor struct KilledAppTests {
    /// How a purchase reaches the app.
    enum Path: CaseIterable, Sendable { case purchase, listener, launch, restore, askToBuy }

    /// What the app's requests meet, until it is launched again.
    enum Network: CaseIterable, Sendable {
        case online, offline
        /// The server commits, and its responses do not arrive.
        case losesResponses
        /// There is no server for days, in which the customer opens the app daily.
        case offlineForDays
    }

    /// Follows a path until the app has nothing more to do, or is killed.
    private func follow(
        _ path: Path,
        _ rehearsal: KitRehearsal,
        _ process: AppProcess
    ) async throws -> EntitlementStore {
        let store = rehearsal.store
        let (app, device) = (rehearsal.app(withServer: true, process: process), rehearsal.device)
        if path == .launch {
            try await store.perform(Self.bought, by: "anna")
        }
        await process.runs {
            await app.start()
            await app.settled()
        }
        switch path {
        case .launch: break
        case .purchase: await buy(app, rehearsal, nil, process)
        case .listener:
            try await store.perform(Self.bought, by: "anna")
            await device.reportNews()
            await process.runs {
                app.enteredForeground()
                await app.settled()
            }
        case .restore:
            await device.set(stale: true)
            try await store.perform(Self.bought, by: "anna")
            await process.runs { _ = await app.restore() }
            await process.runs { await app.settled() }
            await device.set(stale: false)
        case .askToBuy:
            await buy(app, rehearsal, .asksToBuy, process)
            // An app that was killed before has not asked.
            _ = try? await store.perform(.approvePurchase(product: nil), by: "anna")
            await process.runs {
                app.enteredForeground()
                await app.settled()
            }
        }
        return app
    }

    private static let bought = AppStoreAction.buy(product: "cards.pro.monthly", outsideApp: true)

    private func buy(
        _ app: EntitlementStore,
        _ rehearsal: KitRehearsal,
        _ fault: PurchaseFault?,
        _ process: AppProcess
    ) async {
        var fake = rehearsal.device.fakeStore(fault)
        fake.products = ["cards.pro.monthly": .autoRenewable]
        await fake.serve {
            await process.runs {
                let products = try? await StoreKit.Product.products(for: ["cards.pro.monthly"])
                guard let product = products?.first else { return }
                _ = try? await app.purchase(product)
                await app.settled()
            }
        }
    }

    /// Runs a path with an app that is killed after a number of effects, and then launches it again.
    ///
    /// - Returns: The number of effects of the first process.
    private func run(_ path: Path, _ network: Network, effects: Int?) async throws -> Int {
        let scenario = try Scenario(reading: Array(StoreFaultTests.scenario.utf8))
        let rehearsal = try await KitRehearsal(scenario, at: .chosen)
        let process = AppProcess(effects: effects)
        try await rehearsal.device.fakeStore().serve {
            rehearsal.connection.withLock { $0 = network.connection }
            let app = try await follow(path, rehearsal, process)
            if network == .offlineForDays { try await live(app, rehearsal, process) }
            if try await rehearsal.store.device(of: "anna").isEmpty {
                try await rehearsal.store.perform(Self.bought, by: "anna")
            }
            let place: Comment = "\(path), \(network), killed after \(process.effects) effects"
            rehearsal.connection.withLock { $0 = .complete }
            let again = await rehearsal.launch(withServer: true)
            #expect(again["premium"].access == .granted, place)
            #expect(try await rehearsal.served()["premium"]?.access == .granted, place)
            #expect(try await rehearsal.events().filter { $0 == "started" }.count == 1, place)
            #expect(await rehearsal.device.finishedIds.count == 1, place)
            #expect(await rehearsal.device.repeatedFinishes == 0, place)
            #expect(rehearsal.earlyFinishes.withLock { $0 } == [], place)
        }
        try await rehearsal.close()
        return process.effects
    }

    /// Opens the app daily for four days, in which the store does not reach the server either. Every
    /// second day the app is launched anew.
    private func live(
        _ app: EntitlementStore,
        _ rehearsal: KitRehearsal,
        _ process: AppProcess
    ) async throws {
        rehearsal.losesNotifications = true
        var app = app
        for day in Int64(1)...4 {
            try await rehearsal.pass(until: rehearsal.scenario.start + day * 86_400_000)
            let isLaunched = day.isMultiple(of: 2)
            if isLaunched { app = rehearsal.app(withServer: true, process: process) }
            let opened = app
            await process.runs {
                if isLaunched { await opened.start() } else { opened.enteredForeground() }
                await opened.settled()
            }
        }
    }

    @Test(arguments: Path.allCases, Network.allCases)
    func `an app killed at any effect keeps the purchase`(
        path: Path,
        network: Network
    ) async throws {
        let count = try await run(path, network, effects: nil)
        #expect(count > 4)
        for effects in 0..<count {
            #expect(try await run(path, network, effects: effects) == effects)
        }
        if ProcessInfo.processInfo.environment["TIDEOVER_KIT_STORIES"] != nil {
            let place = ComparedServer.Place.chosen.rawValue
            print("killed \(place): \(count) times, \(path), \(network)")
        }
    }
}

extension KilledAppTests.Network {
    fileprivate var connection: KitRehearsal.Connection {
        switch self {
        case .online: .complete
        case .offline, .offlineForDays: .none
        case .losesResponses: .withoutResponses
        }
    }
}
