import TideoverJSON
import TideoverSandbox

/// A control command about the simulated stores' time, besides the steps of a scenario file.
enum ControlCommand: Hashable {
    case untilNextEvent
    /// Advances the stores' clock, as a step without an action.
    case advance(JSONObject)
    /// Runs the stores' clock at this multiple of real time; 0 stops it.
    case run(speed: Int64)

    /// Why a command is invalid, for people.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private static let verbs = ["nextEvent", "advance", "speed"]

    /// Returns what to print for a step into the past, or for an unknown action, which may be meant
    /// as a command. Nil for other errors: their own description is clear.
    static func fault(for error: ScenarioError) -> Fault? {
        if case .goesBack(let instant, let now) = error.reason {
            return Fault(
                description: "the store's clock is at \(InstantText.writeForPeople(now)) and "
                    + "cannot go back to \(InstantText.writeForPeople(instant))"
            )
        }
        guard case .unknown(let verb, .action, suggestion: nil, let allowed) = error.reason
        else { return nil }
        let hint =
            closestName(to: verb, among: verbs).map { "did you mean \"\($0)\"?" }
            ?? "known: \((verbs + allowed).joined(separator: ", "))"
        return Fault(description: "\"\(verb)\" is no action; \(hint)")
    }

    static let speeds: ClosedRange<Int64> = 0...100_000_000

    /// Parses a command. Returns nil for a step and for input that is neither.
    init?(_ body: [UInt8]) throws(Fault) {
        guard let root = try? JSONDocument(body, syntax: .relaxed, limits: .local).root,
            let verb = root["do"]?.string
        else { return nil }
        switch verb {
        case "nextEvent":
            try Self.check(root, keys: [])
            self = .untilNextEvent
        case "advance":
            try Self.check(root, keys: ["by", "to"])
            self = .advance(try Self.step(root["by"]?.string, root["to"]?.string))
        case "speed":
            try Self.check(root, keys: ["factor"])
            guard let speed = root["factor"]?.int64, Self.speeds.contains(speed) else {
                throw Fault(
                    description:
                        "speed needs a factor, such as factor=86400 for a day a second, or "
                        + "factor=0 to stop; \(Self.speeds.upperBound) at most"
                )
            }
            self = .run(speed: speed)
        default: return nil
        }
    }

    private static func step(_ length: String?, _ instant: String?) throws(Fault) -> JSONObject {
        switch (length, instant) {
        case (let length?, nil): return ["after": .string(length)]
        case (nil, let instant?): return ["at": .string(instant)]
        default:
            throw Fault(
                description: "advance needs either a duration, by=\"3 d\", or an instant, "
                    + "to=2026-06-01T10:00:00Z"
            )
        }
    }

    private static func check(_ root: JSONNode, keys: [String]) throws(Fault) {
        for (key, _) in root.members where key != "do" && !keys.contains(key) {
            throw Fault(
                description: "\(root["do"]?.string ?? "") does not take \"\(key)\""
                    + (keys.isEmpty ? "" : ", but \(keys.joined(separator: " or "))")
            )
        }
    }
}
