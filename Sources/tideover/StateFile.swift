import TideoverCommandLine
import TideoverJSON
import TideoverSandbox

/// The file in which simulated stores are kept, so that they go on where they were ended. It is replaced
/// as a whole, one time after the other: whoever reads it finds one of the states that there were.
actor StateFile {
    static let option = Parameter.option(
        "--state",
        "FILE",
        "Go on from what the file keeps, and keep there what happens; it is made if there is none"
    )

    nonisolated let path: String
    /// The end of the line of those who write.
    private var last: Task<Void, any Error>?

    init(path: String) { self.path = path }

    /// What it keeps; nil while there is none.
    nonisolated func read() throws -> [UInt8]? {
        do {
            return try FileInput.read(path, atMost: JSONLimits.local.maxBytes)
        } catch FileInputError.notFound {
            return nil
        }
    }

    /// Writes how a session stands. What it holds is for nobody else's eyes: it names customers, and holds
    /// the access tokens given.
    func keep(_ session: ScenarioSession) async throws {
        let before = last
        let turn = Task {
            _ = await before?.result
            try FileOutput.replace(await session.saved(), at: path, mode: 0o600)
        }
        last = turn
        try await turn.value
    }
}
