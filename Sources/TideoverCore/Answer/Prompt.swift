/// What to tell a customer whose payment failed.
public struct Prompt: Hashable, Sendable {
    public var kind: Kind
    public var entitlement: String
    /// The key of the words, for the app's own translations.
    public var key: String
    /// When access ends unless the payment is mended; nil when it has ended.
    public var until: Instant?
    public var title: String
    public var message: String
    public var action: Action

    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Nothing stops; a quiet notice.
        case soft
        /// Access is blocked until the payment is mended.
        case hard
    }

    public struct Action: Hashable, Sendable {
        public var label: String
        public var url: String
    }
}

extension CustomerHistory {
    /// The most pressing prompt: only for the customer's own purchases, and none for an entitlement
    /// that another purchase keeps active.
    func prompt(at instant: Instant) -> Prompt? {
        let prompts = catalogue.value(at: instant).entitlements.compactMap {
            prompt(for: $0, at: instant)
        }
        return prompts.first { $0.kind == .hard } ?? prompts.first
    }

    private func prompt(for entitlement: String, at instant: Instant) -> Prompt? {
        let own = best(of: entitlement, at: instant, ownOnly: true)
        let overall = best(of: entitlement, at: instant)
        guard overall.state != .active else { return nil }
        switch own.state {
        case .grace:
            return .soft(entitlement, until: own.graceUntil)
        case .hold where overall.access:
            return .soft(entitlement, until: nil)
        case .hold:
            return .hard(entitlement)
        case .active, .expired, .never:
            return nil
        }
    }
}

extension Prompt {
    /// Where the App Store lets a customer mend a payment method.
    static let appStoreBilling = "https://apps.apple.com/account/billing"

    static func soft(_ entitlement: String, until: Instant?) -> Prompt {
        Prompt(
            kind: .soft,
            entitlement: entitlement,
            key: "grace.soft",
            until: until,
            title: "There was a problem with your payment",
            message: until.map {
                "You still have full access. Please update your payment method by "
                    + "\(Words.day($0)) to keep it."
            } ?? "You still have full access. Please update your payment method to keep it.",
            action: Action(label: "Update payment method", url: appStoreBilling)
        )
    }

    static func hard(_ entitlement: String) -> Prompt {
        Prompt(
            kind: .hard,
            entitlement: entitlement,
            key: "hold.hard",
            until: nil,
            title: "Your subscription is on hold",
            message: "Your last payment did not go through. Update your payment method and you "
                + "are back instantly; your data is still here.",
            action: Action(label: "Update payment method", url: appStoreBilling)
        )
    }
}

/// English words for what people read.
enum Words {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// `17 May 2026`, in UTC.
    static func day(_ instant: Instant) -> String {
        let writable = Instant.writable
        let date = CivilDate(min(max(instant, writable.lowerBound), writable.upperBound))
        return "\(date.day) \(months[Int(date.month - 1)]) \(date.year)"
    }
}
