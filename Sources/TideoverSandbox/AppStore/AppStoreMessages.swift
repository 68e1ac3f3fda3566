// The billing problem message that StoreKit shows over an app.
// https://developer.apple.com/documentation/storekit/message

/// The outcome of the billing problem message when a customer opens the app.
public enum AppStoreMessageOutcome: String, CaseIterable, Hashable, Sendable {
    /// No message is pending.
    case none
    /// The store shows it.
    case shown
    /// The app delays it.
    case delayed
    /// One was pending that was never shown, and the problem is solved.
    case dropped
}

/// One message that waits to be shown.
struct AppStoreMessage: Hashable, Codable, Sendable {
    /// The subscription with the failed payment.
    let subscription: Int
    /// The end of the term after which it failed: every failure has one message.
    let end: Int64
}

extension AppStoreMachine {
    /// Opens the app as a customer. Shows the pending messages, unless the app delays them.
    public mutating func openApp(
        _ customer: String,
        delaysMessages: Bool = false
    ) throws(AppStoreRefusal) -> AppStoreMessageOutcome {
        let account = try index(of: customer)
        let waiting = accounts[account].messages
        guard !waiting.isEmpty else { return .none }
        let relevant = waiting.filter { isUnsolved($0, account) }
        accounts[account].messages = delaysMessages ? relevant : []
        guard !relevant.isEmpty else { return .dropped }
        return delaysMessages ? .delayed : .shown
    }

    /// Queues a message for a payment that has just failed.
    mutating func queueMessage(about place: Place) {
        accounts[place.account].messages.append(
            AppStoreMessage(subscription: place.subscription, end: self[place].current.end)
        )
    }

    private func isUnsolved(_ message: AppStoreMessage, _ account: Int) -> Bool {
        let subscription = accounts[account].subscriptions[message.subscription]
        guard subscription.isAlive, subscription.current.end == message.end else { return false }
        return subscription.phase != .running
    }
}
