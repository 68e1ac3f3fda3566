import TideoverCommandLine
import TideoverConfiguration
import TideoverHTTP
import TideoverHTTPServer
import TideoverLocks
import TideoverServer

/// The sockets of a running server.
struct ServerSockets {
    let server: HTTPServer
    /// Nil unless RevenueCat's SDKs have an address of their own.
    private let sdkServer: HTTPServer?
    /// Nil if there is none, see `listenLocally`.
    private let local: LocalHTTPServer?

    /// The number of threads that handle requests other than reads, unless the storage has its own.
    /// Verifications occupy at most half of them, and other requests do not wait behind those.
    private static let mostThreads = 2 * WorkLimits.processors.running

    /// Listens.
    ///
    /// - Parameters:
    ///   - live: The service, with the threads of its storage.
    ///   - configuration: Where and with which limits.
    ///   - listen: The address for all requests, instead of the configured one.
    ///   - followed: The clock of a simulated store, which requests may set.
    ///   - localKey: The key that requests through the local socket have.
    ///   - log: Receives log lines.
    /// - Throws: `CommandFailure` if an address cannot be used or the system has no thread left.
    init(
        _ live: LiveService,
        _ configuration: Configuration,
        listen: ListenAddress,
        followed: FollowedClock?,
        localKey: APIKey,
        log: @escaping Log
    ) throws(CommandFailure) {
        let report: FailureReport = { error, _, id in
            let kind = String(reflecting: type(of: error))
            log(LogLine(.error, "answer not sent", detail: kind, request: id))
        }
        let threads: TaskThreads
        do {
            threads = try live.threads ?? TaskThreads(most: Self.mostThreads)
        } catch {
            throw CommandFailure(.cannotCreate, "the system has no thread left")
        }
        func serve(at address: ListenAddress, _ entrance: Service.Entrance) throws -> HTTPServer {
            let handler = live.handler(at: entrance)
            return try HTTPServer(
                address: address.host,
                port: address.port,
                limits: HTTPServerLimits(configuration, at: entrance),
                executor: threads,
                report: report,
                rejection: { live.service.rejection($0, of: $1, at: entrance) },
                handler: followed?.hearing(handler) ?? handler
            )
        }
        let sdkListen = configuration.server.sdkListen
        do {
            sdkServer = try sdkListen.map { try serve(at: $0, .sdk) }
            server = try serve(at: listen, sdkListen == nil ? .all : .withoutSDK)
        } catch {
            throw CommandFailure(
                .unavailable,
                "cannot serve: \(error)\n"
                    + "Other addresses can be set as server.listen and server.sdkListen."
            )
        }
        local = Self.listenLocally(configuration, live, localKey, report, log)
    }

    func logAddresses(_ log: Log) {
        if let sdkServer {
            log(LogLine(.info, "listening for SDKs", detail: "http://\(sdkServer.address)"))
        }
        log(LogLine(.info, "listening", detail: "http://\(server.address)"))
    }

    /// Ends all at once, because each may wait ten seconds for its last requests.
    func stop() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await local?.stop() }
            group.addTask { await sdkServer?.stop() }
            group.addTask { await server.stop() }
        }
    }

    /// Opens the socket for commands of the same user. Without it, they need the admin key.
    ///
    /// It is beside an SQLite file, which commands cannot open while the server runs. They can open
    /// a PostgreSQL database.
    private static func listenLocally(
        _ configuration: Configuration,
        _ live: LiveService,
        _ key: APIKey,
        _ report: @escaping FailureReport,
        _ log: Log
    ) -> LocalHTTPServer? {
        guard case .sqlite(let database) = configuration.storage else { return nil }
        let path = AdminClient.socket(besides: database)
        do {
            let handler = live.handler()
            return try LocalHTTPServer(socket: path, report: report) { request in
                try await handler(request.presenting(key))
            }
        } catch {
            log(LogLine(.warning, "no local socket", detail: "\(path): \(error)"))
            return nil
        }
    }
}

extension HTTPServerLimits {
    /// A receipt of StoreKit 1 can be larger than other requests.
    private static let receiptBytes = 2 << 20

    /// The configured limits. Addresses of this machine and of trusted proxies have no limit of
    /// their own, because each represents many clients.
    init(_ configuration: Configuration, at entrance: Service.Entrance = .all) {
        self.init()
        let server = configuration.server
        connectionsPerAddress = server.limits.connectionsPerAddress
        sharedNetworks = IPNetwork.loopback + server.trustedProxies.networks
        let hasSDK = configuration.apps.contains { $0.revenueCat?.sdk != nil }
        if hasSDK, entrance != .withoutSDK { bodyBytes = Self.receiptBytes }
    }
}
