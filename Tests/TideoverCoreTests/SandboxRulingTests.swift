import Testing
import TideoverCore

/// When the sandbox answers a production query.
@Suite struct SandboxRulingTests {
    private static let anna = CustomerID("anna")

    private func ruling(
        _ sandbox: Policy.Sandbox,
        for customer: String = "ben",
        production: Bool = false,
        known: Bool = false,
        gives: Bool = true
    ) -> SandboxRuling {
        let testers = [Self.anna].compactMap(\.self)
        return SandboxRuling(
            Policy(sandbox: sandbox, testers: testers),
            for: [CustomerID(customer)].compactMap(\.self),
            SandboxRuling.Reading(
                productionGivesAccess: production,
                isKnownInProduction: known,
                sandboxGivesAccess: gives
            )
        )
    }

    @Test(arguments: [
        (Policy.Sandbox.testers, "anna", SandboxRuling.tester), (.testers, "ben", .notTester),
        (.review, "anna", .tester), (.review, "ben", .review),
        (.deny, "anna", .denied), (.deny, "ben", .denied),
    ])
    func `the policy decides whom the sandbox serves`(
        _ policy: Policy.Sandbox,
        _ customer: String,
        _ expected: SandboxRuling
    ) {
        #expect(ruling(policy, for: customer) == expected)
        #expect(expected.sandboxAnswers == [.tester, .review].contains(expected))
    }

    @Test func `a customer with production purchases is no reviewer and can be a tester`() {
        #expect(ruling(.review, known: true) == .knownCustomer)
        #expect(ruling(.review, for: "anna", known: true) == .tester)
        #expect(ruling(.testers, for: "anna", known: true) == .tester)
    }

    @Test func `production answers if it gives access, and the sandbox only if it does`() {
        for policy in Policy.Sandbox.allCases {
            #expect(ruling(policy, for: "anna", production: true) == .productionServes)
            #expect(ruling(policy, for: "anna", gives: false) == .noPurchase)
        }
    }
}
