import TideoverCore
import TideoverDashboard
import TideoverSandbox

/// The result of a story, in sentences with numbers.
extension RehearsalReport {
    var sentences: [String] {
        [lockouts, gifts, ours, saved, time].compactMap(\.self)
    }

    private var lockouts: String {
        let (people, total) = (people(.lockedOut), total(.lockedOut))
        guard people > 0 else { return "An expiry check would have locked out no customer." }
        return
            "An expiry check would have locked out \(people) of these \(tracks.count) customers "
            + "while they were entitled, for \(Self.days(total)) together."
    }

    private var gifts: String? {
        let (people, total) = (people(.servedUnpaid), total(.servedUnpaid))
        guard people > 0 else { return nil }
        return
            "It would have served \(people) who \(people == 1 ? "was" : "were") not entitled, for "
            + "\(Self.days(total))."
    }

    private var ours: String {
        if wrongAnswers == 0 {
            return "Tideover was asked \(answers) times, and each answer matched the store's own "
                + "state."
        }
        return "Tideover was asked \(answers) times; \(wrongAnswers) answers differed from the "
            + "store's own state."
    }

    private var saved: String? {
        let inGrace = tracks.reduce(0) { $0 + $1.savedInGrace }
        let fromHold = tracks.reduce(0) { $0 + $1.savedFromHold }
        let open = tracks.count { $0.last == .grace || $0.last == .hold }
        guard inGrace + fromHold + open > 0 else { return nil }
        let still = open > 0 ? "; \(open) \(open == 1 ? "is" : "are") being tried at the end" : ""
        return "Failed payments saved: \(inGrace) in grace, \(fromHold) out of hold\(still)."
    }

    private var time: String {
        let tenths = Int64(took / .milliseconds(100))
        return
            "These \(Self.days(until - from)) took \(max(1, tenths) / 10).\(max(1, tenths) % 10) "
            + "seconds: \(messages) signed messages, each verified, stored and answered for."
    }

    /// Formats a duration with one decimal, such as "0.9 days", "1 day" or "365 days".
    static func days(_ length: Milliseconds) -> String {
        let day = Milliseconds.days(1).count
        let tenths = (length.count * 10 + day / 2) / day
        let number = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        return number == "1" ? "1 day" : "\(number) days"
    }
}
