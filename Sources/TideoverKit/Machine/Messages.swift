import TideoverCore

// The store's own messages: shown, delayed while the app asks for it, dropped once resolved.

/// The reason for a message of the store.
public enum StoreMessage: Hashable, Sendable {
    /// A payment failed.
    case billingIssue
    /// The customer must agree to a higher price.
    case priceIncreaseConsent
    /// Any other reason; the system writes the message.
    case other
}

extension EntitlementMachine {
    /// Shows a message at once, unless the app delays messages. A message also means that the
    /// subscription changed.
    mutating func receiveMessage(_ message: StoreMessage) -> [Action] {
        guard delaysMessages else { return [.display(message)] + beginRound() }
        if !delayedMessages.contains(message) { delayedMessages.append(message) }
        return beginRound()
    }

    /// When the delay ends, shows what is still unresolved, in order of arrival.
    mutating func delayMessages(_ delays: Bool) -> [Action] {
        delaysMessages = delays
        guard !delays else { return [] }
        let shown = delayedMessages.filter(isUnresolved)
        delayedMessages = []
        return shown.map { .display($0) }
    }

    /// A billing issue is resolved once an answer names no failing payment.
    private func isUnresolved(_ message: StoreMessage) -> Bool {
        guard message == .billingIssue, let published, published.isAnswered else { return true }
        return published.entitlements.values.contains { $0.state == .grace || $0.state == .hold }
    }
}
