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
import TideoverSignatures

/// A scenario's simulated App Store, a server, and the kit on one customer's device, sharing one
/// clock.
@MainActor
final class KitRehearsal {
    /// The issuer that an app expects which names none; the server's configuration names none either.
    private static let issuer = Tideover.Server(app: "", apiKey: "", url: "").issuer

    let scenario: Scenario
    let server: ComparedServer
    let store: SimulatedAppStore
    let device: SimulatedDevice
    let customer: StoreCustomer
    /// The device's connection to the server.
    enum Connection: Sendable {
        case complete, none
        /// Requests arrive, and the responses do not.
        case withoutResponses
    }

    let connection = Locked(Connection.complete)
    /// How far the device's clock is ahead, in milliseconds.
    let clockOffset: Locked<Int64> = Locked(0)
    /// The drifts that the server reported to a device, in order.
    let drifts: Locked<[ReportedDrift]> = Locked([])
    /// Requests of a device that failed although its connection was complete.
    let failures: Locked<[String]> = Locked([])
    /// Transactions that were finished before the device's file contained them and before the
    /// server had committed them.
    let earlyFinishes: Locked<[UInt64]> = Locked([])
    /// The lines that the server logged, once it has stopped.
    private(set) var log: [JSONValue] = []
    private let publicKey: String
    /// Whether the store's messages do not reach the server.
    var losesNotifications = false
    private let disks = Locked<[String: [UInt8]]>([:])
    private let folder: URL

