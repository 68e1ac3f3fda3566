import Foundation
import StoreKitFaking
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverKit
import TideoverLocks
import TideoverRehearsal
import TideoverSandbox
import TideoverServer

/// A scenario's simulated App Store, a server in process, and the kit on one customer's device,
/// sharing one clock.
@MainActor
final class KitRehearsal {
    let scenario: Scenario
    let rehearsal: Rehearsal
    let store: SimulatedAppStore
    let device: SimulatedDevice
    let customer: StoreCustomer
    /// Whether the device reaches the server.
    let isOnline = Locked(true)
    private let disks = Locked<[String: [UInt8]]>([:])
    private let folder: URL

    init(_ scenario: Scenario, customer name: String? = nil) async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-kit-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.scenario = scenario
        rehearsal = try Rehearsal(scenario, in: folder.path, version: "test")
        let target = rehearsal.target
        store = SimulatedAppStore(
            scenario.app.store,
            seed: scenario.seed,
            now: scenario.start,
            authority: rehearsal.authority,
            lag: scenario.lag,
            keys: target.storeKeys,
            wait: { _ in }
        )
        for customer in scenario.customers { try await store.register(customer) }
        await target.meetStore(store.serverAPI)
        guard let found = scenario.customers.first(where: { name == nil || $0.name == name }) else {
            throw NoCustomer()
        }
        customer = found
        device = SimulatedDevice(store, customer: found.name)
        rehearsal.clock.now = Instant(millisecondsSince1970: scenario.start)
    }

    struct NoCustomer: Error {}

    func close() async throws {
        await rehearsal.close()
        try FileManager.default.removeItem(at: folder)
    }

    // MARK: - Time

    /// Advances the time; messages that the store posts meanwhile are delivered to the server.
    func pass(until instant: Int64) async throws {
        let (store, clock, handler) = (store, rehearsal.clock, rehearsal.service.handler)
        let path = "/v1/apps/\(scenario.app.id)/notifications/app-store"
        try await store.advance(to: max(instant, await store.now)) { body in
            clock.now = Instant(millisecondsSince1970: await store.now)
            let request = Request(
                method: "POST",
                path: path,
                headers: ["Content-Type": "application/json", "Content-Length": "\(body.count)"],
                body: body
            )
            return try await handler(request).status
        }
        clock.now = Instant(millisecondsSince1970: await store.now)
    }

    /// Delivers everything that the store has posted.
    func deliver() async throws {
        while let last = await store.lastFirstAttempt { try await pass(until: last) }
    }

    // MARK: - The device

    private var settings: KitSettings {
        var settings = KitSettings(
            bundleId: scenario.app.store.bundleId,
            customer: customerID,
            catalogue: Catalogue(scenario)
        )
        settings.authority = .simulated
        settings.environment = .simulated
        return settings
    }

    var customerID: CustomerID {
        guard let id = CustomerID(customer.appAccountToken ?? customer.name) else {
            preconditionFailure("a scenario's customers have names")
        }
        return id
    }

    /// Starts the app on the device; its file persists between starts.
    func launch(withServer: Bool) async -> EntitlementStore {
        var settings = settings
        if withServer {
            settings.server = ServerIdentity(app: scenario.app.id, apiKey: "", issuer: "")
        }
        let app = EntitlementStore(settings, effects(disk: withServer ? "server" : "alone"))
        await app.start()
        await app.settled()
        return app
    }

    private func effects(disk: String) -> KitEffects {
        let (clock, disks, isOnline) = (rehearsal.clock, disks, isOnline)
        let (handler, credentials) = (rehearsal.service.handler, rehearsal.credentials)
        let start = Instant(millisecondsSince1970: scenario.start)
        return KitEffects(
            source: .storeKit,
            file: KeptFile(
                read: { disks.withLock { $0[disk] } },
                write: { bytes in disks.withLock { $0[disk] = bytes } }
            ),
            network: { request in
                guard isOnline.withLock({ $0 }) else { throw Unreachable() }
                var request = request
                request.headers["Authorization"] = credentials["Authorization"]
                request.headers["Content-Length"] = "\(request.body.count)"
                return try await handler(request)
            },
            verify: { _, _, _ in false },
            clock: {
                let now = clock.now
                return ClockReading(clock: now, uptime: now - start)
            },
            // Only the rehearsal advances the time.
            sleep: { _ in
                let (never, end) = AsyncStream<Never>.makeStream()
                for await _ in never {}
                end.finish()
                throw CancellationError()
            }
        )
    }

    struct Unreachable: Error {}

    // MARK: - The server

    /// Returns the server's current answer about the customer.
    func served() async throws -> ServerReply {
        var headers = rehearsal.credentials
        headers["Accept"] = "application/json"
        let response = try await rehearsal.service.handler(
            Request(
                path: "/v1/apps/\(scenario.app.id)/customers/\(customerID.text)",
                query: [QueryItem(name: "environment", value: "simulated")],
                headers: headers
            )
        )
        return try ServerReply(response.body, to: EvidencePage())
    }
}

extension Scenario {
    /// Loads a scenario of the repository.
    static func named(_ name: String) throws -> Scenario {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Scenarios/\(name).json5")
        return try Scenario(reading: Array(try Data(contentsOf: file)))
    }
}
