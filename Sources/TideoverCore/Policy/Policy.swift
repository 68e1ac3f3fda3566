/// The operator's choices where the stores leave one.
///
/// Lengths are nominal: each is multiplied by the pace of the lineage it is applied to.
public struct Policy: Hashable, Sendable {
    public var billingRetry: BillingRetry
    /// How long a renewal may stay unannounced before access ends; at most a fifth of the term.
    public var renewalLeeway: Milliseconds
    /// How long what was there is kept past the last date a store stated, while it cannot be asked.
    public var unreachable: Milliseconds
    /// Whom purchases of an app's sandbox serve.
    public var sandbox: Sandbox
    /// The customers whom the operator names as testers.
    public var testers: [CustomerID]
    /// What happens when a customer claims a purchase that another one holds.
    public var transfer: Transfer
    /// How long before an end the customer is reminded of it.
    public var reminders: Reminders
    /// How seldom a customer in grace is asked to mend a payment.
    public var prompts: Prompts
    /// What a product that the catalogue lacks unlocks while it is paid for and runs.
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
        self.unknownProduct = unknownProduct
    }

    /// What happens to access while the store retries a payment outside grace.
    public enum BillingRetry: Hashable, Sendable {
        /// Access is suspended, as the App Store says.
        case suspend
        /// Access is kept for a while past the end of the term and its grace.
        case keep(Milliseconds)
    }

    /// Whom purchases of an app's sandbox serve.
    public enum Sandbox: String, Hashable, Sendable, CaseIterable {
        /// Customers whom the operator has named as testers.
        case testers
        /// Testers, and whoever reviews the app for a store.
        case review
        /// Nobody.
        case deny
    }

    /// What happens when a customer claims a purchase that another one holds.
    public enum Transfer: Hashable, Sendable {
        /// The claim is refused: only a purchase that nobody holds can be claimed, and only the
        /// store's signed account token moves one that somebody does.
        case claim
        /// It stays with whom it belonged to first, whatever is claimed or signed later.
        case keep
        /// It moves if nothing the holder has still gives access.
        case transferIfInactive
        /// It moves if it has not moved for this long.
        case transfer(coolDown: Milliseconds)
    }

    /// What a product that the catalogue lacks unlocks while it is paid for and runs.
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

    /// How seldom a customer whose access goes on is asked to mend a payment. Who is locked out is
    /// asked at once and every time.
    public struct Prompts: Hashable, Sendable {
        /// How long a payment has to be failing before anything is said: many recover by
        /// themselves within minutes.
        public var quiet: Milliseconds
        /// The least time between two prompts; zero is none.
        public var interval: Milliseconds
        /// How many prompts a day are shown at most, at least 1; nil is any number.
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
    /// Reads `suspend`, or `keep 7d` with a length over zero. Nil for anything else.
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

    /// The choice as configuration writes it.
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
    /// anything else.
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

    /// The choice as configuration writes it.
    public var text: String {
        switch self {
        case .claim: "claim"
        case .keep: "keep"
        case .transferIfInactive: "transferIfInactive"
        case .transfer(let coolDown): "transfer \(coolDown.text)"
        }
    }
}
