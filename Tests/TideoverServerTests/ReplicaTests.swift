import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Answers for customers from a replica, which here has the rows that a test copies.
@Suite struct ReplicaTests {
    private static let path =
        "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"

    /// The rows of the replica; nil while it is too old.
    private let copies = Locked<[CustomerKey: CustomerRow]?>([:])

    private func makeServer() throws -> TestServer {
        let copies = copies
        return try TestServer(replica: { key in
            copies.withLock { rows in
                rows.map { ReplicaRow(row: $0[key], staleness: .seconds(2)) }
            }
        })
    }

    private func copy(_ server: TestServer) throws {
        let customer = try #require(CustomerID(TestServer.anna))
        let key = CustomerKey(app: "cards", environment: .sandbox, customer: customer)
        let row = try server.storage.row(of: key)
        copies.withLock { $0?[key] = row }
    }

    private func answer(_ response: Response) throws -> JSONValue {
        JSONValue(try JSONDocument(response.body).root)
    }

    private func reads(_ server: TestServer) async throws -> [String] {
        let metrics = try await server.get("/metrics")
        return String(decoding: metrics.body, as: UTF8.self)
            .split(separator: "\n")
            .filter { $0.hasPrefix("tideover_replica_reads_total{") }
            .map(String.init)
    }

    @Test func `an answer of the replica says since when it may lack something`() async throws {
        let server = try makeServer()
        _ = try await server.post(.purchase())
        try copy(server)
        let found = try answer(try await server.get(Self.path))
        #expect(found["asOf"]?.string == server.now.rfc3339)
        #expect(found["asKnownAt"]?.string == (server.now - .seconds(2)).rfc3339)
        #expect(found["entitlements"]?["premium"]?["access"]?.bool == true)
        #expect(
            try await reads(server) == [
                #"tideover_replica_reads_total{from="database"} 0"#,
                #"tideover_replica_reads_total{from="replica"} 1"#,
            ]
        )
        await server.close()
    }

    @Test func `the database answers while the replica is too old`() async throws {
        let server = try makeServer()
        _ = try await server.post(.purchase())
        try copy(server)
        copies.withLock { $0 = nil }
        let found = try answer(try await server.get(Self.path))
        #expect(found["asKnownAt"] == nil)
        #expect(found["entitlements"]?["premium"]?["access"]?.bool == true)
        await server.close()
    }

    @Test func `the database answers for a customer that the replica does not know`() async throws {
        let server = try makeServer()
        _ = try await server.post(.purchase())
        let found = try answer(try await server.get(Self.path))
        #expect(found["asKnownAt"] == nil)
        #expect(found["entitlements"]?["premium"]?["access"]?.bool == true)
        await server.close()
    }

    @Test func `a client never goes back from a newer answer to the replica's`() async throws {
        let server = try makeServer()
        _ = try await server.post(.purchase())
        try copy(server)
        let old = try await server.get(Self.path)
        let grant: JSONValue = ["entitlement": "premium", "days": 90, "why": "an outage"]
        let grants = "/v1/apps/cards/customers/\(TestServer.anna)/grants?environment=sandbox"
        #expect(try await server.send("POST", grants, body: grant.encoded()).status == 201)
        let (hidden, rows) = (nil as [CustomerKey: CustomerRow]?, copies.withLock(\.self))
        copies.withLock { $0 = hidden }
        let new = try await server.get(Self.path)
        copies.withLock { $0 = rows }
        let (oldTag, newTag) = (old.headers["ETag"], new.headers["ETag"])
        #expect(oldTag != newTag)

        let held = try await server.get(Self.path, headers: ["If-None-Match": try #require(oldTag)])
        #expect(held.status == 304)
        let again = try await server.get(
            Self.path,
            headers: ["If-None-Match": try #require(newTag)]
        )
        #expect(again.status == 304)
        #expect(
            try await reads(server) == [
                #"tideover_replica_reads_total{from="database"} 2"#,
                #"tideover_replica_reads_total{from="replica"} 2"#,
            ]
        )
        await server.close()
    }

    @Test func `an answer whose time is over is derived again in the database`() async throws {
        let server = try makeServer()
        _ = try await server.post(.purchase())
        try copy(server)
        server.set(Message.end + .days(40))
        let found = try answer(try await server.get(Self.path))
        #expect(found["asKnownAt"] == nil)
        #expect(found["entitlements"]?["premium"]?["access"]?.bool == false)
        await server.close()
    }
}
