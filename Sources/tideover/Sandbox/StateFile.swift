import TideoverCommandLine
import TideoverJSON
import TideoverSandbox

/// The file with the state of simulated stores, from which a later run continues. Writes are atomic
/// and sequential, so a reader always finds a complete state.
actor StateFile {
    static let option = Parameter.option(
        "--state",
        "FILE",
        "Continue from this file and write the state there; it is created if missing"
    )

    nonisolated let path: String
    /// The last of the queued writes.
    private var last: Task<Void, any Error>?

    init(path: String) { self.path = path }

    /// Returns the file's content; nil if it does not exist.
    nonisolated func read() throws -> [UInt8]? {
        do {
            return try FileInput.read(path, atMost: JSONLimits.local.maxBytes)
        } catch FileInputError.notFound {
            return nil
        }
    }

    /// Writes a session's state. The file is private, because it contains customers and access
    /// tokens.
    func keep(_ session: ScenarioSession) async throws {
        let before = last
        let turn = Task {
            _ = await before?.result
            try FileOutput.replace(await session.saved(), at: path)
        }
        last = turn
        try await turn.value
    }
}
