import Testing
import TideoverCommandLine
import TideoverJSON

@testable import tideover

/// Tests the printed answers of `explain` and `lookup`.
@Suite struct PrinterTests {
    private func node(_ text: String) throws -> JSONNode { try JSONDocument(Array(text.utf8)).root }

    private func explained(_ answer: JSONNode, showsEvidence: Bool = false) -> String {
        let output = Output(capturingAs: .plain)
        ExplanationPrinter(output, showsEvidence: showsEvidence).print(answer)
        return output.results.captured
    }

    @Test func `a report without rows has a sentence below its titles`() {
        for print in [RecoveryPrinter.print, ChurnPrinter.print, TrialPrinter.print] {
            let output = Output(capturingAs: .plain)
            print(["rows": []], output)
            #expect(output.results.captured.hasPrefix("app"))
            #expect(output.messages.captured.hasPrefix("tideover: no "))
        }
    }

    @Test func `entitlements without purchases share one line`() throws {
        let answer = try node(
            """
            { "customer": "u_42", "app": "cards", "environment": "production",
              "asOf": "2026-05-06T10:00:00.000Z", "entitlements": {
                "premium": { "decision": { "state": "active", "reason": "paid", "access": true },
                  "lineage": "appStore:1" },
                "themes": { "decision": { "state": "never", "reason": "notEntitled",
                  "access": false }, "lineage": "appStore:1" },
                "icons": { "decision": { "state": "never", "reason": "unknown", "access": false },
                  "lineage": null },
                "fonts": { "decision": { "state": "never", "reason": "unknownProduct",
                  "access": false }, "lineage": "appStore:2" } } }
            """
        )
        let printed = explained(answer)
        #expect(printed.contains("Never bought: themes, icons\n"))
        #expect(printed.contains("premium: access"))
        #expect(printed.contains("fonts: no access"))
        let all = explained(answer, showsEvidence: true)
        #expect(all.contains("themes: no access"))
        #expect(!all.contains("Never bought"))
    }

