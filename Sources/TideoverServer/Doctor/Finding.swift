/// One thing that `tideover doctor` looked at: what it found, and what to do about it.
public struct Finding: Hashable, Sendable {
    /// How bad it is.
    public enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// As it should be.
        case ok
        /// The server works, but not as somebody will expect.
        case warning
        /// The server does not work, or soon will not.
        case problem
    }

    /// What is looked at, in the order in which it is told.
    public enum Check: String, Hashable, Sendable, CaseIterable {
        case configuration
        case products
        case publicURL = "public-url"
        case secretFile = "secret-file"
        case pass
        case allowedNetworks = "allowed-networks"
        case storage
        case replay
        case disk
        case clock
        case storeClock = "store-clock"
        case simulatedRoot = "simulated-root"
        case listen
        case clientAddresses = "client-addresses"
        case fileDescriptors = "file-descriptors"
        case roots = "tls-roots"
        case notificationURL = "notification-url"
        case pushSubscription = "push-subscription"
        case storeKey = "store-key"
        case storeBundle = "store-bundle"
        case testNotification = "test-notification"
        case silence
        case catalogue
        case basePlans = "base-plans"
        case billingGrace = "billing-grace"
        case accountHold = "account-hold"
    }

    /// What was looked at.
    public let check: Check
    /// Which one of several, such as an app's id or a file.
    public let subject: String?
    /// How bad it is.
    public let verdict: Verdict
    /// What was found, a sentence without its full stop.
    public let detail: String
    /// What to do, in sentences; nil if nothing need be done.
    public let advice: String?

    init(
        _ check: Check,
        of subject: String? = nil,
        _ verdict: Verdict,
        _ detail: String,
        advice: String? = nil
    ) {
        self.check = check
        self.subject = subject
        self.verdict = verdict
        self.detail = detail
        self.advice = advice
    }
}
