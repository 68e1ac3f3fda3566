import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Invalid data of each kind: its response is a problem with its own type, and only a count is
/// stored.
@Suite struct RefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var status: Int
        var slug: String
        var body: @Sendable (TestStore) throws -> [UInt8]

        var testDescription: String { name }

        init(
            _ name: String,
            _ status: Int,
            _ slug: String,
            _ body: @escaping @Sendable (TestStore) throws -> [UInt8]
        ) {
            self.name = name
            self.status = status
            self.slug = slug
            self.body = body
        }

        /// Creates a case that changes the message.
        static func changed(
            _ name: String,
            _ status: Int,
            _ slug: String,
            _ change: @escaping @Sendable (inout Message) -> Void
        ) -> Case {
            Case(name, status, slug) { store in
                var message = Message.purchase("n-bad")
                change(&message)
                return try message.body(store)
            }
        }

        /// Creates a case that damages the chain of the outer signature.
        static func chain(_ defect: TestStore.Defect, _ slug: String) -> Case {
            Case("chain: \(defect)", 401, slug) {
                try Message.purchase("n-bad").body($0, defect: defect)
            }
        }
    }

    static let cases: [Case] = [
        Case("signature of other bytes", 401, "signature") { store in
            let jws = try store.sign(Message.purchase("n-bad").payload(store))
            let parts = jws.split(separator: ".")
            let other = try store.sign(Message.purchase("n-other").payload(store))
            return Message.wrap("\(parts[0]).\(parts[1]).\(other.split(separator: ".")[2])")
        },
        .chain(.unknownRoot, "untrusted-root"),
        .chain(.leafWithoutMarker, "marker-missing"),
        .chain(.intermediateWithoutMarker, "marker-missing"),
        .chain(.twoCertificates, "chain-length"),
        .chain(.fourCertificates, "chain-length"),
        .chain(.expired, "certificate-not-valid"),
        Case("chain of the transaction inside", 401, "untrusted-root") {
            try Message.purchase("n-bad").body($0, nestedDefect: .unknownRoot)
        },
        Case("another algorithm", 401, "algorithm") { store in
            let payload = JSONValue.object(try Message.purchase("n-bad").payload(store)).encoded()
            return Message.wrap(try store.sign(payload, algorithm: "HS256"))
        },
        .changed("another app", 422, "wrong-bundle") { $0.bundle = "com.example.other" },
        .changed("another environment", 422, "environment-not-vouched-for") {
            $0.environment = "Production"
        },
        .changed("a transaction of another app", 422, "nested-mismatch") {
            $0.transaction?["bundleId"] = "com.example.other"
        },
        .changed("a transaction of another environment", 422, "nested-mismatch") {
            $0.transaction?["environment"] = "Production"
        },
        .changed("a transaction in the renewal info's place", 422, "nested-mismatch") {
            $0.renewal = $0.transaction
        },
        .changed("a renewal info in the transaction's place", 422, "nested-mismatch") {
            $0.transaction = $0.renewal
        },
        .changed("a renewal info of another subscription", 422, "nested-mismatch") {
            $0.renewal?["originalTransactionId"] = "1"
        },
        .changed("dated in our future", 503, "signed-in-the-future") {
            $0.signed = Message.start + .minutes(6)
        },
        .changed("a transaction dated in our future", 503, "signed-in-the-future") {
            $0.transaction?["signedDate"] = (Message.start + .minutes(6)).wire
        },
        .changed("older than the store repeats anything", 410, "too-old") {
            $0.signed = Message.start - .days(188)
        },
        .changed("a date that is a text", 400, "malformed") {
            $0.transaction?["purchaseDate"] = "yesterday"
        },
        Case("no JSON", 400, "malformed-json") { _ in Array("hello".utf8) },
        Case("nothing", 400, "malformed-json") { _ in [] },
        Case("no payload", 400, "missing-member") { _ in Array("{}".utf8) },
        Case("duplicate keys outside", 400, "duplicate-key") { _ in
            Array(#"{"signedPayload":"a","signedPayload":"b"}"#.utf8)
        },
        Case("duplicate keys inside", 400, "duplicate-key") { store in
            let payload = JSONValue.object(try Message.purchase("n-bad").payload(store)).encoded()
            return Message.wrap(try store.sign(Array("{\"version\":\"2.0\",".utf8) + payload[1...]))
        },
        Case("not three segments", 400, "not-compact-jws") { _ in Message.wrap("a.b") },
        Case("oversize", 413, "too-large") { _ in
            [UInt8](repeating: UInt8(ascii: " "), count: 256 * 1024 + 1)
        },
    ]

    @Test(arguments: cases)
    func `each rejection has its own type and stores only a count`(
        refusal: Case
    ) async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        let before = try await server.answer()
        let response = try await server.post(refusal.body(server.store))
        #expect(response.status == refusal.status)
        #expect(response.headers["Content-Type"] == "application/problem+json")
        let problem = try JSONDocument(response.body).root
        #expect(problem["type"]?.string == "/problems/\(refusal.slug)")
        #expect(problem["status"]?.int64 == Int64(refusal.status))
        #expect(problem["detail"]?.string?.isEmpty == false)
        #expect(try await server.answer() == before)
        #expect(try await server.counts() == ["refusal \(refusal.slug) 1"])
        await server.close()
    }

    @Test func `an expired signer is accepted while the store can still retry`() async throws {
        let server = try TestServer()
        func post(_ id: String, _ defect: TestStore.Defect = .shortLived) async throws -> String {
            let body = try Message.purchase(id).body(
                server.store,
                defect: defect,
                nestedDefect: defect
            )
            let response = try await server.post(body)
            let answer = try JSONDocument(response.body).root
            let slug = answer["type"]?.string?.split(separator: "/").last.map(String.init)
            return slug ?? answer["status"]?.string ?? "none"
        }
        // Two days after the certificate's end, but a repetition of a notification sent before it.
        server.set(Message.start + .days(5))
        #expect(try await post("n-1") == "committed")
        server.set(Message.start + .days(7) + .hours(1))
        #expect(try await post("n-2") == "signer-expired")
        #expect(try await post("n-1") == "duplicate")
        #expect(try await post("n-2", .none) == "committed")
        #expect(try await server.counts().contains("refusal signer-expired 1"))
        await server.close()
    }

    @Test func `an expired signer is accepted for a recent notification`() async throws {
        let server = try TestServer()
        server.set(Message.start + .days(7) + .hours(1))
        let late = Message.purchase("n-1", signed: Message.start + .days(2))
        let body = try late.body(server.store, defect: .shortLived, nestedDefect: .shortLived)
        #expect(try await server.post(body).status == 200)
        await server.close()
    }

    @Test func `a notification rejected for the clock is accepted when the store repeats it`()
        async throws
    {
        let server = try TestServer()
        server.set(Message.start - .hours(1))
        #expect(try await server.post(.purchase()).status == 503)
        server.set(Message.start + .seconds(1))
        #expect(try await server.post(.purchase()).status == 200)
        #expect(try await server.premium() == "active paid access")
        await server.close()
    }

    @Test func `many forged notifications are counted and not logged one by one`() async throws {
        let server = try TestServer()
        for _ in 0..<200 { _ = try await server.post(Array("{}".utf8)) }
        #expect(try await server.counts() == ["refusal missing-member 200"])
        #expect(server.logged.count == 6)
        #expect(server.logged.last?.contains("195 more") == true)
        _ = try await server.post(Array("{}".utf8))
        #expect(server.logged.count == 7)
        await server.close()
    }

    @Test func `a customer's id and signed data never reach the log`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        for refusal in Self.cases { _ = try await server.post(refusal.body(server.store)) }
        let asked = try await askEverything(server)
        for line in server.logged {
            for secret in [TestServer.anna, TestServer.ben, "eyJ", "2000000000000001"]
                + Self.canaries
            {
                #expect(!line.contains(secret))
            }
        }
        #expect(asked > 0 && server.logged.count > Self.cases.count)
        await server.close()
    }

    @Test func `a key appears only in the response that creates it, never in log or metrics`()
        async throws
    {
        let server = try TestServer()
        let made = try await server.send(
            "POST",
            "/v1/keys",
            body: Array(#"{"kind": "secret", "apps": ["cards"]}"#.utf8)
        )
        let answer = try JSONDocument(made.body).root
        let key = try #require(answer["key"]?.string)
        let revoked = APIKey(.public) { 7 }.text
        let keys = [key, revoked, TestServer.adminKey.text]
        var said: [String] = []
        let id = try #require(answer["id"]?.string)
        let targets =
            Self.targets(app: "cards", customer: "x", id: key)
            + Self.targets(app: "rehearsal", customer: "x", id: id) + ["/\(key)"]
        let bodies = [#"{"kind": "\#(key)"}"#, #"{"kind": "secret", "apps": ["\#(key)"]}"#, key]
        for target in targets {
            for method in ["GET", "POST", "DELETE"] {
                for presented in keys.flatMap({ ["Bearer \($0)", "Basic \($0)", "Bearer \($0)x"] })
                {
                    for body in bodies {
                        let response = try await server.ask(
                            method,
                            target,
                            headers: ["Authorization": presented],
                            body: Array(body.utf8)
                        )
                        said.append(String(decoding: response.body, as: UTF8.self))
                        said += response.headers.fields.map(\.value)
                    }
                }
            }
        }
        said += try await server.samples() + server.logged
        let secrets = keys.map { $0.suffix(43) }
        #expect(said.count > 1_000)
        for text in said { for secret in secrets { #expect(!text.contains(secret)) } }
        await server.close()
    }

    /// Returns a target for each template, with these values for its parameters.
    private static func targets(app: String, customer: String, id: String) -> [String] {
        Service.routes.map { route in
            route.template.replacing("{app}", with: app).replacing("{customer}", with: customer)
                .replacing("{id}", with: id)
        }
    }

    @Test func `a customer's id and text of a client never reach the metrics`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        for refusal in Self.cases { _ = try await server.post(refusal.body(server.store)) }
        _ = try await askEverything(server)
        for sample in try await server.samples() {
            for secret in [TestServer.anna, TestServer.ben, "eyJ"] + Self.canaries {
                #expect(!sample.contains(secret))
            }
        }
        await server.close()
    }

    private static let canaries = ["canary", "Canary", "CANARY"]

    /// Sends requests to every route, and to paths without one, with a canary in each part that a
    /// client controls. Returns the number of requests.
    private func askEverything(_ server: TestServer) async throws -> Int {
        let paths =
            Self.targets(app: "cards", customer: "canary-\(TestServer.ben)", id: "canary")
            + Self.targets(app: "canary", customer: TestServer.ben, id: "canary")
        let presented = ["Bearer canary", TestServer.credentials["Authorization"] ?? ""]
        var asked = 0
        for path in paths + ["/canary", "/v1/canary/\(TestServer.anna)", "//canary"] {
            for method in ["GET", "POST", "HEAD", "DELETE", "CANARY"] {
                for query in ["?environment=sandbox&token=canary", "?environment=canary", ""] {
                    for key in presented {
                        _ = try await server.ask(
                            method,
                            path + query,
                            headers: [
                                "Authorization": key, "X-Canary": "canary",
                                "X-Request-Id": "canary",
                            ],
                            body: Array("canary".utf8)
                        )
                        asked += 1
                    }
                }
            }
        }
        return asked
    }
}

/// The page of problems for operators.
@Suite struct ProblemPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "docs/problems.md")

    @Test(arguments: RefusalTests.cases)
    func `the page lists every rejection with its status`(refusal: RefusalTests.Case) throws {
        let lines = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "\n")
        #expect(
            lines.contains {
                $0.contains("`\(refusal.slug)`") && $0.contains("| \(refusal.status) |")
            }
        )
    }
}
