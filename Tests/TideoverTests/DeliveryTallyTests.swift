import Testing
import TideoverHTTP
import TideoverSandbox

@testable import tideover

/// The advice about a back end that refuses everything, or cannot be compared.
@Suite struct DeliveryTallyTests {
    /// Plays one subscriber of the App Store for two renewals.
    private func tally(
        access: String? = nil,
        _ handler: @escaping Handler
    ) async throws -> DeliveryTally {
        let scenario = try Scenario(
            reading: Array(
                """
                { scenario: "A case", source: "a page",
                  app: { id: "cards", bundleId: "com.example.cards" },
                  products: { "cards.pro": { entitlements: ["premium"], group: "pro",
                              period: "P1M", price: "9.99 USD" } },
                  customers: { anna: {} }, start: "2026-05-01T10:00:00Z",
                  steps: [{ do: "subscribe" },
                          { at: "2026-07-20T10:00:00Z", expect: { premium: { access: true } } }] }
                """.utf8
            )
        )
        var backEnd = ForeignBackEnd(handler: handler, deliverPath: "/in", readPath: "/who")
        backEnd.access = access.flatMap(AccessPlace.init)
        let report = try await ScenarioRunner(
            target: backEnd.target(for: scenario),
            authority: SandboxAuthority()
        ).run(scenario)
        var tally = DeliveryTally()
        tally.add(report)
        return tally
    }

    private func answer(_ text: String) -> Handler {
        { _ in Response(body: Array(text.utf8)) }
    }

    @Test func `a back end that refuses everything is reported with the options to check`()
        async throws
    {
        let tally = try await tally { _ in Response(status: 404) }
        #expect(tally.refusesAll(of: .appStore))
        #expect(!tally.refusesAll(of: .googlePlay))
        #expect(tally.advice(on: .googlePlay) == nil)
        let advice = try #require(tally.advice(on: .appStore))
        #expect(advice.hasPrefix("the back end accepted none of "))
        #expect(advice.contains("the last was answered with 404\nCheck --target and --deliver"))
        let answers = try #require(tally.advice(onAnswersAt: nil))
        #expect(answers.hasPrefix("nothing was compared: none of "))
        #expect(answers.contains("the last was answered with 404\nCheck --read-back"))
    }

    @Test func `answers that cannot be compared are reported with --access`() async throws {
        let foreign = answer(#"{"premium": true}"#)
        let unnamed = try await tally(foreign)
        #expect(!unnamed.refusesAll(of: .appStore))
        #expect(unnamed.advice(on: .appStore) == nil)
        let advice = try #require(unnamed.advice(onAnswersAt: nil))
        #expect(advice.contains("not in Tideover's format\nName the member"))
        let misnamed = try await tally(access: "rights.active", foreign)
        let other = try #require(misnamed.advice(onAnswersAt: "rights.active"))
        #expect(other.contains("no answer has the member rights.active"))
        let named = try await tally(access: "premium", foreign)
        #expect(named.advice(onAnswersAt: "premium") == nil)
        let ours = try await tally(answer(#"{"entitlements": {"premium": {"access": true}}}"#))
        #expect(ours.advice(onAnswersAt: nil) == nil)
    }
}
