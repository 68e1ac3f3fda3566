public import TideoverJSON

/// Everything that happened while a scenario was played, in the order in which the system under test
/// lived it. Instants are in milliseconds since 1970.
public struct ScenarioReport: Hashable, Sendable {
    /// The scenario that was played.
    public let scenario: Scenario
    /// What happened, earliest first.
    public let moments: [Moment]

    /// Whether every expectation held, the store did or refused what it should, and every notification
    /// was accepted.
    public var passed: Bool { moments.allSatisfy(\.passed) }
    /// The moments that keep the scenario from passing.
    public var failures: [Moment] { moments.filter { !$0.passed } }

    /// What the scenario required, in the order checked.
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

/// Something that happened, and when.
public struct Moment: Hashable, Sendable {
    /// When the system under test met it.
    public let at: Int64
    /// The customer's name, if it concerns one.
    public let customer: String?
    /// What happened.
    public internal(set) var happening: Happening

    /// What a moment can be.
    public enum Happening: Hashable, Sendable {
        case action(Deed)
        case notification(Delivery)
        case push(PushedMessage)
        case webhook(RelayedWebhook)
        case readBack(ReadBack)
    }

    /// Whether the moment was as it should be.
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

/// What somebody did, as a step said.
public struct Deed: Hashable, Sendable {
    /// The line of the step in the scenario's file.
    public let line: Int
    /// One sentence.
    public let words: String
    /// What the scenario's author says of the step.
    public let note: String?
    /// Why the store did not do it, if so.
    public let refusal: AppStoreRefusal?
    /// Nil when nothing was refused and no refusal was expected, and nothing else either.
    public let verdict: Verdict?
}

/// A notification and how the system under test took it.
public struct Delivery: Hashable, Sendable {
    /// What the store said.
    public let notification: AppStoreNotification
    /// What went wrong on the way.
    public let fault: AppStoreWireFault?
    /// How it was taken.
    public let outcome: Outcome
    /// The answer right after it, for the customer it is about.
    public let reading: Reading?

    /// How a delivery can end.
    public enum Outcome: Hashable, Sendable {
        case answered(status: Int)
        /// No answer; the error in words.
        case failed(String)

        /// What the store notes of it.
        var result: AppStorePost.SendResult {
            switch self {
            case .answered(let status): AppStorePost.SendResult(status: status)
            case .failed: .noResponse
            }
        }
    }

    /// Whether the store takes the delivery as done: a status from 200 to 206.
    public var isAccepted: Bool {
        outcome.result == .success
    }

    /// Whether it was accepted, or refused where it must not be believed.
    public var isTakenRightly: Bool {
        guard fault?.mustBeRefused ?? false else { return isAccepted }
        guard case .answered(let status) = outcome else { return false }
        return (400...499).contains(status)
    }
}

/// A step's look at the answer.
public struct ReadBack: Hashable, Sendable {
    /// The line of the step in the scenario's file.
    public let line: Int
    /// What the scenario's author says of the step, unless the step's deed carries it.
    public let note: String?
    /// The answer that was judged.
    public let reading: Reading
    /// One for each place that the step names.
    public let verdicts: [Verdict]
}

/// The answer about one customer at an instant, beside what the store and a naive check hold.
public struct Reading: Hashable, Sendable {
    /// When it was asked for.
    public let at: Int64
    /// The customer's name.
    public let customer: String
    /// What the system under test answered.
    public let answer: Answer
    /// What the store itself held to be so at that instant.
    public let truth: AppStoreTruth
    /// The same without Google Play's grace: beside something better an answer tells of it only the end that the
    /// store moves from day to day.
    let firmTruth: AppStoreTruth
    /// What a naive check knows by then.
    public let naive: NaiveCheck
    /// Whether a naive check would serve the customer at that instant.
    public var naiveServes: Bool { naive.serves(at: at) }
    /// How a naive check errs at this instant, if it does.
    public var naiveMistake: Mistake? { Mistake(serves: naiveServes, truth: truth) }

    /// What can come of asking.
    public enum Answer: Hashable, Sendable {
        case document(JSONValue)
        case status(Int)
        /// Status 200, but not JSON.
        case unreadable(JSONError)
        /// No answer; the error in words.
        case failed(String)
    }

    /// The answer, if there is one.
    public var document: JSONValue? {
        if case .document(let value) = answer { value } else { nil }
    }

    /// What the answer says of an entitlement, if it speaks of it.
    public func entitlement(_ name: String) -> JSONValue? {
        document?["entitlements"]?[name]
    }

    /// How the system under test errs about an entitlement, if it does. The store does not know
    /// entitlements: this is meant for scenarios in which every product unlocks this one.
    public func mistake(about entitlement: String) -> Mistake? {
        guard let access = self.entitlement(entitlement)?["access"]?.bool else { return nil }
        return Mistake(serves: access, truth: truth)
    }
}

/// The two ways to be wrong about a customer.
public enum Mistake: Hashable, Sendable {
    /// Denied, although the store says entitled.
    case lockedOut
    /// Served, although the store says not entitled.
    case servedUnpaid

    init?(serves: Bool, truth: AppStoreTruth) {
        guard serves != truth.isEntitled else { return nil }
        self = serves ? .servedUnpaid : .lockedOut
    }
}

/// One requirement, and whether it held.
public struct Verdict: Hashable, Sendable {
    /// The place or matter, as the scenario names it.
    public let label: String
    /// What was required, in a few words.
    public let expected: String
    /// What was there; nil for nothing at all.
    public let actual: JSONValue?
    /// Whether it was so.
    public let holds: Bool
}
