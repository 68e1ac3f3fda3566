public import Foundation

// https://developer.apple.com/documentation/storekit/product/subscriptioninfo

extension Product {
    public struct SubscriptionInfo: Equatable, Hashable, Sendable {
        public let subscriptionGroupID: String
        package init(subscriptionGroupID: String) {
            self.subscriptionGroupID = subscriptionGroupID
        }
    }
}

extension Product.SubscriptionInfo {
    public struct Status: Equatable, Hashable, Sendable {
        public let state: RenewalState
        public let transaction: VerificationResult<Transaction>
        public let renewalInfo: VerificationResult<RenewalInfo>

        package init(
            state: RenewalState,
            transaction: VerificationResult<Transaction>,
            renewalInfo: VerificationResult<RenewalInfo>
        ) {
            self.state = state
            self.transaction = transaction
            self.renewalInfo = renewalInfo
        }

        public struct Statuses: AsyncSequence, Sendable {
            public typealias Element = Status
            let stream: AsyncStream<Status>

            public struct AsyncIterator: AsyncIteratorProtocol {
                var base: AsyncStream<Status>.AsyncIterator
                public mutating func next() async -> Status? { await base.next() }
            }

            public func makeAsyncIterator() -> AsyncIterator {
                AsyncIterator(base: stream.makeAsyncIterator())
            }
        }

        public static var updates: Statuses {
            Statuses(stream: StoreBackend.current.statusUpdates())
        }

        @available(iOS 17.0, macOS 14.0, tvOS 17.0, watchOS 10.0, *)
        public static var all: AsyncStream<(groupID: String, statuses: [Status])> {
            StoreBackend.current.statuses()
        }
    }

    public struct RenewalState: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let subscribed = RenewalState(rawValue: 1)
        public static let expired = RenewalState(rawValue: 2)
        public static let inBillingRetryPeriod = RenewalState(rawValue: 3)
        public static let inGracePeriod = RenewalState(rawValue: 4)
        public static let revoked = RenewalState(rawValue: 5)
    }

    public struct RenewalInfo: Equatable, Hashable, Sendable {
        public let originalTransactionID: UInt64
        public let currentProductID: String
        public let willAutoRenew: Bool
        public let gracePeriodExpirationDate: Date?
        public let signedDate: Date
        package let _jws: String

        package init(
            originalTransactionID: UInt64,
            currentProductID: String,
            willAutoRenew: Bool,
            gracePeriodExpirationDate: Date?,
            signedDate: Date,
            jws: String
        ) {
            self.originalTransactionID = originalTransactionID
            self.currentProductID = currentProductID
            self.willAutoRenew = willAutoRenew
            self.gracePeriodExpirationDate = gracePeriodExpirationDate
            self.signedDate = signedDate
            _jws = jws
        }
    }
}
