import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON
import TideoverTestProcesses
import TideoverTestResponders

@testable import TideoverTestServer

/// `tideover serve` with a simulated store. Its certificates contain the URL of a responder on
/// loopback.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: Executable.isPresent, "the executable is not beside the tests")
)
final class RevocationProgramTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "tideover-revocation-\(UUID().uuidString)"
    )
    private static let now = Instant(
        millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000
    )

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func start(_ store: TestStore, server settings: String = "") throws -> ServingExecutable
    {
        try Data(store.root).write(to: folder.appending(path: "root.der"))
        let file = folder.appending(path: "tideover.json")
        let text = """
            { server: { listen: "127.0.0.1:0", \(settings) }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["simulated"],
              appStore: { bundleId: "com.example.cards" }, simulatedStore: { root: "root.der" },
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        try Data(text.utf8).write(to: file)
        return try ServingExecutable(file.path)
    }

    /// Repeats a request until `condition` holds; false if it does not within a minute.
    private func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    /// Starts the responder of a store at the port that the store's certificates contain.
    private func responder() async throws -> (RevocableStore, HTTPServer) {
        let free = try HTTPServer(port: 0) { _ in Response(status: 404) }
        let port = free.address.port
        await free.stop(within: .zero)
        let store = try RevocableStore(responder: "http://127.0.0.1:\(port)/ocsp")
        let socket = try HTTPServer(port: port) { request in
            guard request.method == "POST", request.path == "/ocsp",
                request.headers["Content-Type"] == "application/ocsp-request"
            else { return Response(status: 400) }
            return try store.respond(to: request, at: Self.now)
        }
        return (store, socket)
    }

    @Test func `the program asks the responder and then rejects the revoked signer`() async throws {
        let (store, socket) = try await responder()
        store.set(.answer(.revoked(0)))
        let running = try start(store.store)
        defer { running.destroy() }
        let server = try HTTPClient(userAgent: "tests").handler(
            under: Destination(running.url, addresses: .any)
        )
        let first = try await server(Self.notification("n-1", store.store))
        #expect(first.status == 200)
        let isKnown = try await eventually {
            let metrics = try await server(Request(path: "/metrics"))
            return String(decoding: metrics.body, as: UTF8.self)
                .contains(#"tideover_signing_certificates{state="revoked"} 1"#)
        }
        #expect(isKnown)
        let second = try await server(Self.notification("n-2", store.store))
        #expect(second.status == 401)
        #expect(String(decoding: second.body, as: UTF8.self).contains("certificate-revoked"))
        await socket.stop(within: .zero)
    }

    @Test func `with a responder that is down the program accepts and warns`() async throws {
        let (store, socket) = try await responder()
        await socket.stop(within: .zero)
        let running = try start(store.store)
        defer { running.destroy() }
        let server = try HTTPClient(userAgent: "tests").handler(
            under: Destination(running.url, addresses: .any)
        )
        #expect(try await server(Self.notification("n-1", store.store)).status == 200)
        let isAlarmed = try await eventually {
            let metrics = try await server(Request(path: "/metrics"))
            return String(decoding: metrics.body, as: UTF8.self)
                .contains(#"tideover_revocation_checks_total{outcome="unreachable"} 1"#)
        }
        #expect(isAlarmed)
        #expect(try await server(Self.notification("n-2", store.store)).status == 200)
    }

    @Test func `no responder is asked if the configuration forbids it`() async throws {
        let (store, socket) = try await responder()
        let running = try start(store.store, server: "checkRevocation: false")
        defer { running.destroy() }
        let server = try HTTPClient(userAgent: "tests").handler(
            under: Destination(running.url, addresses: .any)
        )
        #expect(try await server(Self.notification("n-1", store.store)).status == 200)
        let metrics = try await server(Request(path: "/metrics"))
        #expect(
            !String(decoding: metrics.body, as: UTF8.self).contains("tideover_signing_certificates")
        )
        await socket.stop(within: .zero)
    }

    private static func notification(_ id: String, _ store: TestStore) throws -> Request {
        Request(
            method: "POST",
            path: "/v1/apps/cards/notifications/app-store",
            body: try Message.purchase(id, signed: now).body(store)
        )
    }
}
