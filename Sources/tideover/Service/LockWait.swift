import TideoverStorage

/// Waits for commands that have an SQLite file open for a moment.
enum LockWait {
    /// How long a command waits; longer in tests, which may wait for processors too.
    @TaskLocal static var patience: Duration = .seconds(2)

    /// Opens a storage. While another process has it open, repeats this for `patience`, or until
    /// `isInVain`.
    static func open<Value>(
        unless isInVain: () async -> Bool = { false },
        _ open: () throws -> Value
    ) async throws -> Value {
        let end = ContinuousClock.now + patience
        while true {
            do {
                return try open()
            } catch let error as StorageError {
                guard case .locked = error.reason, ContinuousClock.now < end, await !isInVain()
                else { throw error }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
