/// One check of `tideover doctor`: what it found, and how to fix it.
package struct Finding: Hashable, Sendable {
    /// The severity of a finding.
    package enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// No problem.
        case ok
        /// The server works, but not as expected.
        case warning
        /// The server does not work, or will soon stop working.
        case problem
    }

    /// The checks, in the order of the report.
    package enum Check: String, Hashable, Sendable, CaseIterable {
        case configuration
        case products
        case publicURL = "public-url"
        case secretFile = "secret-file"
        case pass
        case allowedNetworks = "allowed-networks"
        case storage
        case servers
        case replay
        case disk
        case clock
        case storeClock = "store-clock"
        case simulatedRoot = "simulated-root"
        case listen
        case clientAddresses = "client-addresses"
        case revocation
        case workers
        case capacity
        case fileDescriptors = "file-descriptors"
        case roots = "tls-roots"
        case notificationURL = "notification-url"
        case pushSubscription = "push-subscription"
        case storeKey = "store-key"
        case storeBundle = "store-bundle"
        case testNotification = "test-notification"
        case silence
        case webhook
        case catalogue
        case basePlans = "base-plans"
        case billingGrace = "billing-grace"
        case accountHold = "account-hold"
        case offerings
        case entitlements
        case sdkRequests = "sdk-requests"
    }

    /// The check.
    package let check: Check
    /// The subject among several, such as an app's id or a file.
    package let subject: String?
    /// The severity.
    package let verdict: Verdict
    /// The result, a sentence without its full stop.
    package let detail: String
    /// How to fix it, in sentences; nil if no action is needed.
    package let advice: String?

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

    /// Returns a number and its noun, in the plural unless the number is 1.
    static func counted(_ count: some BinaryInteger, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
