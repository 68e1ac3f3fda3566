import TideoverCommandLine
import TideoverJSON
import TideoverSandbox

/// `record FOLDER`: records half a year of the simulated App Store's data, for verification by
/// other software.
enum RecordCommand {
    private static let folder = Parameter.argument(
        "FOLDER",
        "Where production.json and sandbox.json are written; it must be there"
    )
    private static let seed = Parameter.option(
        "--seed",
        "N",
        "What every number that the store gives away follows from",
        as: ValueForm<Int>.integer(in: 0...Int.max),
        default: "1"
    )

    static let command = Command(
        "record",
        summary: "write down what the simulated App Store says",
        examples: [
            Example("scripts/verify-apple.sh", "and ask Apple's own library about it"),
            Example("TideoverTrials record /tmp/said --seed 2", "other numbers"),
        ],
        parameters: [folder, seed]
    ) { arguments, output in
        for environment in AppStoreEnvironment.allCases {
            var recording = try StoreRecording(environment, seed: UInt64(arguments[seed]))
            try await recording.live()
            let path = "\(arguments[folder])/\(environment.rawValue.lowercased()).json"
            try writeFile(recording.json.encoded(), to: path)
            output.message("\(path): \(recording.summary)")
        }
        return .success
    }
}
