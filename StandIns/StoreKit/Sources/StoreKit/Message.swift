public import UIKit

/// https://developer.apple.com/documentation/storekit/message
@available(iOS 16.0, macCatalyst 16.0, visionOS 1.0, *)
@available(macOS, unavailable)
@available(tvOS, unavailable)
@available(watchOS, unavailable)
public struct Message: Sendable, Equatable, Hashable {
    public struct Reason: RawRepresentable, Equatable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let generic = Reason(rawValue: 0)
        public static let priceIncreaseConsent = Reason(rawValue: 1)
        @available(iOS 16.4, macCatalyst 16.4, visionOS 1.0, *)
        public static let billingIssue = Reason(rawValue: 2)
    }
    public let reason: Reason

    package init(reason: Reason) { self.reason = reason }

    @MainActor
    public func display(in scene: UIWindowScene) throws {
        try StoreBackend.current.display(self)
    }

    public struct Messages: AsyncSequence, Sendable {
        public typealias Element = Message
        let stream: AsyncStream<Message>

        public struct AsyncIterator: AsyncIteratorProtocol {
            var base: AsyncStream<Message>.AsyncIterator
            public mutating func next() async -> Message? { await base.next() }
        }

        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: stream.makeAsyncIterator())
        }
    }

    public static var messages: Messages { Messages(stream: StoreBackend.current.messages()) }
}
