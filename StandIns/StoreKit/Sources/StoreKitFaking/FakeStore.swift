import Foundation
public import StoreKit
public import UIKit

/// The store of a simulated device, with the signed documents in it. The stand-in returns its data
/// inside `FakeStore(...).serve { ... }`.
public struct FakeStore: Sendable {
    /// The newest transactions of all purchases.
    public var all: @Sendable () async -> [Document] = { [] }
    /// Those that give access by StoreKit's own rule.
    public var currentEntitlements: @Sendable () async -> [Document] = { [] }
    public var unfinished: @Sendable () async -> [Document] = { [] }
    /// Transactions that arrive while the app runs.
    public var updates: @Sendable () -> AsyncStream<Document> = { AsyncStream { $0.finish() } }
    public var statuses: @Sendable () async -> [Status] = { [] }
    public var statusUpdates: @Sendable () -> AsyncStream<Status> = { AsyncStream { $0.finish() } }
    public var products: [String: Product.ProductType] = [:]
    public var purchase:
        @Sendable (_ product: String, _ accountToken: String?) async throws -> Bought = {
            _,
            _ in throw Product.PurchaseError.productUnavailable
        }
    public var finish: @Sendable (UInt64) async -> Void = { _ in }
    public var sync: @Sendable () async throws -> Void = {}

    /// The environment in the store's record of the app, and whether the device can verify it. Nil if
    /// the device has none.
    public var record: @Sendable () async -> (environment: String, isVerified: Bool)? = { nil }

    /// The raw reasons of the store's messages.
    public var messages: @Sendable () -> AsyncStream<Int> = { AsyncStream { $0.finish() } }
    public var display: @MainActor (_ reason: Int) throws -> Void = { _ in }
    public var manageSubscriptions: @MainActor (_ group: String?) async throws -> Void = { _ in }
    public var redeemOfferCode: @MainActor () async throws -> Void = {}

    public init() {}

    /// A scene for the sheets, which only the system creates on a device.
    @MainActor public static func scene() -> UIWindowScene { UIWindowScene() }

    /// A signed document, and whether the device can verify it.
    public struct Document: Hashable, Sendable {
        public var jws: String
        public var isVerified: Bool

        public init(_ jws: String, isVerified: Bool = true) {
            self.jws = jws
            self.isVerified = isVerified
        }
    }

    /// The status of a subscription; `state` has the numbers of the App Store Server API.
    public struct Status: Hashable, Sendable {
        public var group: String
        public var state: Int
        public var transaction: Document
        public var renewalInfo: Document

        public init(group: String, state: Int, transaction: Document, renewalInfo: Document) {
            self.group = group
            self.state = state
            self.transaction = transaction
            self.renewalInfo = renewalInfo
        }
    }

    /// The result of a purchase.
    public enum Bought: Hashable, Sendable {
        case success(Document)
        case pending
        case userCancelled
    }

    /// Runs a body with this store for all its tasks.
    @MainActor
    public func serve<Value: Sendable>(_ body: @MainActor () async throws -> Value) async rethrows
        -> Value
    {
        try await StoreBackend.$current.withValue(backend, operation: body)
    }

    private var backend: StoreBackend {
        var backend = StoreBackend()
        let store = self
        backend.products = { ids in
            ids.compactMap { id in store.products[id].map { Product(id: id, type: $0) } }
        }
        backend.purchase = { product, options in
            let token = options.first { $0.name == "appAccountToken" }?.value
            return switch try await store.purchase(product.id, token) {
            case .success(let document): .success(try document.transaction)
            case .pending: .pending
            case .userCancelled: .userCancelled
            }
        }
        backend.all = { Self.stream { await store.all().compactMap { try? $0.transaction } } }
        backend.currentEntitlements = {
            Self.stream { await store.currentEntitlements().compactMap { try? $0.transaction } }
        }
        backend.unfinished = {
            Self.stream { await store.unfinished().compactMap { try? $0.transaction } }
        }
        backend.updates = { Self.stream(store.updates()) { try? $0.transaction } }
        backend.statusUpdates = { Self.stream(store.statusUpdates()) { try? $0.status } }
        backend.statuses = {
            Self.stream {
                let statuses = await store.statuses()
                return Dictionary(grouping: statuses, by: \.group).sorted { $0.key < $1.key }.map {
                    ($0.key, $0.value.compactMap { try? $0.status })
                }
            }
        }
        backend.messages = {
            Self.stream(store.messages()) { Message(reason: Message.Reason(rawValue: $0)) }
        }
        backend.display = { try store.display($0.reason.rawValue) }
        backend.manageSubscriptions = manageSubscriptions
        backend.redeemOfferCode = redeemOfferCode
        backend.appTransaction = {
            guard let record = await store.record() else { throw StoreKitError.unknown }
            let environment = AppStore.Environment(rawValue: record.environment)
            let app = AppTransaction(environment: environment)
            return record.isVerified ? .verified(app) : .unverified(app, .invalidSignature)
        }
        backend.finish = finish
        backend.sync = sync
        return backend
    }

    private static func stream<Element: Sendable>(
        _ elements: @escaping @Sendable () async -> [Element]
    ) -> AsyncStream<Element> {
        AsyncStream { continuation in
            Task {
                for element in await elements() { continuation.yield(element) }
                continuation.finish()
            }
        }
    }

    private static func stream<Source: Sendable, Element: Sendable>(
        _ source: AsyncStream<Source>,
        _ element: @escaping @Sendable (Source) -> Element?
    ) -> AsyncStream<Element> {
        AsyncStream { continuation in
            let task = Task {
                for await value in source {
                    if let element = element(value) { continuation.yield(element) }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
