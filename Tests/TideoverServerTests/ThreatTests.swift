import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverStorage

@testable import TideoverTestServer

/// Attacks of docs/threats.md that concern no single part of the server.
@Suite struct ThreatTests {
    private func status(_ response: Response) throws -> String? {
        try JSONDocument(response.body).root["status"]?.string
    }

    // MARK: Spoofing

    /// The order of P-256: if (r, s) is a signature, (r, order - s) is one of the same bytes.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
        0x25, 0x51,
    ]

    private func twin(of compact: String) throws -> String {
        let jws = try JWS(compact.utf8)
        var borrow = 0
        let other: [UInt8] = zip(Self.order, jws.signature.suffix(32)).reversed().map { a, b in
            let digit = Int(a) - Int(b) - borrow
            borrow = digit < 0 ? 1 : 0
            return UInt8(digit & 0xFF)
        }
        let signature = Array(jws.signature.prefix(32)) + other.reversed()
        return String(decoding: jws.signingInput, as: UTF8.self) + "."
            + Base64.encodeString(signature, .urlSafe)
    }

    @Test func `the second signature of a known notification is a duplicate`() async throws {
        let server = try TestServer()
        let body = try Message.purchase().body(server.store)
        let signed = try #require(try JSONDocument(body).root["signedPayload"]?.string)
        let twin = try twin(of: signed)
        #expect(twin != signed)
        #expect(try status(try await server.post(body)) == "committed")
        let before = try await server.answer()
        let again = try await server.post(Message.wrap(twin))
        #expect(again.status == 200)
        #expect(try status(again) == "duplicate")
        #expect(try await server.answer() == before)
        await server.close()
    }

    @Test func `the second signature of a known transaction is known`() async throws {
        let server = try TestServer()
        let signed = try server.store.sign(Message.transaction())
        let target = "/v1/apps/cards/customers/\(TestServer.anna)/reconcile"
        for (text, isKnown) in [(signed, false), (try twin(of: signed), true)] {
            let body = JSONValue.object(["transactions": [.string(text)]]).encoded()
            let response = try await server.send("POST", target, body: body)
            let item = JSONValue(try JSONDocument(response.body).root)["items"]?.array?.first
            #expect(item?["verdict"]?.string == "accepted")
            #expect(item?["isKnown"]?.bool == isKnown)
        }
        await server.close()
    }

    @Test func `ten thousand guessed keys are rejected`() async throws {
        let server = try TestServer()
        let target = "/v1/apps/cards/customers/u_42?environment=sandbox"
        for guess in 0..<10_000 {
            let kind = KeyKind.allCases[guess % KeyKind.allCases.count]
            let key = APIKey(kind) { .random(in: .min ... .max) }
            let response = try await server.ask(
                "GET",
                target,
                headers: ["Authorization": "Bearer \(key.text)"]
            )
            guard response.status == 401 else {
                Issue.record("a guess was answered \(response.status)")
                break
            }
        }
        await server.close()
    }

    // MARK: Tampering

    @Test(arguments: [
        "'; DROP TABLE fact; --", #"" OR "1"="1"#, "x'); DELETE FROM customer; --", "%", "a_b",
        "Robert\u{2019}); SELECT 1", "\\'; --", "?1", "@app", "$1", ":app",
    ])
    func `text that looks like an SQL statement stays text`(text: String) async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let before = try await server.answer()
        var transaction = Message.transaction(customer: TestServer.ben, product: text)
        for field in ["transactionId", "originalTransactionId", "webOrderLineItemId"] {
            transaction[field] = .string(text)
        }
        let path = "/v1/apps/cards/customers/\(PercentEncoding.encode(text))"
        let signed = JSONValue.string(try server.store.sign(transaction))
        let body = JSONValue.object(["transactions": [signed]]).encoded()
        let told = try await server.send("POST", "\(path)/reconcile", body: body)
        #expect(told.status == 200)
        let read = try await server.get("\(path)?environment=sandbox")
        #expect(try JSONDocument(read.body).root["customer"]?.string == text)
        var message = Message.purchase(text)
        message.subtype = text
        #expect(try await server.post(message).status == 200)
        #expect(try await server.answer() == before)
        #expect(try server.storage.quickProblems() == [])
        await server.close()
    }

    // MARK: Disclosure

    @Test func `an unknown customer gets the same answer as one without purchases`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let signed = JSONValue.string(try server.store.sign(Message.transaction()))
        let body = JSONValue.object(["transactions": [signed]]).encoded()
        // It presents another customer's purchase, so it is known and owns nothing.
        let known = "/v1/apps/cards/customers/u_1"
        #expect(try await server.send("POST", "\(known)/reconcile", body: body).status == 200)
        var answers: [JSONNode] = []
        for path in [known, "/v1/apps/cards/customers/u_2"] {
            let response = try await server.get("\(path)?environment=sandbox")
            #expect(response.status == 200)
            answers.append(try JSONDocument(response.body).root)
        }
        let members = answers.map { $0.members.map(\.key) }
        #expect(members[0] == members[1])
        let states = answers.map { $0["entitlements"]?["premium"]?["state"]?.string }
        #expect(states == ["never", "never"])
        await server.close()
    }

    // MARK: Elevation

    @Test(arguments: [
        "/../../etc/passwd", "/v1/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc",
        "/v1/apps/cards/../../../metrics", "/v1/apps/cards/customers/../../../../etc/passwd",
        "/v1/apps/..%2f..%2fetc%2fpasswd/customers/x", "//etc/passwd", "/etc/passwd",
        "/.git/config",
        "/tideover.json", "/v1/apps/cards/customers/x%00/explain",
    ])
    func `a path outside the routes is rejected`(path: String) async throws {
        // An invalid request target is rejected before it gets here.
        guard
            let request = Request(method: "GET", target: path, headers: TestServer.credentials)
        else { return }
        let server = try TestServer()
        let response = try await server.service.handler(request)
        #expect([400, 404].contains(response.status), "\(response.status)")
        #expect(response.headers["Content-Type"] == "application/problem+json")
        await server.close()
    }
}
