import TideoverCommandLine
import TideoverJSON
import TideoverSandbox

/// The results of all stories of one kind.
struct StoryTally {
    private var marks = ""
    private(set) var broken = 0
    private var quietAnswers = 0
    private var lockoutMinutes: Int64 = 0

    mutating func add(_ verdict: StoryOracle) {
        let isSound = verdict.faults.isEmpty
        marks.append(isSound ? "." : "x")
        if !isSound { broken += 1 }
        quietAnswers += verdict.quietAnswers
        lockoutMinutes += verdict.lockoutMinutes
    }

    /// The number of stories.
    var stories: Int { marks.count }

    /// The totals as JSON.
    var json: JSONValue {
        [
            "stories": .integer(Int64(stories)),
            "passed": .integer(Int64(stories - broken)),
            "quietAnswers": .integer(Int64(quietAnswers)),
            "lockoutMinutes": .integer(lockoutMinutes),
        ]
    }

    /// Prints a mark for each story, a hundred per line, then the totals.
    func show(_ title: String, on output: Output) {
        output.print(title)
        var rest = marks[...]
        while !rest.isEmpty {
            output.print("  \(rest.prefix(100))")
            rest = rest.dropFirst(100)
        }
        output.print(
            "  \(marks.count - broken) of "
                + "\(TextLayout.counted(marks.count, "story", plural: "stories")) matched the "
                + "store's state."
        )
        output.print(
            "  \(TextLayout.counted(quietAnswers, "answer")) at quiet points "
                + "\(quietAnswers == 1 ? "was" : "were") compared."
        )
        output.print(
            "  \(TextLayout.counted(lockoutMinutes, "lockout minute")) while nothing went wrong."
        )
    }
}

extension StoryKind {
    /// The name of the stores, for people.
    var words: String {
        switch self {
        case .appStore: "App Store"
        case .googlePlay: "Google Play"
        case .mixed: "both at once"
        }
    }
}

extension TraceEntry {
    /// The moment in one line.
    var storyLine: String {
        let words =
            switch happening {
            case .action(let deed): deed.words + (deed.isRefused ? " (refused)" : "")
            case .notification(let delivery):
                "\(delivery.notification.words)\(delivery.fault.map { " [\($0)]" } ?? "")"
            case .push(let push): "\(push.words) [\(push.status.map(String.init) ?? "no answer")]"
            case .webhook(let webhook): webhook.words
            case .readBack(let readBack): readBack.reading.storyWords
            }
        return "\(InstantText.writeForPeople(at))  \(words)"
    }
}

extension StepResult {
    fileprivate var isRefused: Bool { verdict.map { !$0.holds } ?? false }
}

extension Reading {
    fileprivate var storyWords: String {
        let answer = entitlement("premium")
        let state = answer?["state"]?.string ?? "nothing"
        let rule = answer?["rule"]?.string ?? "no rule"
        return "\(customer) is \(state) (\(rule)); the store says \(truth)."
    }
}
