/// The decision whether an app's sandbox answers a production query for a customer.
///
/// Builds under test or review before a release buy in the store's sandbox, but query the
/// production server. Environments are never mixed. The whole answer is from production, or all of
/// it is from the sandbox and is marked as such.
public enum SandboxRuling: String, Hashable, Sendable, CaseIterable {
    /// No sandbox purchase gives access.
    case noPurchase
    /// Production gives access, so it answers.
    case productionServes
    /// The sandbox answers: the customer is listed as a tester.
    case tester
    /// The sandbox answers: it is open for review, and the customer never bought in production.
    case review
    /// Policy lets the sandbox serve no one.
    case denied
    /// Policy lets it serve testers, and the customer is not listed as one.
    case notTester
    /// It is open for review, but a customer with a production purchase is not a reviewer.
    case knownCustomer

    /// The state of a customer in the two environments.
    public struct Reading: Hashable, Sendable {
        /// Whether production gives access to any entitlement.
        public var productionGivesAccess: Bool
        /// Whether any production purchase or grant was ever recorded.
        public var isKnownInProduction: Bool
        /// Whether the sandbox gives access to any entitlement.
        public var sandboxGivesAccess: Bool

        public init(
            productionGivesAccess: Bool,
            isKnownInProduction: Bool,
            sandboxGivesAccess: Bool
        ) {
            self.productionGivesAccess = productionGivesAccess
            self.isKnownInProduction = isKnownInProduction
            self.sandboxGivesAccess = sandboxGivesAccess
        }
    }

    /// Decides for a customer with these IDs.
    public init(_ policy: Policy, for ids: [CustomerID], _ reading: Reading) {
        if !reading.sandboxGivesAccess {
            self = .noPurchase
        } else if reading.productionGivesAccess {
            self = .productionServes
        } else if policy.sandbox == .deny {
            self = .denied
        } else if ids.contains(where: policy.testers.contains) {
            self = .tester
        } else if policy.sandbox == .testers {
            self = .notTester
        } else {
            self = reading.isKnownInProduction ? .knownCustomer : .review
        }
    }

    /// Whether the sandbox answers.
    public var sandboxAnswers: Bool { self == .tester || self == .review }

    /// The decision as a sentence.
    public var sentence: String {
        switch self {
        case .noPurchase: "Nothing bought in the sandbox gives access."
        case .productionServes: "Production gives access, so that the sandbox is not asked."
        case .tester:
            "The customer is named as a tester, and a purchase of the sandbox gives access."
        case .review:
            "The policy opens the sandbox for review, nothing was ever bought in production, and a "
                + "purchase of the sandbox gives access."
        case .denied:
            "A sandbox purchase would give access, but the policy accepts none in production."
        case .notTester:
            "A purchase of the sandbox would give access, but the customer is not named as a tester."
        case .knownCustomer:
            "A purchase of the sandbox would give access, but the customer has bought in production "
                + "and is not named as a tester."
        }
    }
}
