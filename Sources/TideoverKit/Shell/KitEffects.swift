package import TideoverCore
package import TideoverHTTP

/// All side effects of the kit, injected.
package struct KitEffects: Sendable {
    package var source: StoreSource
    package var file: KeptFile
    /// Sends requests to the server; never called without one.
    package var network: Handler
    package var verify: PassSignatureCheck
    package var clock: @Sendable () -> ClockReading
    /// Waits; throws when the task is cancelled.
    package var sleep: @Sendable (Milliseconds) async throws -> Void

    package init(
        source: StoreSource,
        file: KeptFile,
        network: @escaping Handler,
        verify: @escaping PassSignatureCheck,
        clock: @escaping @Sendable () -> ClockReading,
        sleep: @escaping @Sendable (Milliseconds) async throws -> Void
    ) {
        self.source = source
        self.file = file
        self.network = network
        self.verify = verify
        self.clock = clock
        self.sleep = sleep
    }
}
