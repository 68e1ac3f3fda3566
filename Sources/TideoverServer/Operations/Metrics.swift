import TideoverCore
import TideoverLocks
import TideoverStorage

/// A counter with its labels: each series of a family has one value for each label.
///
/// Label values come from known lists: routes, codes, configured apps. Values that a client or a
/// store chooses are never labels, so the number of series is bounded.
struct CounterFamily: Hashable, Sendable {
    let name: String
    let help: String
    let labels: [String]

    /// The name identifies a family.
    static func == (a: CounterFamily, b: CounterFamily) -> Bool { a.name == b.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }

    static let requests = CounterFamily(
        name: "tideover_http_requests_total",
        help: "Requests answered, by route template, method and class of status.",
        labels: ["route", "method", "status"]
    )
    static let notifications = CounterFamily(
        name: "tideover_notifications_total",
        help: "Store notifications by outcome: committed, duplicate, refused, or failed by us.",
        labels: ["app", "outcome"]
    )
    static let refusals = CounterFamily(
        name: "tideover_notification_refusals_total",
        help: "Store notifications refused, by the code of the problem.",
        labels: ["app", "code"]
    )
    static let unrecognisedWords = CounterFamily(
        name: "tideover_unrecognised_words_total",
        help: "Store values that this version does not recognise, by field.",
        labels: ["app", "field"]
    )
    static let unknownProducts = CounterFamily(
        name: "tideover_unknown_products_total",
        help: "Terms of products that the catalogue does not contain.",
        labels: ["app"]
    )
    static let deviceItems = CounterFamily(
        name: "tideover_device_items_total",
        help:
            "Items of device evidence: committed, already known, refused, unasked or failed.",
        labels: ["app", "outcome"]
    )
    static let ownershipClaims = CounterFamily(
        name: "tideover_ownership_claims_total",
        help: "Customers' claims to purchases, by outcome.",
        labels: ["app", "ruling"]
    )
    static let drift = CounterFamily(
        name: "tideover_drift_total",
        help: "Differences found between what a device saw and what we answered.",
        labels: ["app", "direction", "cause"]
    )
    static let lockoutTime = CounterFamily(
        name: "tideover_lockout_seconds_total",
        help: "Time, as it becomes known, in which we denied access that the store gave.",
        labels: ["app", "cause"]
    )
    static let sandboxAnswers = CounterFamily(
        name: "tideover_sandbox_answers_total",
        help: "Questions about production that the sandbox answered, by the policy's ruling.",
        labels: ["app", "ruling"]
    )
    static let replicaReads = CounterFamily(
        name: "tideover_replica_reads_total",
        help: "Reads of a customer's answer, by who answered: the replica or the database.",
        labels: ["from"]
    )
    static let sdkUnsupported = CounterFamily(
        name: "tideover_revenuecat_sdk_unsupported_total",
        help: "Requests of RevenueCat's SDKs that the server may not understand, by reason.",
        labels: ["app", "reason"]
    )
    static let commits = CounterFamily(
        name: "tideover_storage_commits_total",
        help: "Commits requested from the storage, by outcome.",
        labels: ["outcome"]
    )
    static let largeDerivations = CounterFamily(
        name: "tideover_large_derivations_total",
        help: "Answers derived from more than 20,000 purchases of one customer.",
        labels: ["app"]
    )
    static let storageFailures = CounterFamily(
        name: "tideover_storage_failures_total",
        help: "Reads and writes that the storage failed, by reason.",
        labels: ["reason"]
    )

    static let untrustedForwarding = CounterFamily(
        name: "tideover_untrusted_forwarding_total",
        help: "Requests with X-Forwarded-For from a peer that is not a trusted proxy.",
        labels: []
    )
    static let unheardReports = CounterFamily(
        name: "tideover_device_reports_dropped_total",
        help: "Device reports not stored: too many from one address or customer.",
        labels: ["app"]
    )
    static let keyRefusals = CounterFamily(
        name: "tideover_key_refusals_total",
        help: "Requests refused for the key they present or lack, by the code of the problem.",
        labels: ["code"]
    )

    static let deadlineBatches = CounterFamily(
        name: "tideover_deadline_batches_total",
        help: "Batches of customers with answers that fell due, by outcome.",
        labels: ["outcome"]
    )
    static let deadlineEvents = CounterFamily(
        name: "tideover_deadline_events_total",
        help: "Events raised because time passed, by kind.",
        labels: ["app", "kind"]
    )

