/// What the kit needs from the device's store. On Apple platforms StoreKit provides it; a test
/// provides its own.
public struct StoreSource: Sendable {
    /// Reads statuses over all groups, purchases and unfinished transactions.
    public var read: @Sendable () async -> StoreReading
    /// Reports transactions and changes of status for as long as the app runs. Asked for once.
    public var updates: @Sendable () -> AsyncStream<Update>
    /// Finishes a transaction.
    public var finish: @Sendable (_ transactionId: UInt64) async -> Void
    /// Asks the store to synchronise. It shows a sign-in prompt: only after the user asked to restore.
    public var sync: @Sendable () async throws -> Void

    public init(
        read: @escaping @Sendable () async -> StoreReading,
        updates: @escaping @Sendable () -> AsyncStream<Update>,
        finish: @escaping @Sendable (_ transactionId: UInt64) async -> Void,
        sync: @escaping @Sendable () async throws -> Void
    ) {
        self.read = read
        self.updates = updates
        self.finish = finish
        self.sync = sync
    }

    /// Something the store reported by itself.
    public enum Update: Hashable, Sendable {
        case transaction(SignedPurchase)
        /// A subscription changed, such as its renewal being turned off. It names no transaction.
        case statusChanged
    }
}
