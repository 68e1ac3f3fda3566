/// Whether an app's sandbox answers for a customer where production is asked about.
///
/// Builds that are tested or reviewed before a release buy in the store's sandbox, though they ask the
/// production server. Environments are never mixed: either the whole answer is of production, or all of
/// it is of the sandbox and says so.
public enum SandboxRuling: String, Hashable, Sendable, CaseIterable {
    /// Nothing bought in the sandbox gives access.
    case noPurchase
    /// Production gives access, and so it answers.
    case productionServes
    /// The sandbox answers: the customer is named as a tester.
    case tester
    /// The sandbox answers: it is open for review, and nothing was ever bought in production.
    case review
    /// Policy lets the sandbox serve nobody.
    case denied
    /// Policy lets it serve testers, and the customer is not named as one.
    case notTester
    /// It is open for review, but whoever has bought in production reviews nothing.
    case knownCustomer

    /// What the answers of the two environments say of a customer.
    public struct Reading: Hashable, Sendable {
        /// Whether production gives access to anything.
        public var productionGivesAccess: Bool
        /// Whether anything was ever bought or granted in production.
        public var isKnownInProduction: Bool
        /// Whether the sandbox gives access to anything.
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

    /// Rules for a customer who goes by these ids.
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

    /// The ruling in a sentence.
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
            "A purchase of the sandbox would give access, but the policy lets it serve nobody."
        case .notTester:
            "A purchase of the sandbox would give access, but the customer is not named as a tester."
        case .knownCustomer:
            "A purchase of the sandbox would give access, but the customer has bought in production "
                + "and is not named as a tester."
        }
    }
}