    static let backfills = CounterFamily(
        name: "tideover_backfills_total",
        help: "Runs that requested missing data from a store, by outcome.",
        labels: ["app", "environment", "outcome"]
    )
    static let backfillItems = CounterFamily(
        name: "tideover_backfill_items_total",
        help: "Signed items in store responses, by step: committed, already known, or refused.",
        labels: ["app", "step", "outcome"]
    )
    static let storeRequests = CounterFamily(
        name: "tideover_store_requests_total",
        help: "Requests to a store's API by operation and outcome.",
        labels: ["app", "operation", "outcome"]
    )

    static let storeActions = CounterFamily(
        name: "tideover_store_actions_total",
        help: "Changes of purchases requested from a store, by action and outcome.",
        labels: ["app", "action", "outcome"]
    )

    static let pruned = CounterFamily(
        name: "tideover_pruned_rows_total",
        help: "Rows removed because they are older than `retention` keeps them, by kind.",
        labels: ["app", "kind"]
    )

    static let storeClockSkews = CounterFamily(
        name: "tideover_store_clock_skews_total",
        help: "Responses of Google Play dated more than five minutes from our clock.",
        labels: ["app"]
    )

    static let silences = CounterFamily(
        name: "tideover_silences_total",
        help:
            "Queries to a silent store, by what it had: missed, nothing, or unknown.",
        labels: ["app", "environment", "found"]
    )

    static let webhookAttempts = CounterFamily(
        name: "tideover_webhook_attempts_total",
        help: "Attempts to deliver an event to a webhook, by outcome.",
        labels: ["app", "outcome"]
    )
    static let webhookAlarms = CounterFamily(
        name: "tideover_webhook_alarms_total",
        help: "Webhooks that keep failing or were disabled by the server.",
        labels: ["app", "kind"]
    )

    static let revocationChecks = CounterFamily(
        name: "tideover_revocation_checks_total",
        help: "Requests to OCSP responders about signing certificates, by outcome.",
        labels: ["outcome"]
    )

    static let workerRestarts = CounterFamily(
        name: "tideover_worker_restarts_total",
        help: "Workers of the server that failed and were started again, by kind.",
        labels: ["worker"]
    )

    static let all = [
        requests, untrustedForwarding, unheardReports, keyRefusals, notifications, refusals,
        unrecognisedWords,
        unknownProducts,
        deviceItems, ownershipClaims, drift, lockoutTime, sandboxAnswers,
        replicaReads, sdkUnsupported, commits,
        largeDerivations, storageFailures, deadlineBatches, deadlineEvents, backfills,
        backfillItems, storeRequests, storeActions,
        storeClockSkews, silences, pruned, webhookAttempts, webhookAlarms,
        revocationChecks, workerRestarts,
    ]
}

/// A distribution of durations in fixed buckets.
struct Histogram: Hashable, Sendable {
    /// The upper bounds in nanoseconds, and their text in seconds.
    static let bounds: [(nanoseconds: Int64, text: String)] = [
        (100_000, "0.0001"), (500_000, "0.0005"), (1_000_000, "0.001"), (2_500_000, "0.0025"),
        (5_000_000, "0.005"), (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"),
        (100_000_000, "0.1"), (250_000_000, "0.25"), (1_000_000_000, "1"), (5_000_000_000, "5"),
    ]

    /// One count for each bound, and one for larger values.
    private(set) var buckets = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var nanoseconds: Int64 = 0

    var count: Int { buckets.reduce(0, +) }

    mutating func add(nanoseconds: Int64) {
        let bucket = Self.bounds.firstIndex { nanoseconds <= $0.nanoseconds } ?? Self.bounds.count
        buckets[bucket] += 1
        self.nanoseconds += nanoseconds
    }
}

/// The counters since the process started.
final class Metrics: Sendable {
    struct Reading: Sendable {
        /// The counts by family, then by label values.
        var counters: [CounterFamily: [[String]: Int]] = [:]
        /// The durations by route template.
        var requestDurations: [String: Histogram] = [:]
        var commitDurations = Histogram()
    }

    private let state = Locked(Reading())

    var reading: Reading { state.withLock { $0 } }

    func count(_ family: CounterFamily, _ labels: String..., by count: Int = 1) {
        precondition(labels.count == family.labels.count, "a series has a value for each label")
        state.withLock { $0.counters[family, default: [:]][labels, default: 0] += count }
    }

    func answered(_ call: Call, status: Int, nanoseconds: Int64) {
        count(.requests, call.template, call.method, "\(status / 100)xx")
        state.withLock {
            $0.requestDurations[call.template, default: Histogram()].add(nanoseconds: nanoseconds)
        }
    }

