import Testing
import TideoverHTTP
import TideoverHTTPClient
import TideoverJSON

@testable import TideoverCommandLine
@testable import tideover

/// Tests what a command prints of an answer that is not a success.
@Suite struct AdminClientTests {
    private func failure(_ status: Int, _ body: JSONValue) -> CommandFailure? {
        do {
            _ = try AdminClient.content(of: Response(status: status, body: body.encoded()))
            return nil
        } catch {
            return error as? CommandFailure
        }
    }

    @Test func `the problems and customers of an answer are printed`() {
        let policy: JSONValue = [
            "type": "/problems/bad-policy", "title": "Invalid policy.", "detail": "It is.",
            "problems": ["policy:1:3: one", "policy:2:3: two"],
        ]
        #expect(
            failure(400, policy)
                == CommandFailure(
                    .failure,
                    "Invalid policy.\nIt is.\npolicy:1:3: one\npolicy:2:3: two"
                )
        )
        let holders: JSONValue = [
            "type": "/problems/several-holders", "title": "Several customers.",
            "detail": "Ask about one.", "customers": ["u_1", "u_2"],
        ]
        #expect(
            failure(409, holders)
                == CommandFailure(
                    .failure,
                    "Several customers.\nAsk about one.\ncustomers: u_1, u_2"
                )
        )
    }

    @Test(
        arguments: [
            ("http://127.0.0.1:8080", true), ("http://[::1]:8080", true),
            ("http://localhost:8080", true), ("http://127.example.com", false),
            ("http://127.0.0.1.example.com", false), ("http://192.0.2.1:8080", false),
        ]
    )
    func `a name that only begins like loopback is not this machine`(
        url: String,
        isThisMachine: Bool
    ) throws {
        #expect(try HTTPURL(url).isThisMachine == isThisMachine)
    }
}
