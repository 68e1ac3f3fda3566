import TideoverAppStore
import TideoverCore
import TideoverGooglePlay
import TideoverJSON
import TideoverStorage

/// A kind of query in a backfill, in the order of execution.
enum BackfillStep: String, CaseIterable, Hashable, Sendable {
    /// Notifications that never reached the server.
    case failedNotifications
    case notifications
    /// Subscriptions with a due renewal and no notification.
    case statuses
    case refunds
    /// Active purchase tokens of Google Play.
    case purchases
    /// Orders that Google Play has voided.
    case voidedPurchases

    static let ofAppStore: [Self] = [.failedNotifications, .notifications, .statuses, .refunds]
    static let ofGooglePlay: [Self] = [.purchases, .voidedPurchases]
}

/// The progress and the results of a backfill.
struct BackfillReport: Hashable, Sendable {
    /// The counts of one step so far.
    struct Sum: Hashable, Sendable {
        /// Responses of the store.
        var pages = 0
        /// Signed items in them.
        var items = 0
        /// Items that were already known.
        var known = 0
        /// Items that were rejected.
        var refused = 0
        var newFacts = 0
        /// The end of the store's list that has been read; nil for a step without one.
        var until: Instant?
    }

    enum Outcome: Hashable, Sendable {
        case running, completed
        /// It resumes where it stopped, not before `retryAt` if the store stated one.
        case stopped(BackfillStop)
    }

    let app: String
    let environment: Environment
    let store: Store
    let startedAt: Instant
    var endedAt: Instant?
    /// The current or last step.
    var step: BackfillStep?
    var sums: [BackfillStep: Sum] = [:]
    var outcome: Outcome = .running

    var newFacts: Int { sums.values.reduce(0) { $0 + $1.newFacts } }
}

/// The reason a backfill did not complete.
struct BackfillStop: Hashable, Sendable, Error {
    /// A stable code, such as `unreachable`.
    let code: String
    /// A readable sentence without ids and without text from the store.
    let sentence: String
    /// When the store accepts queries again, by our clock.
    var retryAt: Instant?
}

extension BackfillStop {
    /// Creates the reason from a run's error.
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
