import Glibc
import TideoverHTTP
import TideoverJSON
import TideoverLocks

/// The addresses of the server and the clients in a soak.
struct SoakNetwork: Sendable {
    /// The server's address.
    let server: String
    /// The common prefix of the clients' addresses; each client adds its number.
    private let prefix: String
    /// Loopback addresses, which a server may treat as its own machine.
    static let loopback = SoakNetwork(server: "127.0.0.1", prefix: "127.0.0.")
    /// Addresses that `scripts/soak.sh` adds in a network namespace.
    static let own = SoakNetwork(server: "10.99.0.1", prefix: "10.99.0.")

    private init(server: String, prefix: String) {
        self.server = server
        self.prefix = prefix
    }

    func address(of client: Int) -> String { "\(prefix)\(client)" }
}

/// A server with keys, which clients reach from several addresses.
struct SoakPlace: Sendable {
    let site: Site
    let network: SoakNetwork
    let port: Int
    let publicKey: String
    let secretKey: String

    /// Creates the keys at a running server.
    init(_ site: Site, _ network: SoakNetwork, port: Int, adminKey: String) throws {
        self.site = site
        self.network = network
        self.port = port
        let wire = try Wire(port, at: network.server)
        publicKey = try Self.key("public", over: wire, adminKey)
        secretKey = try Self.key("secret", over: wire, adminKey)
    }

    private struct NoKey: Error {
        let status: Int
        let body: String
    }

    private static func key(_ kind: String, over wire: Wire, _ adminKey: String) throws -> String {
        let wish: JSONObject = ["kind": .string(kind), "apps": [.string(Site.app)], "name": "soak"]
        let body = JSONValue.object(wish).encoded()
        let answer = try wire.post(body, to: "/v1/keys", key: adminKey)
        guard let key = try JSONDocument(answer.body).root["key"]?.string else {
            throw NoKey(status: answer.status, body: String(decoding: answer.body, as: UTF8.self))
        }
        return key
    }

    /// Returns connections of one client; `patience` is in seconds.
    func connect(as client: Int, patience: Int = 10) -> Connect {
        let (port, server, source) = (port, network.server, network.address(of: client))
        return { try Wire(port, at: server, from: source, patience: patience) }
    }

    static func reconcile(_ customer: String) -> String {
        "/v1/apps/\(Site.app)/customers/\(customer)/reconcile?environment=simulated"
    }
}

/// The number of each client of a soak: the last part of its address.
enum SoakClients {
    static let senders = 2..<10
    static let prober = 11
    /// The device has the same address as the forger, as in an office or a mobile network.
    static let (forger, device) = (2, 2)
    static let buyer = 12
    static let abusers = 13..<15
    static let reader = 15
    static let idle = 20..<40
    static let slow = 15..<20
}

/// A flag that is set once, from any thread.
final class StopFlag: Sendable {
    private let flag = Locked(false)

    var isSet: Bool { flag.withLock { $0 } }

    func set() { flag.withLock { $0 = true } }

    /// Pauses for the given number of milliseconds, or until the flag is set.
    func wait(_ milliseconds: Int) {
        _ = waited(upTo: milliseconds) { isSet }
    }
}
