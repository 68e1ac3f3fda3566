import Testing
import TideoverHTTP
import TideoverJSON
import TideoverServer

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
    func `a parameter that means nothing is refused with what was probably meant`(
        target: String,
        detail: String
    ) async throws {
        let answer = try await problem(target)
        #expect(answer.status == 400)
        #expect(answer.name == "unknown-parameter")
        #expect(answer.detail == detail)
    }

    @Test func `a parameter that is said twice is refused`() async throws {
        let answer = try await problem(
            Self.customer + "?environment=sandbox&environment=production"
        )
        #expect(answer.status == 400)
        #expect(answer.name == "repeated-parameter")
    }

    @Test func `who may not ask is told that first`() async throws {
        let server = try TestServer()
        let credentials: Headers = ["Authorization": "Bearer none"]
        let response = try await server.get(Self.customer + "?zzz=1", headers: credentials)
        #expect(response.status == 401)
        await server.close()
    }

    @Test func `stores and probes add what they like`() async throws {
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
