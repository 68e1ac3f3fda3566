import Foundation
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverRehearsal
import TideoverSandbox
import TideoverServer
import TideoverSignatures
import TideoverStorage
import TideoverTestProcesses

/// The server that the devices are compared with. It follows the simulated store's clock.
@MainActor
struct ComparedServer {
    /// Where the server runs.
    enum Place: String, Sendable {
        /// As a function in the process of the tests.
        case inProcess
        /// As the program, which is accessed over a loopback socket.
        case program

        /// The place that the environment of the tests names.
        static var chosen: Place {
            let name = ProcessInfo.processInfo.environment["TIDEOVER_KIT_SERVER"]
            return name.flatMap(Place.init) ?? .inProcess
        }
    }

    let handler: Handler
    /// The headers that authorise every route.
    let credentials: Headers
    let clock: StoryClock
    let authority: SandboxAuthority
    let storeKeys: [TideoverSandbox.AppStoreAPIKey]
    /// Gives the server access to the store.
    let meetStore: @Sendable (@escaping Handler) async -> Void
    /// Asks the store for missed messages.
    let catchUp: @MainActor () async throws -> Void
    let stop: @MainActor () async throws -> Void
    /// The lines that the server logged.
    let log: @MainActor () throws -> [JSONValue]

    /// Whether there is a program to run.
    nonisolated static var hasProgram: Bool {
        FileManager.default.isExecutableFile(atPath: ServedProgram.path)
    }

    static func start(_ scenario: Scenario, in folder: URL, at place: Place) async throws
        -> ComparedServer
    {
        switch place {
        case .inProcess: try inProcess(scenario, folder)
        case .program: try await ServedProgram.start(scenario, in: folder)
        }
    }

    private static func inProcess(_ scenario: Scenario, _ folder: URL) throws -> ComparedServer {
        let rehearsal = try Rehearsal(scenario, in: folder.path, version: "test")
        let target = rehearsal.target
        return ComparedServer(
            handler: rehearsal.service.handler,
            credentials: rehearsal.credentials,
            clock: rehearsal.clock,
            authority: rehearsal.authority,
            storeKeys: target.storeKeys,
            meetStore: target.meetStore,
            catchUp: {
                // The store may delay it.
                for _ in 0..<20 {
                    guard let next = await target.catchUp() else { return }
                    let isDue = next <= rehearsal.clock.now.millisecondsSince1970
                    guard isDue else { return }
                }
            },
            stop: { await rehearsal.close() },
            log: { [] }
        )
    }

    /// Creates a public key, as an app contains it.
    func publicKey(for app: String) async throws -> String {
        let body = #"{"kind": "public", "apps": ["\#(app)"], "name": "devices"}"#
        var headers = credentials
        headers["Content-Type"] = "application/json"
        headers["Content-Length"] = "\(body.utf8.count)"
        let response = try await handler(
            Request(method: "POST", path: "/v1/keys", headers: headers, body: Array(body.utf8))
        )
        guard let key = try JSONDocument(response.body).root["key"]?.string else {
            throw NoKey(status: response.status)
        }
        return key
    }

    struct NoKey: Error { let status: Int }
}

/// `tideover serve --clock`, with a simulated store on another loopback socket.
@MainActor
private final class ServedProgram {
    private let folder: URL
    private let process: ChildProcess
    private let store: HTTPServer
    private let client: HTTPClient

    static func start(_ scenario: Scenario, in folder: URL) async throws -> ComparedServer {
        let (clock, door) = (StoryClock(), Locked<Handler?>(nil))
        clock.now = Instant(millisecondsSince1970: scenario.start)
        let store = try HTTPServer(port: 0) { request in
            if request.path == "/clock" {
                let now = JSONValue.object(["now": .string(clock.now.rfc3339)])
                return Response(status: 200, body: now.encoded())
            }
            guard let handler = door.withLock({ $0 }) else { return Response(status: 503) }
            return try await handler(request)
        }
        let files = try ServedFiles(scenario, in: folder, store: "http://\(store.address)")
        let program = try ServedProgram(folder, files, store)
        let handler = try await program.handler(clock)
        return ComparedServer(
            handler: handler,
            credentials: files.credentials,
            clock: clock,
            authority: files.authority,
            storeKeys: [files.storeKey],
            meetStore: { handler in door.withLock { $0 = handler } },
            catchUp: { try await program.catchUp(scenario.app.id, handler, files.credentials) },
            stop: { try await program.stop() },
            log: { try program.log() }
        )
    }

    private init(_ folder: URL, _ files: ServedFiles, _ store: HTTPServer) throws {
        self.folder = folder
        self.store = store
        client = try HTTPClient(userAgent: "tests")
        // The log is a file, so that the program never waits for a reader.
        process = try ChildProcess([
            "/bin/sh", "-c", #"exec "$@" 2> "$0""#, folder.appending(path: "log").path,
            Self.path, "serve", "--config", files.configuration.path,
            "--clock", "http://\(store.address)/clock",
        ])
    }

