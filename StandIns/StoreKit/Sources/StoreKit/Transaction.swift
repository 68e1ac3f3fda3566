public import Foundation

/// https://developer.apple.com/documentation/storekit/transaction
@available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, *)
public struct Transaction: Identifiable, Equatable, Hashable, Sendable {
    public typealias ID = UInt64
    public let id: UInt64
    public let originalID: UInt64
    public let productID: String
    public let subscriptionGroupID: String?
    public let expirationDate: Date?
    public let revocationDate: Date?
    public let productType: Product.ProductType
    public let appAccountToken: UUID?
    @available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, *)
    public let environment: AppStore.Environment
    public let signedDate: Date
    package let _jws: String

    package init(
        id: UInt64,
        originalID: UInt64,
        productID: String,
        subscriptionGroupID: String?,
        expirationDate: Date?,
        revocationDate: Date?,
        productType: Product.ProductType,
        appAccountToken: UUID?,
        environment: AppStore.Environment,
        signedDate: Date,
        jws: String
    ) {
        self.id = id
        self.originalID = originalID
        self.productID = productID
        self.subscriptionGroupID = subscriptionGroupID
        self.expirationDate = expirationDate
        self.revocationDate = revocationDate
        self.productType = productType
        self.appAccountToken = appAccountToken
        self.environment = environment
        self.signedDate = signedDate
        _jws = jws
    }

    public func finish() async { await StoreBackend.current.finish(id) }
}

extension Transaction {
    public struct Transactions: AsyncSequence, Sendable {
        public typealias Element = VerificationResult<Transaction>
        let stream: AsyncStream<VerificationResult<Transaction>>

        public struct AsyncIterator: AsyncIteratorProtocol {
            var base: AsyncStream<VerificationResult<Transaction>>.AsyncIterator
            public mutating func next() async -> VerificationResult<Transaction>? {
                await base.next()
            }
        }

        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: stream.makeAsyncIterator())
        }
    }

    public static var all: Transactions { Transactions(stream: StoreBackend.current.all()) }
    public static var currentEntitlements: Transactions {
        Transactions(stream: StoreBackend.current.currentEntitlements())
    }
    public static var unfinished: Transactions {
        Transactions(stream: StoreBackend.current.unfinished())
    }
    public static var updates: Transactions { Transactions(stream: StoreBackend.current.updates()) }
}
