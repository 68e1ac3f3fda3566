import TideoverJSON
import TideoverSandbox

/// What a back end did with the stores' deliveries and the requests of a run, to advise on its
/// options.
struct DeliveryTally {
    /// Ends a scenario in which a back end accepted none of so many deliveries of a store.
    static let refusalLimit = 50
    /// A smaller number can be the scenario's own subject.
    private static let fewest = 5

    private struct Count {
        var accepted = 0
        var refused = 0
        var last: Int?
    }

    private struct Answers {
        var documents = 0
        var withEntitlements = 0
        var others = 0
        var last: Reading.Answer?
    }

    private var counts: [DeliveryResult.Sender: Count] = [:]
    private var answers = Answers()

    mutating func add(_ report: ScenarioReport) {
        for result in report.moments.compactMap(\.deliveryResult) {
            if result.isAccepted {
                counts[result.sender, default: Count()].accepted += 1
            } else {
                counts[result.sender, default: Count()].refused += 1
                counts[result.sender]?.last = result.status
            }
        }
        for reading in report.readings { add(reading.answer) }
    }

    private mutating func add(_ answer: Reading.Answer) {
        if case .document(let document) = answer {
            answers.documents += 1
            if document["entitlements"]?.object?.isEmpty == false { answers.withEntitlements += 1 }
        } else {
            answers.others += 1
            answers.last = answer
        }
    }

    // MARK: Advice

    /// Whether the back end has accepted no delivery of the store, of enough to be sure.
    func refusesAll(of sender: DeliveryResult.Sender) -> Bool {
        guard let count = counts[sender] else { return false }
        return count.accepted == 0 && count.refused >= Self.fewest
    }

    /// Returns what was refused and what to do; nil if deliveries of the store are accepted.
    func advice(on sender: DeliveryResult.Sender) -> String? {
        guard refusesAll(of: sender), let count = counts[sender] else { return nil }
        let result = count.last.map { "answered with \($0)" } ?? "not answered"
        let (store, advice) =
            switch sender {
            case .appStore:
                (
                    "the App Store",
                    "Check --target and --deliver, and that it trusts the store's root "
                        + "certificate (--authority)."
                )
            case .googlePlay:
                (
                    "Google Play",
                    "Check --target, --deliver-google, --push-audience and --push-email. If it "
                        + "pulls messages, add --pull. If it does not serve Google Play, leave out "
                        + "those scenarios."
                )
            }
        return "the back end accepted none of \(count.refused) notifications of \(store); the last "
            + "was \(result)\n\(advice)"
    }

    /// Returns why no answer could be compared, and what to do; nil if answers were compared.
    /// `access` is the value of `--access`.
    func advice(onAnswersAt access: String?) -> String? {
        if answers.documents == 0, let last = answers.last {
            return "nothing was compared: none of \(answers.others) requests for an answer had a "
                + "usable one; the last \(last.failureWords)\n"
                + "Check --read-back, and --header-file if it needs a key."
        }
        guard answers.documents > 0, answers.withEntitlements == 0 else { return nil }
        guard let access else {
            return "nothing was compared: the answers are not in Tideover's format\n"
                + "Name the member that is true or false with --access."
        }
        return "nothing was compared: no answer has the member \(access)\n"
            + "Check --access and --read-back."
    }
}

extension Reading.Answer {
    /// Why there is no answer to compare, after "the last".
    fileprivate var failureWords: String {
        switch self {
        case .document: "was read"
        case .status(let status): "was answered with \(status)"
        case .unreadable(let error): "was not JSON (\(error))"
        case .failed(let why): "was not answered (\(why))"
        }
    }
}
