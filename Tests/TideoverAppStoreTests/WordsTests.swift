import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON

@Suite struct WordsTests {
    static let jsonError: JSONError? = {
        do throws(JSONError) {
            _ = try JSONDocument("secret")
            return nil
        } catch {
            return error
        }
    }()

    /// One refusal for each reason, with secrets in as many fields as possible.
    static let refusals: [AppStoreRefusal] =
        (jsonError.map { [.malformedJSON($0)] } ?? []) + [
            .missingMember("signedDate"), .malformed(field: "data.status"), .unrecognisedContent,
            .notANotification, .ambiguousContent(members: ["data", "summary"]),
            .wrongBundle(expected: "com.example", found: nil),
            .wrongApp(expected: 4_444, found: 5_555), .environmentNotVouchedFor(found: "Xcode"),
            .wrongEnvironment(accepted: [.production, .sandbox], found: .simulated),
            .nestedMismatch(
                part: .renewalInfo,
                field: "originalTransactionId",
                outer: "secret-1",
                inner: "secret-2"
            ),
        ]

    @Test func `every refusal has a code of its own`() {
        let codes = Self.refusals.map(\.code)
        #expect(
            codes == [
                "malformed-json", "missing-member", "malformed", "unrecognised-content",
                "not-a-notification", "ambiguous-content", "wrong-bundle", "wrong-app",
                "environment-not-vouched-for", "wrong-environment", "nested-mismatch",
            ]
        )
    }

    @Test(arguments: refusals)
    func `a refusal is one sentence and contains no ids`(refusal: AppStoreRefusal) {
        #expect(refusal.sentence.hasSuffix("."))
        #expect("\(refusal)" == refusal.sentence)
        for secret in ["secret", "4444", "5555"] {
            #expect(!refusal.sentence.contains(secret))
        }
    }

    @Test func `refusals name the bundle and the environment`() {
        let bundle = AppStoreRefusal.wrongBundle(expected: "com.a", found: "com.b")
        #expect(bundle.sentence == "This is for com.b, not for com.a.")
        let environment = AppStoreRefusal.nestedMismatch(
            part: .transaction,
            field: "environment",
            outer: "Production",
            inner: nil
        )
        #expect(
            environment.sentence
                == "The environment of signedTransactionInfo differs from the enclosing document:"
                + " none instead of Production."
        )
    }

    @Test(
        arguments: [
            .test, .unknownType("A"), .unknownContent("C"), .unknownOwnership("B"),
            .claimsEnvironment("Production", instead: .simulated),
            .incompleteTransaction(missing: ["type"]),
            .incompleteRenewalInfo(missing: ["signedDate"]),
            .renewalInfoAlone, .nothingTakenBack("REFUND"), .upgradedAway, .familyShared,
            .assigned, .extensionSummary(succeeded: 1, failed: nil), .externalPurchaseToken,
            .consentRescinded, .appTransaction,
        ] as [AppStoreNote]
    )
    func `a note is one sentence`(note: AppStoreNote) {
        #expect(note.sentence.hasSuffix("."))
        #expect("\(note)" == note.sentence)
    }
}