    func committed(_ outcome: String, nanoseconds: Int64) {
        count(.commits, outcome)
        state.withLock { $0.commitDurations.add(nanoseconds: nanoseconds) }
    }

    /// Initialises known series to zero, so that the first event is an increase.
    func expect(_ app: App) {
        for outcome in ["committed", "duplicate", "refused", "failed"] {
            count(.notifications, app.id, outcome, by: 0)
        }
        count(.largeDerivations, app.id, by: 0)
        for outcome in ["committed", "known", "refused", "failed"] {
            count(.deviceItems, app.id, outcome, by: 0)
        }
        for ruling in ["held", "claimed", "transferred"] {
            count(.ownershipClaims, app.id, ruling, by: 0)
        }
        for direction in Drift.Direction.allCases {
            for cause in [Drift.Cause.staleDeviceCache, .missedNotification] {
                count(.drift, app.id, direction.rawValue, cause.rawValue, by: 0)
            }
        }
        for outcome in [AuditEntry.StoreChange.Outcome.completed, .missed] {
            let action = StoreAction.Kind.consumption.rawValue
            count(.storeActions, app.id, action, outcome.rawValue, by: 0)
        }
        for outcome in ["delivered", "failed", "gone", "abandoned"] {
            count(.webhookAttempts, app.id, outcome, by: 0)
        }
        for kind in ["failing", "disabled"] { count(.webhookAlarms, app.id, kind, by: 0) }
        for cause in Lockouts.Cause.allCases {
            count(.lockoutTime, app.id, cause.rawValue, by: 0)
        }
        for ruling in SandboxRuling.allCases where ruling.sandboxAnswers {
            count(.sandboxAnswers, app.id, ruling.rawValue, by: 0)
        }
        if app.revenueCatSDK != nil {
            for reason in SDKSightings.Reason.allCases {
                count(.sdkUnsupported, app.id, reason.rawValue, by: 0)
            }
        }
        for code in ["signed-in-the-future", "wrong-bundle", "too-many-refusals"] {
            count(.refusals, app.id, code, by: 0)
        }
        for outcome in ["committed", "duplicate", "failed"] { count(.commits, outcome, by: 0) }
        for reason in StorageError.Reason.words { count(.storageFailures, reason, by: 0) }
        count(.unheardReports, app.id, by: 0)
        count(.unknownProducts, app.id, by: 0)
        for outcome in ["committed", "failed"] { count(.deadlineBatches, outcome, by: 0) }
        count(.deadlineEvents, app.id, ChangeEvents.kind, by: 0)
        for code in ["key-missing", "key-unknown", "key-not-allowed"] {
            count(.keyRefusals, code, by: 0)
        }
        count(.untrustedForwarding, by: 0)
    }

    /// Does the same for an app that can query the App Store.
    func expectBackfill(of app: App, _ environment: Environment) {
        for outcome in ["completed", "stopped"] {
            count(.backfills, app.id, environment.rawValue, outcome, by: 0)
        }
        for found in MissingNotificationFinding.Word.allCases {
            count(.silences, app.id, environment.rawValue, found.rawValue, by: 0)
        }
        for step in BackfillStep.ofAppStore {
            for outcome in ["committed", "known", "refused"] {
                count(.backfillItems, app.id, step.rawValue, outcome, by: 0)
            }
        }
        for kind in RequestKind.ofAppStore {
            count(.storeRequests, app.id, kind.rawValue, "answered", by: 0)
        }
    }

    /// Does the same for requests about revoked certificates.
    func expectRevocationChecks() {
        for outcome in RevocationOutcome.allCases {
            count(.revocationChecks, outcome.rawValue, by: 0)
        }
    }

    /// Does the same for reads from a replica.
    func expectReplicaReads() {
        for place in ["replica", "database"] { count(.replicaReads, place, by: 0) }
    }

    /// Does the same for an app that can query Google Play.
    func expectUpkeep(of app: App, _ environment: Environment) {
        for outcome in ["completed", "stopped"] {
            count(.backfills, app.id, environment.rawValue, outcome, by: 0)
        }
        for step in BackfillStep.ofGooglePlay {
            for outcome in ["committed", "known", "refused"] {
                count(.backfillItems, app.id, step.rawValue, outcome, by: 0)
            }
        }
        count(.storeClockSkews, app.id, by: 0)
        for kind in RequestKind.ofGooglePlay {
            count(.storeRequests, app.id, kind.rawValue, "answered", by: 0)
        }
    }
}
