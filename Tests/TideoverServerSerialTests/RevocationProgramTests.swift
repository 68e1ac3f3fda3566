import Foundation
import Testing
import TideoverCore
import TideoverHTTP
import TideoverHTTPClient
import TideoverHTTPServer
import TideoverJSON
import TideoverLocks
import TideoverTestProcesses
import TideoverTestResponders

@testable import TideoverTestServer

/// `tideover serve` with a simulated store. Its certificates contain the URL of a responder on
/// loopback.
@Suite(.timeLimit(.minutes(20)), .withExecutable)
final class RevocationProgramTests: SuiteWithFolder {
    private static let now = Instant(
        millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000
    )

    private func start(_ store: TestStore, server settings: String = "") throws -> ServingExecutable
    {
        try Data(store.root).write(to: folder.appending(path: "root.der"))
        let text = """
            { server: { listen: "127.0.0.1:0", \(settings) }, storage: "sqlite:x.db",
              apps: [{ id: "cards", environments: ["simulated"],
              appStore: { bundleId: "com.example.cards" }, simulatedStore: { root: "root.der" },
              products: { "cards.pro.monthly": { entitlements: ["premium"], period: "P1M" } } }] }
            """
        let file = try write(text, to: "tideover.json")
        return try ServingExecutable(file)
    }

    /// Waits until the metrics of a server have a line that `isExpected`; the suite's time limit
    /// ends an unsuccessful wait. A failed check is repeated after a minute.
    private func awaitMetric(
        of server: Handler,
        _ isExpected: (Substring) -> Bool
    ) async throws {
        while true {
            let metrics = try await server(Request(path: "/metrics"))
            let lines = String(decoding: metrics.body, as: UTF8.self).split(separator: "\n")
            if lines.contains(where: isExpected) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Starts the responder of a store at the port that the store's certificates contain. It has
    /// the port before they are created, because another program could take a port meanwhile.
    private func responder() throws -> (RevocableStore, HTTPServer) {
        let responding = Locked<RevocableStore?>(nil)
        let socket = try HTTPServer(port: 0) { request in
            guard let store = responding.withLock({ $0 }), request.method == "POST",
                request.path == "/ocsp",
                request.headers["Content-Type"] == "application/ocsp-request"
            else { return Response(status: 400) }
            return try store.respond(to: request, at: Self.now)
        }
        let store = try RevocableStore(responder: "http://\(socket.address)/ocsp")
        responding.withLock { $0 = store }
        return (store, socket)
    }

    @Test func `the program asks the responder and then rejects the revoked signer`() async throws {
        let (store, socket) = try responder()
        store.set(.answer(.revoked(0)))
        let running = try start(store.store)
        defer { running.destroy() }
        let server = try HTTPClient(userAgent: "tests").handler(
            under: Destination(running.url, addresses: .any)
        )
        let first = try await server(Self.notification("n-1", store.store))
        #expect(first.status == 200)
        try await awaitMetric(of: server) {
            $0 == #"tideover_signing_certificates{state="revoked"} 1"#
        }
        let second = try await server(Self.notification("n-2", store.store))
        #expect(second.status == 401)
        #expect(String(decoding: second.body, as: UTF8.self).contains("certificate-revoked"))
        await socket.stop(within: .zero)
    }

    @Test func `with a responder that is down the program accepts and warns`() async throws {
        // No program listens at this port.
        let store = try RevocableStore(responder: "http://127.0.0.1:1/ocsp")
        let running = try start(store.store)
        defer { running.destroy() }
        let server = try HTTPClient(userAgent: "tests").handler(
            under: Destination(running.url, addresses: .any)
        )
        #expect(try await server(Self.notification("n-1", store.store)).status == 200)
        try await awaitMetric(of: server) {
            $0.hasPrefix(#"tideover_revocation_checks_total{outcome="unreachable"} "#)
                && !$0.hasSuffix(" 0")
        }
        #expect(try await server(Self.notification("n-2", store.store)).status == 200)
    }

    @Test func `no responder is asked if the configuration forbids it`() async throws {
        let (store, socket) = try responder()
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
