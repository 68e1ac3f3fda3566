import TideoverCommandLine
import TideoverCore
import TideoverJSON
import TideoverSandbox

/// A generated story whose result differs from the store's state.
struct BrokenStory {
    let seed: Int
    let kind: StoryKind
    /// The faults in the full story.
    let faults: [StoryFault]
    /// The report of the shortest sequence of steps that still fails.
    let shortest: ScenarioReport

    func show(on output: Output) {
        output.print("seed \(seed), \(kind.words):")
        for fault in faults { output.print("  \(fault)") }
        output.print("  These steps alone fail:")
        for moment in shortest.moments { output.print("    \(moment.storyLine)") }
        for fault in shortest.storyOracle.faults { output.print("  \(fault)") }
    }

    /// The story as JSON. The moments have the format of `sandbox run --json`.
    var json: JSONValue {
        [
            "seed": .integer(Int64(seed)),
            "kind": .string(kind.rawValue),
            "faults": .array(faults.map(\.json)),
            "shortest": [
                "moments": .array(shortest.moments.map(\.json)),
                "faults": .array(shortest.storyOracle.faults.map(\.json)),
            ],
        ]
    }
}

extension StoryFault {
    fileprivate var json: JSONValue {
        [
            "at": .string(Instant(millisecondsSince1970: at).rfc3339),
            "fault": .string(description),
        ]
    }
}
