import TideoverJSON
import TideoverSandbox

// Describes the failures of a rehearsal.

extension TraceEntry {
    /// The failure in one line.
    var trouble: String {
        let when = InstantText.writeForPeople(at)
        switch happening {
        case .action(let deed):
            return "\(when)  line \(deed.line): \(deed.trouble)"
        case .notification(let delivery):
            return "\(when)  \(delivery.trouble): \(delivery.notification.words)"
        case .push(let push):
            return "\(when)  \(describe(push.status, push.isAcknowledged)): \(push.words)"
        case .webhook(let webhook):
            return "\(when)  \(describe(webhook.status, webhook.isTaken)): \(webhook.words)"
        case .readBack(let readBack):
            return "\(when)  line \(readBack.line): \(readBack.trouble)"
        }
    }
}

extension TraceEntry {
    /// How a back end took a store's message incorrectly, without the customer; nil for everything
    /// else.
    var misdelivery: String? {
        guard !passed else { return nil }
        switch happening {
        case .notification(let delivery):
            return "a notification of the App Store was \(delivery.trouble)"
        case .push(let push):
            return "a push of Google Play was \(describe(push.status, push.isAcknowledged))"
        case .webhook(let webhook):
            return "a webhook of RevenueCat was \(describe(webhook.status, webhook.isTaken))"
        case .action, .readBack: return nil
        }
    }
}

/// Describes the incorrect result of a message; `status` is nil if no answer came.
private func describe(_ status: Int?, _ isAccepted: Bool) -> String {
    guard let status else { return "not accepted, no answer" }
    if isAccepted { return "accepted (\(status)), though it must not be believed" }
    return "not accepted, answered \(status)"
}

extension StepResult {
    fileprivate var trouble: String {
        guard let verdict, verdict.label == "refused" else {
            return "\(verdict?.trouble ?? "") (\(words))"
        }
        let actual = verdict.actual?.string ?? "done"
        if actual == "done" { return "the store did not refuse (\(verdict.expected)): \(words)" }
        let expected = verdict.expected == "done" ? "" : ", expected \(verdict.expected)"
        return "the store refused (\(actual)\(expected)): \(words)"
    }
}

extension Delivery {
    fileprivate var trouble: String {
        switch outcome {
        case .failed(let why): "not accepted, no answer (\(why))"
        case .answered(let status): describe(status, isAccepted)
        }
    }
}

extension ReadBack {
    /// Without an answer, every expectation fails. The absence is more informative than each
    /// missing value.
    fileprivate var trouble: String {
        let wrong = verdicts.filter { !$0.holds }
        guard let absence = reading.absence else {
            return wrong.map(\.trouble).joined(separator: "; ")
        }
        let expected = wrong.map { "\($0.label) \($0.expected)" }.joined(separator: "; ")
        return "\(absence), expected \(expected)"
    }
}

extension Reading {
    /// Why there is no answer to check.
    fileprivate var absence: String? {
        switch answer {
        case .document: nil
        case .status(let status): "the question was answered with \(status)"
        case .unreadable(let error): "the answer cannot be read (\(error))"
        case .failed(let why): "the question was not answered (\(why))"
        }
    }
}

extension Verdict {
    fileprivate var trouble: String {
        let actual = actual.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? "absent"
        return "\(label) is \(actual), expected \(expected)"
    }
}
