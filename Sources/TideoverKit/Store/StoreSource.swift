/// The kit's interface to the device's store. StoreKit implements it on Apple platforms; tests
/// provide their own.
public struct StoreSource: Sendable {
    /// Reads statuses over all groups, purchases and unfinished transactions.
    public var read: @Sendable () async -> StoreReading
    /// Reports transactions and changes of status for as long as the app runs. Called once.
    public var updates: @Sendable () -> AsyncStream<Update>
    /// Finishes a transaction.
    public var finish: @Sendable (_ transactionId: UInt64) async -> Void
    /// Synchronizes the store. It shows a sign-in prompt, so call it only after the user requests a
    /// restore.
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

    /// A report of the store that was not requested.
    public enum Update: Hashable, Sendable {
        case transaction(SignedPurchase)
        /// A subscription changed, such as its renewal being turned off, or the device's clock was
        /// set. The report names no transaction.
        case statusChanged
    }
}
