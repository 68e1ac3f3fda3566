import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// Requests of a backfill over HTTP.
@Suite struct BackfillRouteTests {
    @Test func `a requested run starts and is reported`() async throws {
        let server = try TestServer()
        let target = "/v1/apps/cards/backfill?environment=sandbox"
        let before = JSONValue(try JSONDocument(try await server.get(target).body).root)
        #expect(before == ["wanted": false, "last": .null, "googlePlay": .null])
        let begun = try await server.send("POST", target)
        #expect(begun.status == 202)
        #expect(JSONValue(try JSONDocument(begun.body).root)["wanted"] == true)
        await server.close()
    }

    @Test(arguments: [
        ("/v1/apps/cards/backfill?environment=simulated", 409, "store-cannot-be-asked"),
        ("/v1/apps/rehearsal/backfill?environment=simulated", 409, "store-cannot-be-asked"),
        ("/v1/apps/cards/backfill", 400, "environment-not-served"),
        ("/v1/apps/other/backfill?environment=sandbox", 404, "unknown-app"),
    ])
    func `an invalid request is rejected`(target: String, status: Int, code: String) async throws {
        let server = try TestServer()
        for method in ["GET", "POST"] {
            let answer = try await server.send(method, target)
            #expect(answer.status == status)
            let type = try JSONDocument(answer.body).root["type"]?.string
            #expect(type == "/problems/\(code)")
        }
        await server.close()
    }
}