    @Test(arguments: [
        (#"[]"#, "null", "null", "unknown", true),
        (#"[]"#, "null", "null", "notEntitled", false),
        (#"[]"#, #""2026-05-01T10:00:00.000Z""#, "null", "unknown", false),
        (#"[]"#, "null", #""2026-05-01T10:00:00.000Z""#, "unknown", false),
        (#"[{ "lineage": "appStore:1" }]"#, "null", "null", "unknown", false),
    ])
    func `an id of which nothing is stored may be mistyped`(
        purchases: String,
        reconciledAt: String,
        asKnownAt: String,
        reason: String,
        isUnknown: Bool
    ) throws {
        let answer = try node(
            """
            { "customer": "u_42", "app": "cards", "environment": "production",
              "asOf": "2026-05-06T10:00:00.000Z", "asKnownAt": \(asKnownAt),
              "reconciledAt": \(reconciledAt), "purchases": \(purchases), "aliases": [],
              "drift": [], "entitlements": { "premium": { "lineage": null, "decision": {
                "state": "never", "reason": "\(reason)", "access": false,
                "confidence": "unknown" } } } }
            """
        )
        let printed = explained(answer)
        #expect(printed.contains("is stored for this id in production.") == isUnknown)
    }

    @Test(arguments: [
        ("tideover", false, true), ("tideover", true, false), ("appStore", false, false),
    ])
    func `beside access by hand that ended, the purchases of stores are printed`(
        store: String,
        access: Bool,
        printsOthers: Bool
    ) throws {
        let answer = try node(
            """
            { "entitlements": { "premium": {
                "decision": { "state": "expired", "reason": "ended", "access": \(access),
                  "store": "\(store)" },
                "lineage": { "store": "\(store)", "environment": "production", "id": "1",
                  "ownership": "purchased" },
                "others": [
                  { "lineage": { "store": "googlePlay", "environment": "production", "id": "2",
                      "ownership": "purchased" }, "owned": true, "state": "expired",
                    "reason": "billingError", "confidence": "confirmed", "why": "It expired." },
                  { "lineage": { "store": "tideover", "environment": "production", "id": "3",
                      "ownership": "purchased" }, "owned": true, "state": "expired",
                    "reason": "ended", "confidence": "confirmed", "why": "It ended." }
                ] } } }
            """
        )
        let printed = explained(answer)
        let line = "googlePlay:2: expired (billingError), confirmed. It expired."
        #expect(printed.contains(line) == printsOthers)
        #expect(!printed.contains("tideover:3"))
    }

    @Test func `a change in a store is printed in a line for each part`() throws {
        let answer = try node(
            """
            { "action": "extendAll", "detail": "cards.pro by 3 days", "outcome": "completed",
              "repeated": false, "answer": { "requestIdentifier": "985693ea" } }
            """
        )
        #expect(
            StoreActions.lines(answer) == [
                "extendAll all subscriptions cards.pro by 3 days: completed",
                "requestIdentifier: 985693ea",
            ]
        )
    }

    @Test(arguments: [
        (0, "0.00"), (9_990, "9.99"), (1_255, "1.26"), (1_254, "1.25"), (-1_255, "-1.26"),
        (6_666, "6.67"), (990_000, "990.00"), (999_995, "1000.00"), (70, "0.07"),
    ])
    func `an amount has two decimals, and a half is rounded up`(thousandths: Int64, text: String) {
        #expect(DecimalText.amount(thousandths: thousandths) == text)
    }

    @Test func `an explanation prints why a prompt waits and when one was shown`() throws {
        let answer = try node(
            """
            { "entitlements": {}, "prompt": { "kind": null, "heldBy": "interval",
              "heldUntil": "2026-05-04T10:00:00.000Z", "sentence": "The prompt waits.",
              "shown": [{ "id": "b", "kind": "soft", "shownAt": "2026-05-01T10:00:00.000Z" },
                        { "id": "a", "kind": "soft", "shownAt": "2026-04-28T10:00:00.000Z" }] } }
            """
        )
        let expected = """
            Prompt
              The prompt waits.
              The next one is due at 2026-05-04T10:00:00.000Z
              Last shown at 2026-05-01T10:00:00.000Z

            """
        #expect(explained(answer).contains(expected))
        let nothing = #"{ "prompt": { "kind": null, "heldBy": null, "shown": [] } }"#
        #expect(try !explained(node(nothing)).contains("Prompt"))
    }

    @Test func `a lookup without a result lists each store's answer`() throws {
        let stores = try node(
            """
            [{ "store": "googlePlay", "environment": null, "outcome": "noSuchOrder" },
             { "store": "appStore", "environment": "production", "outcome": "notConfigured" }]
            """
        )
        let output = Output(capturingAs: .plain)
        PurchasePrinter(output).asked(stores)
        #expect(
            output.messages.captured == """
                  Google Play: no such order
                  App Store, production: not asked: no key is configured; see `tideover doctor`

                """
        )
    }

    @Test func `unclaimed purchases of both stores fit in 80 columns`() throws {
        let purchases = try node(
            """
            [{ "purchasedAt": "2026-05-01T10:00:00.000Z", "price": "149.99 USD",
               "orderId": "GPA.0749-9186-1137-36392", "productId": "cards.pro",
               "lineage": "googlePlay:4b654077ce0d18d41a6bda0e78cea7f30c9536ecf09d0dcd251d14" },
             { "purchasedAt": "2026-05-01T11:00:00.000Z", "price": "0.00 USD",
               "transactionId": "304274566577086", "productId": "cards.pro.monthly",
               "lineage": "appStore:304274566577086" }]
            """
        )
        let output = Output(capturingAs: .plain)
        PurchasePrinter(output).table(purchases)
        #expect(
            output.results.captured == """
                bought (UTC)           price  order or transaction      product
                ----------------  ----------  ------------------------  -----------------
                2026-05-01 10:00  149.99 USD  GPA.0749-9186-1137-36392  cards.pro
                2026-05-01 11:00    0.00 USD  304274566577086           cards.pro.monthly

                """
        )
    }
}
