/// The operator's choices where the stores leave one.
///
/// Lengths are nominal: each is multiplied by the pace of the lineage it is applied to.
public struct Policy: Hashable, Sendable {
    public var billingRetry: BillingRetry
    /// How long a renewal may stay unreported before access ends; at most a fifth of the term.
    public var renewalLeeway: Milliseconds
    /// How long access is kept past the last date that a store stated, while the store is
    /// unreachable.
    public var unreachable: Milliseconds
    /// The customers that sandbox purchases of an app give access to.
    public var sandbox: Sandbox
    /// The customers that the operator lists as testers.
    public var testers: [CustomerID]
    /// The effect of a customer's claim to another customer's purchase.
    public var transfer: Transfer
    /// How long before an end the customer is reminded of it.
    public var reminders: Reminders
    /// The limits on prompts to a customer in grace.
    public var prompts: Prompts
    /// The messages that customers should be shown or sent.
    public var plan: Plan
    /// Comparisons of ways to ask customers for failed payments.
    public var experiments: [Experiment]
    /// The entitlements of a paid and running product that the catalogue lacks.
    public var unknownProduct: UnknownProduct

    public init(
        billingRetry: BillingRetry = .suspend,
        renewalLeeway: Milliseconds = .hours(24),
        unreachable: Milliseconds = .hours(24),
        sandbox: Sandbox = .testers,
        testers: [CustomerID] = [],
        transfer: Transfer = .claim,
        reminders: Reminders = Reminders(),
        prompts: Prompts = Prompts(),
        plan: Plan = Plan(),
        experiments: [Experiment] = [],
        unknownProduct: UnknownProduct = .deny
    ) {
        self.billingRetry = billingRetry
        self.renewalLeeway = renewalLeeway
        self.unreachable = unreachable
        self.sandbox = sandbox
        self.testers = testers
        self.transfer = transfer
        self.reminders = reminders
        self.prompts = prompts
        self.plan = plan
        self.experiments = experiments
        self.unknownProduct = unknownProduct
    }

    /// The access while the store retries a payment outside grace.
    public enum BillingRetry: Hashable, Sendable {
        /// Access is suspended, as the App Store does.
        case suspend
        /// Access is kept for a time past the end of the term and its grace.
        case keep(Milliseconds)
    }

    /// The customers that sandbox purchases of an app give access to.
    public enum Sandbox: String, Hashable, Sendable, CaseIterable {
        /// Customers that the operator lists as testers.
        case testers
        /// Testers, and the stores' app reviewers.
        case review
        /// No customer.
        case deny
    }

    /// The effect of a customer's claim to another customer's purchase.
    public enum Transfer: Hashable, Sendable {
        /// The claim is refused. Only an unowned purchase can be claimed. Only the store's signed
        /// account token moves an owned one.
        case claim
        /// It stays with its first owner, whatever is claimed or signed later.
        case keep
        /// It moves if the owner has no access, by this purchase or by others.
        case transferIfInactive
        /// It moves if it has not moved for this long.
        case transfer(coolDown: Milliseconds)
    }

    /// The entitlements of a paid and running product that the catalogue lacks.
    public enum UnknownProduct: Hashable, Sendable {
        case deny
        /// Every entitlement of the catalogue.
        case allowAll
        /// These entitlements.
        case allow([String])

        func unlocks(_ entitlement: String) -> Bool {
            switch self {
            case .deny: false
            case .allowAll: true
            case .allow(let names): names.contains(entitlement)
            }
        }
    }

    /// How long before an end the customer is reminded of it.
    public struct Reminders: Hashable, Sendable {
        public var trialEnding: Milliseconds
        public var graceEnding: Milliseconds

        public init(
            trialEnding: Milliseconds = .hours(48),
            graceEnding: Milliseconds = .days(3)
        ) {
            self.trialEnding = trialEnding
            self.graceEnding = graceEnding
        }
    }

    /// The messages that customers should be shown or sent, each with its channel. Without any
    /// there is no plan.
    public struct Plan: Hashable, Sendable {
        public var channels: [PlannedMessage.Kind: PlannedMessage.Channel]

        public init(_ channels: [PlannedMessage.Kind: PlannedMessage.Channel] = [:]) {
            self.channels = channels
        }
    }

    /// The limits on prompts to a customer with a failed payment and access. A locked-out customer
    /// is prompted at once and every time.
    public struct Prompts: Hashable, Sendable {
        /// How long a payment must be failing before the first prompt. Many recover within minutes.
        public var quiet: Milliseconds
        /// The shortest time between two prompts; zero for no limit.
        public var interval: Milliseconds
        /// The largest number of prompts a day, at least 1; nil for no limit.
        public var perDay: Int64?

        public init(
            quiet: Milliseconds = .zero,
            interval: Milliseconds = .zero,
            perDay: Int64? = nil
        ) {
            self.quiet = quiet
            self.interval = interval
            self.perDay = perDay
        }
    }
}

extension Policy.BillingRetry {
    /// Reads `suspend`, or `keep 7d` with a length over zero. Nil for any other text.
    public init?(text: String) {
        if text == "suspend" {
            self = .suspend
            return
        }
        guard text.hasPrefix("keep "), let length = Milliseconds(text: text.dropFirst(5)),
            length > .zero
        else { return nil }
        self = .keep(length)
    }

    /// The choice in configuration syntax.
    public var text: String {
        switch self {
        case .suspend: "suspend"
        case .keep(let length): "keep \(length.text)"
        }
    }
}

extension Policy.UnknownProduct {
    /// Reads `["deny"]`, `["allow-all"]` or the names of entitlements.
    public init(words: [String]) {
        switch words {
        case ["deny"]: self = .deny
        case ["allow-all"]: self = .allowAll
        default: self = .allow(words)
        }
    }
}

extension Policy.Transfer {
    /// Reads `claim`, `keep`, `transferIfInactive`, or `transfer 30d` with the cool-down. Nil for
    /// any other text.
    public init?(text: String) {
        switch text {
        case "claim": self = .claim
        case "keep": self = .keep
        case "transferIfInactive": self = .transferIfInactive
        default:
            guard text.hasPrefix("transfer "), let length = Milliseconds(text: text.dropFirst(9))
            else { return nil }
            self = .transfer(coolDown: length)
        }
    }

    /// The choice in configuration syntax.
    public var text: String {
        switch self {
        case .claim: "claim"
        case .keep: "keep"
        case .transferIfInactive: "transferIfInactive"
        case .transfer(let coolDown): "transfer \(coolDown.text)"
        }
    }
}