    /// Creates a rehearsal; a fast sandbox renews at another rate than the scenario says.
    init(
        _ scenario: Scenario,
        renewalRate: RenewalRate = .realTime,
        at place: ComparedServer.Place = .inProcess
    ) async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "tideover-kit-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.scenario = scenario
        let server = try await ComparedServer.start(scenario, in: folder, at: place)
        self.server = server
        publicKey = try await server.publicKey(for: scenario.app.id)
        store = SimulatedAppStore(
            renewalRate == .realTime ? scenario.app.store : scenario.app.store.at(renewalRate),
            seed: scenario.seed,
            now: scenario.start,
            authority: server.authority,
            lag: scenario.lag,
            keys: server.storeKeys,
            wait: { _ in }
        )
        for customer in scenario.customers { try await store.register(customer) }
        await server.meetStore(store.serverAPI)
        guard let found = scenario.customers.first else { throw NoCustomer() }
        customer = found
        device = SimulatedDevice(store, customer: found.name)
        server.clock.now = Instant(millisecondsSince1970: scenario.start)
    }

    struct NoCustomer: Error {}

    func close() async throws {
        try await server.stop()
        log = try server.log()
        try FileManager.default.removeItem(at: folder)
    }

    // MARK: - Time

    /// Advances the time; messages that the store posts meanwhile are delivered to the server.
    func pass(until instant: Int64) async throws {
        let (store, clock, handler) = (store, server.clock, server.handler)
        let path = "/v1/apps/\(scenario.app.id)/notifications/app-store"
        let isLosing = losesNotifications
        try await store.advance(to: max(instant, await store.now)) { body in
            clock.now = Instant(millisecondsSince1970: await store.now)
            if isLosing { return 200 }
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

    // MARK: - The scenario

    /// Performs an action of a scenario.
    ///
    /// - Returns: The visit, if a customer opens the app.
    func perform(_ step: ScenarioStep) async throws -> DeviceVisit? {
        switch step.action {
        case .store(let action):
            // The store refuses some actions; the scenario's own test checks which ones.
            if let customer = step.customer { _ = try? await store.perform(action, by: customer) }
        case .requestTestNotification: await store.requestTestNotification()
        case .loseNotifications(let isLosing): losesNotifications = isLosing
        case .catchUp: try await server.catchUp()
        case .disturbNotifications(let rule): await store.add(rule)
        case .disturbServerAPI(let rule): await store.add(rule)
        case .endDisturbances:
            await store.clearFaults()
            await store.clearWireFaults()
        case .openApp(let visit): return visit
        case .showPrompt, .storeAction, .googlePlay, .revenueCat, nil: break
        }
        return nil
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

    var customerID: CustomerID { id(of: customer) }

    private func id(of customer: StoreCustomer) -> CustomerID {
        guard let id = CustomerID(customer.appAccountToken ?? customer.name) else {
            preconditionFailure("a scenario's customers have names")
        }
        return id
    }

    /// Starts the app on the device; its file persists between starts.
    func launch(
        withServer: Bool,
        for customer: StoreCustomer? = nil,
        disk: String? = nil
    ) async -> EntitlementStore {
        let app = app(withServer: withServer, for: customer, disk: disk)
        await app.start()
        await app.settled()
        return app
    }

    /// Returns the app before its start.
    func app(
        withServer: Bool,
        for customer: StoreCustomer? = nil,
        disk: String? = nil,
        process: AppProcess = AppProcess()
    ) -> EntitlementStore {
        var settings = settings
        if let customer { settings.customer = id(of: customer) }
        if withServer {
            settings.server = ServerIdentity(
                app: scenario.app.id,
                apiKey: publicKey,
                issuer: Self.issuer
            )
        }
        let own = withServer ? "server" : "alone"
        let effects = effects(disk: disk ?? own + settings.customer.text)
        return EntitlementStore(settings, process.counting(effects))
    }

    /// Reads the device's store, and records what is finished too early.
    private func source(disk: String) -> StoreSource {
        let (disks, early, finish) = (disks, earlyFinishes, StoreSource.storeKit.finish)
        var source = StoreSource.storeKit
        source.finish = { [weak self] id in
            let kept = disks.withLock { $0[disk] }.flatMap(KeptState.init(json:))
            let isKept = kept?.queue.contains { $0.purchase.transactionId == id } ?? false
            if !isKept {
                let served = try? await self?.served()
                let isCommitted = served?.entitlements.contains { $0.state != .never } ?? false
                if !isCommitted { early.withLock { $0.append(id) } }
            }
            await finish(id)
        }
        return source
    }

    private func effects(disk: String) -> KitEffects {
        let (clock, disks, connection) = (server.clock, disks, connection)
        let (offset, drifts, failures) = (clockOffset, drifts, failures)
        let handler = server.handler
        let start = Instant(millisecondsSince1970: scenario.start)
        return KitEffects(
            source: source(disk: disk),
            file: KeptFile(
                read: { disks.withLock { $0[disk] } },
                write: { bytes in disks.withLock { $0[disk] = bytes } }
            ),
            network: { request in
                let connection = connection.withLock { $0 }
                guard connection != .none else { throw Unreachable() }
                var request = request
                request.headers["Content-Length"] = "\(request.body.count)"
                let response: Response
                do {
                    response = try await handler(request)
                } catch {
                    failures.withLock { $0.append("\(request.method) \(request.path): \(error)") }
                    throw error
                }
                guard connection == .complete else { throw Unreachable() }
                drifts.withLock { $0 += response.drifts }
                return response
            },
            verify: { signature, message, key in
                (try? Ed25519PublicKey(bytes: key))?.verify(signature: signature, of: message)
                    ?? false
            },
            clock: {
                let now = clock.now
                let ahead = Milliseconds(offset.withLock { $0 })
                return ClockReading(clock: now + ahead, uptime: now - start)
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

    /// Returns the kinds of all events that the server stored, oldest first.
    func events() async throws -> [String] {
        let response = try await server.handler(
            Request(path: "/v1/apps/\(scenario.app.id)/events", headers: server.credentials)
        )
        return try JSONDocument(response.body).root["events"]?.elements.compactMap {
            $0["kind"]?.string
        } ?? []
    }

    /// Returns the server's current answer about a customer.
    func served(_ customer: StoreCustomer? = nil) async throws -> ServerReply {
        let id = id(of: customer ?? self.customer)
        var headers = server.credentials
        headers["Accept"] = "application/json"
        let response = try await server.handler(
            Request(
                path: "/v1/apps/\(scenario.app.id)/customers/\(id.text)",
                query: [QueryItem(name: "environment", value: "simulated")],
                headers: headers
            )
        )
        return try ServerReply(response.body, to: EvidencePage())
    }

    /// Returns what was reported to the server as shown to the customer, latest first.
    func shownPrompts() async throws -> [JSONValue] {
        let response = try await server.handler(
            Request(
                path: "/v1/apps/\(scenario.app.id)/customers/\(customerID.text)/explain",
                query: [QueryItem(name: "environment", value: "simulated")],
                headers: server.credentials
            )
        )
        return JSONValue(try JSONDocument(response.body).root)["prompt"]?["shown"]?.array ?? []
    }
}

extension AppStoreApp {
    /// Returns the app in the sandbox, with short months.
    fileprivate func at(_ rate: RenewalRate) -> AppStoreApp {
        AppStoreApp(
            bundleId: bundleId,
            appAppleId: appAppleId,
            environment: .sandbox,
            renewalRate: rate,
            products: products,
            oneTimeProducts: oneTimeProducts
        )
    }
}

/// A drift in the answer to a reconcile.
struct ReportedDrift: Hashable, Sendable {
    let entitlement: String
    let cause: String
}

extension Response {
    /// The drifts in the answer to a reconcile.
    fileprivate var drifts: [ReportedDrift] {
        guard let root = try? JSONDocument(body).root, let drifts = root["drift"] else { return [] }
        return drifts.elements.compactMap { drift in
            guard let entitlement = drift["entitlement"]?.string,
                let cause = drift["cause"]?.string
            else { return nil }
            return ReportedDrift(entitlement: entitlement, cause: cause)
        }
    }
}

extension Scenario {
    /// The names of the repository's scenarios with a prefix.
    static func names(_ prefix: String) -> [String] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Scenarios")
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json5") }
            .map { String($0.dropLast(6)) }.sorted()
    }

    /// Loads a scenario of the repository.
    static func named(_ name: String) throws -> Scenario {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appending(path: "Scenarios/\(name).json5")
        return try Scenario(reading: Array(try Data(contentsOf: file)))
    }
}
