import TideoverAppStore
import TideoverCore
import TideoverGooglePlay
import TideoverJSON
import TideoverStorage

/// One of the things that a backfill asks a store about, in the order they are asked.
enum BackfillStep: String, CaseIterable, Hashable, Sendable {
    /// Notifications that never reached the server.
    case failedNotifications
    case notifications
    /// Subscriptions whose renewal is due and of which nothing was heard.
    case statuses
    case refunds
    /// Purchase tokens that live, of Google Play.
    case purchases
    /// Orders that Google Play has voided.
    case voidedPurchases

    static let ofAppStore: [Self] = [.failedNotifications, .notifications, .statuses, .refunds]
    static let ofGooglePlay: [Self] = [.purchases, .voidedPurchases]
}

/// How far a backfill has come, and what it brought.
struct BackfillReport: Hashable, Sendable {
    /// What one step brought so far.
    struct Sum: Hashable, Sendable {
        /// Answers of the store that were read.
        var pages = 0
        /// Signed things in them.
        var items = 0
        /// Those that had been heard of before.
        var known = 0
        /// Those that were not believed.
        var refused = 0
        var newFacts = 0
        /// Up to when the store's own list has been read; nil where a step has no such instant.
        var until: Instant?
    }

    enum Outcome: Hashable, Sendable {
        case running, completed
        /// It goes on where it stopped, not before `retryAt` where the store named an instant.
        case stopped(BackfillStop)
    }

    let app: String
    let environment: Environment
    let store: Store
    let startedAt: Instant
    var endedAt: Instant?
    /// The step under way, or the last one that was.
    var step: BackfillStep?
    var sums: [BackfillStep: Sum] = [:]
    var outcome: Outcome = .running

    var newFacts: Int { sums.values.reduce(0) { $0 + $1.newFacts } }
}

/// Why a backfill did not come to its end.
struct BackfillStop: Hashable, Sendable, Error {
    /// One word that never changes, such as `unreachable`.
    let code: String
    /// For people; no id and nothing that the store wrote is in it.
    let sentence: String
    /// When the store wants to be asked again, by our clock.
    var retryAt: Instant?
}

extension BackfillStop {
    /// Why a run ended early, by what it threw.
    init(_ error: any Error) {
        switch error {
        case let stop as BackfillStop: self = stop
        case let failure as AppStoreAPIFailure:
            self.init(code: failure.code, sentence: failure.sentence, retryAt: failure.retryAt)
        case let failure as PlayAPIFailure:
            self.init(code: failure.code, sentence: failure.sentence, retryAt: failure.retryAt)
        case let error as StorageError:
            self.init(code: "storage", sentence: error.description)
        case is CancellationError:
            self.init(code: "cancelled", sentence: "The server stops.")
        default:
            self.init(code: "internal", sentence: String(reflecting: type(of: error)))
        }
    }
}

extension BackfillReport.Outcome {
    var word: String {
        switch self {
        case .running: "running"
        case .completed: "completed"
        case .stopped: "stopped"
        }
    }
}

// MARK: - JSON

extension BackfillReport {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("app", app)
            writer.field("environment", environment.rawValue)
            writer.field("store", store.rawValue)
            writer.field("status", outcome.word)
            writer.field("startedAt", startedAt.rfc3339)
            writer.field("endedAt", endedAt?.rfc3339)
            writer.field("step", step?.rawValue)
            writer.key("stopped")
            if case .stopped(let stop) = outcome { stop.write(to: &writer) } else { writer.null() }
            writer.field(
                "steps",
                object: { writer in
                    for step in BackfillStep.allCases {
                        guard let sum = sums[step] else { continue }
                        writer.key(step.rawValue)
                        sum.write(to: &writer)
                    }
                }
            )
        }
    }
}

extension BackfillReport.Sum {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("pages", pages)
            writer.field("items", items)
            writer.field("known", known)
            writer.field("refused", refused)
            writer.field("newFacts", newFacts)
            writer.field("until", until?.rfc3339)
        }
    }
}

extension BackfillStop {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("code", code)
            writer.field("detail", sentence)
            writer.field("retryAt", retryAt?.rfc3339)
        }
    }
}
