import Testing
import TideoverHTTP
import TideoverJSON
import TideoverServer

@testable import TideoverTestServer

/// A query parameter is either understood or rejected, never ignored.
@Suite struct QueryNameTests {
    private static let customer = "/v1/apps/cards/customers/\(TestServer.anna)"

    private func problem(_ target: String) async throws -> (
        status: Int, name: String, detail: String
    ) {
        let server = try TestServer()
        let response = try await server.get(target)
        let document = try JSONDocument(response.body)
        await server.close()
        let name = document.root["type"]?.string.flatMap { $0.split(separator: "/").last } ?? ""
        return (response.status, String(name), document.root["detail"]?.string ?? "")
    }

    @Test(arguments: [
        (customer + "?enviroment=sandbox", "Did you mean `environment`?"),
        (customer + "?zzz=1", "The route takes `environment`, `store`."),
        (customer + "/explain?environment=sandbox&asknownat=x", "Did you mean `asKnownAt`?"),
        ("/v1/keys?app=cards", "The route takes none."),
    ])
    func `an unknown parameter is rejected with a suggestion`(
        target: String,
        detail: String
    ) async throws {
        let answer = try await problem(target)
        #expect(answer.status == 400)
        #expect(answer.name == "unknown-parameter")
        #expect(answer.detail == detail)
    }

    @Test func `a repeated parameter is rejected`() async throws {
        let answer = try await problem(
            Self.customer + "?environment=sandbox&environment=production"
        )
        #expect(answer.status == 400)
        #expect(answer.name == "repeated-parameter")
    }

    @Test func `an unauthorised request is rejected before its parameters are checked`()
        async throws
    {
        let server = try TestServer()
        let credentials: Headers = ["Authorization": "Bearer none"]
        let response = try await server.get(Self.customer + "?zzz=1", headers: credentials)
        #expect(response.status == 401)
        await server.close()
    }

    @Test func `routes for stores and probes accept unknown parameters`() async throws {
        let server = try TestServer()
        #expect(try await server.get("/healthz?cache=7").status == 200)
        let posted = try await server.send(
            "POST",
            "/v1/apps/cards/notifications/app-store?source=push",
            body: try Message.purchase().body(server.store)
        )
        #expect(posted.status == 200)
        await server.close()
    }
}