    /// The program that the environment names, or the one beside the tests.
    nonisolated static let path =
        ProcessInfo.processInfo.environment["TIDEOVER_BINARY"]
        ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "tideover").path

    /// Returns requests to the program, with the store's time, once it listens.
    private func handler(_ clock: StoryClock) async throws -> Handler {
        for _ in 0..<3_000 {
            let line = try log().first { $0["event"]?.string == "listening" }
            guard let url = line?["detail"]?.string else {
                try await Task.sleep(for: .milliseconds(20))
                continue
            }
            let place = Destination(try HTTPURL(url), addresses: .any, limits: .storeAnswer)
            let send = client.handler(under: place)
            return { request in
                var request = request
                request.headers[ForeignBackEnd.clockHeader] = clock.now.rfc3339
                return try await send(request)
            }
        }
        throw DidNotListen(log: try log().map { String(decoding: $0.encoded(), as: UTF8.self) })
    }

    struct DidNotListen: Error { let log: [String] }

    /// Starts a backfill, and waits until it has ended.
    private func catchUp(_ app: String, _ handler: Handler, _ credentials: Headers) async throws {
        var headers = credentials
        headers["Content-Length"] = "0"
        for attempt in 0..<3_000 {
            let response = try await handler(
                Request(
                    method: attempt == 0 ? "POST" : "GET",
                    path: "/v1/apps/\(app)/backfill",
                    query: [QueryItem(name: "environment", value: "simulated")],
                    headers: headers
                )
            )
            let state = JSONValue(try JSONDocument(response.body).root)
            let isRunning = state["last"]?["status"]?.string == "running"
            guard state["wanted"]?.bool == true || isRunning else { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw DidNotCatchUp()
    }

    struct DidNotCatchUp: Error {}

    /// The complete lines of the log.
    private func log() throws -> [JSONValue] {
        let path = folder.appending(path: "log").path
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let text = try Data(contentsOf: URL(filePath: path))
        guard let end = text.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        return try text[..<end].split(separator: UInt8(ascii: "\n")).map {
            JSONValue(try JSONDocument(Array($0)).root)
        }
    }

    private func stop() async throws {
        process.terminate()
        let code = process.wait()
        await store.stop(within: .zero)
        guard code == 0 else { throw DidNotStop(code: code) }
    }

    struct DidNotStop: Error { let code: Int32 }
}

/// The files of a program that serves a scenario's app.
private struct ServedFiles {
    let configuration: URL
    let credentials: Headers
    let authority: SandboxAuthority
    let storeKey: TideoverSandbox.AppStoreAPIKey

    init(_ scenario: Scenario, in folder: URL, store: String) throws {
        authority = try SandboxAuthority()
        let key = P256PrivateKey.generate()
        storeKey = TideoverSandbox.AppStoreAPIKey(
            issuerId: AppStoreRehearsal.issuerId,
            keyId: AppStoreRehearsal.keyId,
            publicKey: key.publicKey
        )
        let admin = APIKey(.admin) { .random(in: .min ... .max) }
        credentials = ["Authorization": "Bearer \(admin.text)"]
        let secrets = [
            "admin.key": Array(admin.text.utf8), "key.p8": Array(key.pem.utf8),
            "pass.pem": Array(Ed25519PrivateKey.generate().pem.utf8), "root.der": authority.root,
        ]
        for (name, bytes) in secrets {
            let file = folder.appending(path: name)
            try Data(bytes).write(to: file)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: file.path
            )
        }
        configuration = folder.appending(path: "tideover.json")
        let text = Self.configuration(of: scenario, in: folder, store: store).encoded()
        try Data(text).write(to: configuration)
    }

    private static func configuration(
        of scenario: Scenario,
        in folder: URL,
        store: String
    ) -> JSONValue {
        [
            "server": [
                "listen": "127.0.0.1:0", "adminKeyFile": "admin.key", "checkRevocation": false,
            ],
            "storage": .string("sqlite:\(folder.path)/tideover.db"),
            "pass": ["keyFile": "pass.pem"],
            "apps": [app(of: scenario, store: store)],
        ]
    }

    /// Only a scenario's step asks the store for missed messages.
    private static func app(of scenario: Scenario, store: String) -> JSONValue {
        var products = JSONObject()
        for (id, product) in Catalogue(scenario).products { products[id] = product.configuration }
        return [
            "id": .string(scenario.app.id), "environments": ["simulated"],
            "appStore": [
                "bundleId": .string(scenario.app.store.bundleId),
                "issuerId": .string(AppStoreRehearsal.issuerId),
                "keyId": .string(AppStoreRehearsal.keyId), "privateKeyFile": "key.p8",
                "backfill": ["interval": "0s", "gap": "0s", "afterGap": "365d"],
            ],
            "simulatedStore": ["url": .string(store), "root": "root.der"],
            "products": .object(products), "silence": "0s",
        ]
    }
}

extension TideoverCore.Product {
    /// The product in the form of the configuration file.
    fileprivate var configuration: JSONValue {
        var members: JSONObject = ["kind": .string(kind.rawValue)]
        if kind != .consumable {
            members["entitlements"] = .array(entitlements.map(JSONValue.string))
        }
        members["group"] = group.map(JSONValue.string)
        members["period"] = period.map { .string($0.iso8601) }
        members["trial"] = trial.map { .string($0.iso8601) }
        members["price"] = price.map { .string($0.text) }
        return .object(members)
    }
}
