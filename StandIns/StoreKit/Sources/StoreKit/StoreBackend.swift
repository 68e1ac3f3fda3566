/// The data of the stand-in, which Apple's framework does not have. Tests set it for the tasks that
/// they start. Without it, the store is empty.
package struct StoreBackend: Sendable {
    @TaskLocal package static var current = StoreBackend()

    package var products: @Sendable ([String]) async throws -> [Product] = { _ in [] }
    package var purchase:
        @Sendable (Product, Set<Product.PurchaseOption>) async throws -> Product.PurchaseResult = {
            _,
            _ in throw Product.PurchaseError.productUnavailable
        }
    package var all: @Sendable () -> AsyncStream<VerificationResult<Transaction>> = { .empty }
    package var currentEntitlements: @Sendable () -> AsyncStream<VerificationResult<Transaction>> =
        {
            .empty
        }
    package var unfinished: @Sendable () -> AsyncStream<VerificationResult<Transaction>> = {
        .empty
    }
    package var updates: @Sendable () -> AsyncStream<VerificationResult<Transaction>> = { .empty }
    package var statuses:
        @Sendable () -> AsyncStream<
            (groupID: String, statuses: [Product.SubscriptionInfo.Status])
        > = { .empty }
    package var statusUpdates: @Sendable () -> AsyncStream<Product.SubscriptionInfo.Status> = {
        .empty
    }
    /// A device without it throws.
    package var appTransaction: @Sendable () async throws -> VerificationResult<AppTransaction> = {
        throw StoreKitError.unknown
    }
    package var finish: @Sendable (UInt64) async -> Void = { _ in }
    package var sync: @Sendable () async throws -> Void = {}
    package var messages: @Sendable () -> AsyncStream<Message> = { .empty }
    package var display: @MainActor (Message) throws -> Void = { _ in }
    /// Presents the sheet of a subscription group, or of all groups, until it is closed.
    package var manageSubscriptions: @MainActor (_ group: String?) async throws -> Void = { _ in }
    package var redeemOfferCode: @MainActor () async throws -> Void = {}

    package init() {}
}

extension AsyncStream {
    fileprivate static var empty: AsyncStream { AsyncStream { $0.finish() } }
}
