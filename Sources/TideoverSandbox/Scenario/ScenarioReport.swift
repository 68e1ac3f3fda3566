public import TideoverJSON

/// The trace of one scenario run, in the order in which the system under test received it. Instants
/// are in milliseconds since 1970.
public struct ScenarioReport: Hashable, Sendable {
    /// The scenario that was played.
    public let scenario: Scenario
    /// The trace, earliest first.
    public let moments: [TraceEntry]
    /// Whether the scenario ended early, because no delivery of a store was accepted.
    package let isGivenUp: Bool

    /// Whether every expectation was met, the store performed or refused each action as required,
    /// and every notification was accepted.
    public var passed: Bool { moments.allSatisfy(\.passed) }
    /// The moments that make the scenario fail.
    public var failures: [TraceEntry] { moments.filter { !$0.passed } }

    /// The results of all requirements, in the order checked.
    public var verdicts: [Verdict] {
        moments.flatMap { moment -> [Verdict] in
            switch moment.happening {
            case .action(let action): action.verdict.map { [$0] } ?? []
            case .readBack(let readBack): readBack.verdicts
            case .notification, .push, .webhook: []
            }
        }
    }

    /// Every answer about a customer that was read.
    public var readings: [Reading] {
        moments.compactMap { moment -> Reading? in
            switch moment.happening {
            case .action: nil
            case .notification(let delivery): delivery.reading
            case .push(let push): push.reading
            case .webhook(let webhook): webhook.reading
            case .readBack(let readBack): readBack.reading
            }
        }
    }
}

/// One entry of the trace, with its instant.
public struct TraceEntry: Hashable, Sendable {
    /// The instant at which the system under test received it.
    public let at: Int64
    /// The customer's name, if it concerns one.
    public let customer: String?
    /// The event of this entry.
    public internal(set) var happening: Happening

    /// The kinds of entries.
    public enum Happening: Hashable, Sendable {
        case action(StepResult)
        case notification(Delivery)
        case push(PushedMessage)
        case webhook(RelayedWebhook)
        case readBack(ReadBack)
    }

    /// Whether the entry is as required.
    public var passed: Bool {
        switch happening {
        case .action(let deed): deed.verdict?.holds ?? true
        case .notification(let delivery): delivery.isTakenRightly
        case .push(let push): push.isTakenRightly
        case .webhook(let webhook): webhook.isTaken
        case .readBack(let readBack): readBack.verdicts.allSatisfy(\.holds)
        }
    }
}

/// The result of a step's action.
public struct StepResult: Hashable, Sendable {
    /// The line of the step in the scenario's file.
    public let line: Int
    /// A description in one sentence.
    public let words: String
    /// The author's note on the step.
    public let note: String?
    /// Why the store refused the action; nil if it did not.
    public let refusal: AppStoreRefusal?
    /// The result of the check; nil if the action was not refused and nothing was required of it.
    public let verdict: Verdict?
}

/// A notification and the response of the system under test.
public struct Delivery: Hashable, Sendable {
    /// The notification that the store sent.
    public let notification: AppStoreNotification
    /// The fault that the delivery had.
    public let fault: AppStoreWireFault?
    /// The outcome of the delivery.
    public let outcome: Outcome
    /// The answer about the notification's customer, read directly after the delivery.
    public let reading: Reading?

    /// The ways in which a delivery can end.
    public enum Outcome: Hashable, Sendable {
        case answered(status: Int)
        /// No response; the error as text.
        case failed(String)

        /// The send result that the store records.
        var result: AppStorePost.SendResult {
            switch self {
            case .answered(let status): AppStorePost.SendResult(status: status)
            case .failed: .noResponse
            }
        }
    }

    /// Whether the store counts the delivery as successful: a status from 200 to 206.
    public var isAccepted: Bool {
        outcome.result == .success
    }

    /// Whether it was accepted, or rejected if it must be rejected.
    public var isTakenRightly: Bool {
        guard fault?.mustBeRefused ?? false else { return isAccepted }
        guard case .answered(let status) = outcome else { return false }
        return (400...499).contains(status)
    }
}

/// The answer that a step reads, with its checks.
public struct ReadBack: Hashable, Sendable {
    /// The line of the step in the scenario's file.
    public let line: Int
    /// The author's note on the step, unless the step's action carries it.
    public let note: String?
    /// The answer that was checked.
    public let reading: Reading
    /// One result for each field that the step names.
    public let verdicts: [Verdict]
}

/// The answer about one customer at an instant, with the state in the store and in a naive check.
public struct Reading: Hashable, Sendable {
    /// The instant of the request.
    public let at: Int64
    /// The customer's name.
    public let customer: String
    /// The answer of the system under test.
    public let answer: Answer
    /// The state in the store at that instant.
    public let truth: AppStoreExpectedState
    /// The same state without Google Play's grace. Google moves the end of a grace period from day
    /// to day. Beside a better purchase, an answer reports nothing else of the grace.
    let firmTruth: AppStoreExpectedState
    /// The state of a naive check at that instant.
    public let naive: NaiveCheck
    /// Whether a naive check gives the customer access at that instant.
    public var naiveServes: Bool { naive.serves(at: at) }
    /// The mistake of a naive check at this instant; nil if it is right.
    public var naiveMistake: Mistake? { Mistake(serves: naiveServes, truth: truth) }

    /// The possible outcomes of a request for the answer.
    public enum Answer: Hashable, Sendable {
        case document(JSONValue)
        case status(Int)
        /// Status 200, but not JSON.
        case unreadable(JSONError)
        /// No response; the error as text.
        case failed(String)
    }

    /// The answer, if there is one.
    public var document: JSONValue? {
        if case .document(let value) = answer { value } else { nil }
    }

    /// Returns the answer's part about an entitlement; nil if it has none.
    public func entitlement(_ name: String) -> JSONValue? {
        document?["entitlements"]?[name]
    }

    /// Returns the mistake of the system under test about an entitlement; nil if it is right. The
    /// store has no entitlements, so this is valid only if every product unlocks this one.
    public func mistake(about entitlement: String) -> Mistake? {
        guard let access = self.entitlement(entitlement)?["access"]?.bool else { return nil }
        return Mistake(serves: access, truth: truth)
    }
}

/// The two kinds of mistakes about a customer.
public enum Mistake: Hashable, Sendable {
    /// Denied, although the store reports an entitlement.
    case lockedOut
    /// Served, although the store reports none.
    case servedUnpaid

    init?(serves: Bool, truth: AppStoreExpectedState) {
        guard serves != truth.isEntitled else { return nil }
        self = serves ? .servedUnpaid : .lockedOut
    }
}

/// One requirement, and whether it was met.
public struct Verdict: Hashable, Sendable {
    /// The field or subject, as the scenario names it.
    public let label: String
    /// The requirement, in a few words.
    public let expected: String
    /// The actual value; nil if there is none.
    public let actual: JSONValue?
    /// Whether the requirement was met.
    public let holds: Bool
}
