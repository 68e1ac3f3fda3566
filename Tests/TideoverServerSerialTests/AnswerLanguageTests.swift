import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverStorage

@testable import TideoverTestServer

/// Answers in the language that a request accepts.
@Suite struct AnswerLanguageTests {
    private static let path = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"

    /// Creates a customer in grace.
    private func server(
        _ texts: [String: [MessageText]] = [:],
        policy: Policy = Policy(),
        arms: [ArmName: [String: [MessageText]]] = [:]
    ) async throws -> TestServer {
        let server = try TestServer(
            policy: policy,
            languages: AnswerLanguages(texts, arms: arms)
        )
        _ = try await server.post(.purchase())
        var failure = Message.purchase("n-2", signed: Message.end)
        failure.fail(graceUntil: Message.end + .days(16))
        server.set(Message.end + .seconds(5))
        _ = try await server.post(failure)
        return server
    }

    private func get(_ server: TestServer, _ language: String?) async throws -> Response {
        try await server.get(Self.path, headers: language.map { ["Accept-Language": $0] } ?? [:])
    }

    private func title(_ response: Response) throws -> String? {
        try JSONDocument(response.body).root["prompt"]?["title"]?.string
    }

    @Test func `an answer has the language that the request accepts`() async throws {
        let server = try await server()
        for (language, tag, title) in [
            (nil, nil, "There was a problem with your payment"),
            ("en-GB", nil, "There was a problem with your payment"),
            ("sv", nil, "There was a problem with your payment"),
            ("de-CH, en;q=0.5", "de", "Es gab ein Problem mit Ihrer Zahlung"),
            ("ja", "ja", "お支払いに問題がありました"),
        ] as [(String?, String?, String)] {
            let response = try await get(server, language)
            #expect(try self.title(response) == title)
            #expect(response.headers["Content-Language"] == tag)
            #expect(response.headers["Vary"] == "Accept-Language")
        }
        await server.close()
    }

    @Test func `only the texts differ between languages`() async throws {
        let server = try await server()
        func withoutTexts(_ response: Response) throws -> String {
            String(decoding: response.body, as: UTF8.self)
                .replacing(/"(title|message|label)":("[^"]*"|null)/) { "\"\($0.1)\":" }
        }
        let english = try withoutTexts(try await get(server, nil))
        #expect(try withoutTexts(try await get(server, "fr")) == english)
        await server.close()
    }

    @Test func `a tag holds for its language alone`() async throws {
        let server = try await server()
        let tag = try #require(try await get(server, "de").headers["ETag"])
        func status(_ language: String?) async throws -> Int {
            var headers: Headers = ["If-None-Match": tag]
            headers["Accept-Language"] = language
            return try await server.get(Self.path, headers: headers).status
        }
        #expect(try await status("de") == 304)
        #expect(try await status("de-AT") == 304)
        #expect(try await status("fr") == 200)
        #expect(try await status(nil) == 200)
        await server.close()
    }

    @Test func `a reconcile is answered in the device's language`() async throws {
        let server = try await server()
        let path = "/v1/apps/cards/customers/\(TestServer.anna)/reconcile?environment=sandbox"
        let response = try await server.send(
            "POST",
            path,
            headers: ["Accept-Language": "es"],
            body: Array("{}".utf8)
        )
        #expect(try title(response) == "Hubo un problema con tu pago")
        #expect(response.headers["Content-Language"] == "es")
        await server.close()
    }

    @Test func `an operator's texts replace the built-in ones, in English too`() async throws {
        let own = MessageText(.grace, "Card trouble", "Please act by {until}.", label: "Fix")
        let server = try await server(["en": [own]])
        let response = try await get(server, nil)
        let prompt = try JSONDocument(response.body).root["prompt"]
        #expect(prompt?["title"]?.string == "Card trouble")
        #expect(prompt?["message"]?.string == "Please act by 17 June 2026.")
        #expect(prompt?["action"]?["label"]?.string == "Fix")
        #expect(response.headers["Content-Language"] == "en")
        // Another text is another answer.
        let tag = try #require(response.headers["ETag"])
        let plain = try await self.server()
        #expect(try await plain.get(Self.path, headers: ["If-None-Match": tag]).status == 200)
        await server.close()
        await plain.close()
    }

    // MARK: Texts of an arm

    /// An experiment in which every customer has the arm `kind`.
    private static let policy = Policy(
        plan: Policy.Plan([.graceEntered: .message, .holdEntered: .message]),
        experiments: [
            Experiment(
                id: "words",
                entitlement: "premium",
                start: Message.start,
                arms: [.init("plain", weight: 0), .init("kind")]
            )
        ]
    )
    private static let kind = ArmName(experiment: "words", arm: "kind")
    private static let english = MessageText(.grace, "Please", "By {until}.", label: "Fix")
    private static let german = MessageText(.grace, "Bitte", "Bis {until}.", label: "Los")

    @Test func `a prompt has the texts of its arm in each language that has some`() async throws {
        let server = try await server(
            ["de": [MessageText(.grace, "Karte", "Bis {until}!", label: "Weiter")]],
            policy: Self.policy,
            arms: [Self.kind: ["de": [Self.german]]]
        )
        let response = try await get(server, "de")
        let answer = try JSONDocument(response.body).root
        #expect(answer["prompt"]?["experiment"]?["arm"]?.string == "kind")
        #expect(answer["prompt"]?["title"]?.string == "Bitte")
        #expect(answer["prompt"]?["message"]?.string == "Bis 17. Juni 2026.")
        #expect(answer["prompt"]?["action"]?["label"]?.string == "Los")
        // The words of an entitlement are those of the app.
        let words = answer["entitlements"]?["premium"]?["words"]
        #expect(words?["title"]?.string == "Karte")
        let title = "There was a problem with your payment"
        #expect(try self.title(try await get(server, "en")) == title)
        await server.close()
    }

    @Test func `an arm without texts has those of the app, and another tag than with them`()
        async throws
    {
        let other = ArmName(experiment: "words", arm: "plain")
        let server = try await server(
            policy: Self.policy,
            arms: [other: ["de": [Self.german]]]
        )
        let response = try await get(server, "de")
        #expect(try title(response) == "Es gab ein Problem mit Ihrer Zahlung")
        let tag = try #require(response.headers["ETag"])
        let own = try await self.server(
            policy: Self.policy,
            arms: [Self.kind: ["de": [Self.german]]]
        )
        let headers: Headers = ["Accept-Language": "de", "If-None-Match": tag]
        #expect(try await own.get(Self.path, headers: headers).status == 200)
        await server.close()
        await own.close()
    }

    @Test func `a planned message that is due has the English texts of its arm`() async throws {
        let server = try await server(
            policy: Self.policy,
            arms: [Self.kind: ["en": [Self.english], "de": [Self.german]]]
        )
        let event = try #require(try server.events().last { $0.event.kind == "message_due" })
        let body = try JSONDocument(event.event.body).root
        #expect(body["about"]?.string == "graceEntered")
        #expect(body["title"]?.string == "Please")
        #expect(body["message"]?.string == "By 17 June 2026.")
        #expect(body["label"]?.string == "Fix")
        await server.close()
    }
}
