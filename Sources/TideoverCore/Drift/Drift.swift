/// A difference between what a device concluded by itself and what we answered, from when it was found
/// until it was no more. It is kept to be measured and mended; it never changes an answer.
public struct Drift: Hashable, Sendable {
    /// Rises with `openedAt`; the same difference found at the same instant has the same id.
    public let id: String
    public let customer: CustomerID
    public let environment: Environment
    public let entitlement: String
    /// The purchase it is about, as far as the device or we know one.
    public var lineage: Lineage?
    public var direction: Direction
    public var cause: Cause
    /// When it was found, by our clock.
    public let openedAt: Instant
    /// Nil while it is open.
    public var healing: Healing?
    /// What the device said when it was found.
    public var device: DeviceWord
    /// What we said when it was found.
    public var server: ServerWord

    public init(
        customer: CustomerID,
        environment: Environment,
        entitlement: String,
        lineage: Lineage?,
        direction: Direction,
        cause: Cause,
        openedAt: Instant,
        healing: Healing? = nil,
        device: DeviceWord,
        server: ServerWord
    ) {
        id = Self.id(customer, environment, entitlement, direction, openedAt)
        self.customer = customer
        self.environment = environment
        self.entitlement = entitlement
        self.lineage = lineage
        self.direction = direction
        self.cause = cause
        self.openedAt = openedAt
        self.healing = healing
        self.device = device
        self.server = server
    }

    /// How it ended.
    public struct Healing: Hashable, Sendable {
        public var at: Instant
        public var by: Healer
        /// Whether both then gave access.
        public var access: Bool

        public init(at: Instant, by: Healer, access: Bool) {
            self.at = at
            self.by = by
            self.access = access
        }
    }

    public var isOpen: Bool { healing == nil }

    /// From when it was found until it was no more; nil while it is open.
    public var timeToHeal: Milliseconds? { healing.map { max(.zero, $0.at - openedAt) } }

    /// How long one of the two denied, from when it was found, what both then came to give: the
    /// customer was locked out there. Nil while it is open.
    public var lockout: Milliseconds? {
        guard let healing, let timeToHeal else { return nil }
        return healing.access && direction != .untilDiffers ? timeToHeal : .zero
    }

    /// Whether it heals as soon as the store is asked about the purchase, if the device is right.
    public var asksStore: Bool {
        guard isOpen, lineage?.store == .appStore else { return false }
        return switch cause {
        case .missedNotification: true
        case .unfinishedTransaction: direction != .deviceDeniesServerAllows
        case .staleDeviceCache, .unverifiedOnDevice, .otherCustomer, .environment, .clock,
            .unclaimedPurchase:
            false
        }
    }

    private static func id(
        _ customer: CustomerID,
        _ environment: Environment,
        _ entitlement: String,
        _ direction: Direction,
        _ openedAt: Instant
    ) -> String {
        let place = Lineage(store: .tideover, environment: environment, id: customer.text)
        let digest = StableDigest.text(of: place, entitlement, direction.rawValue)
        let count = String(max(0, openedAt.millisecondsSince1970), radix: 16)
        return String(repeating: "0", count: max(0, 12 - count.count)) + count
            + "-\(digest.prefix(16))"
    }
}

extension Drift {
    /// Which of the two gives access.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// A customer who may have it is locked out.
        case deviceDeniesServerAllows = "device-denies-server-allows"
        /// A customer is served, or waits to be, whom we would not serve.
        case deviceAllowsServerDenies = "device-allows-server-denies"
        /// Both give access, until different instants.
        case untilDiffers = "until-differs"
    }

    /// Why the two differ.
    public enum Cause: String, Hashable, Sendable, CaseIterable {
        /// We know more than the device had heard when it last looked.
        case staleDeviceCache = "stale-device-cache"
        /// The device knows more than we had heard.
        case missedNotification = "missed-notification"
        /// The device holds the purchase and could not verify it.
        case unverifiedOnDevice = "unverified-on-device"
        /// The purchase is another customer's here.
        case otherCustomer = "other-customer"
        /// The device and we look at different environments.
        case environment
        /// The device's clock differs from ours by enough to turn the answer.
        case clock
        /// The device holds a transaction that was never finished.
        case unfinishedTransaction = "unfinished-transaction"
        /// We know the purchase, and nobody has claimed it.
        case unclaimedPurchase = "unclaimed-purchase"

        /// What it is and what ends it, in a sentence for a support person.
        public var sentence: String {
            switch self {
            case .staleDeviceCache:
                "The device had not yet heard what we know; it does when it next takes our answer."
            case .missedNotification:
                "The device knows of the store what had not reached us; the store is asked about it."
            case .unverifiedOnDevice:
                "The device holds a purchase whose signature it could not verify, which it must not "
                    + "act on; what it presents is verified here."
            case .otherCustomer:
                "The purchase on the device belongs to another customer here, as where two people "
                    + "share one store account; the customer who bought it can sign in."
            case .environment:
                "The device looks at another environment than the one asked about, such as a test "
                    + "build that asks for production."
            case .clock:
                "The device's clock is wrong by enough to turn the answer; it is right again when "
                    + "its date is set automatically."
            case .unfinishedTransaction:
                "The device holds a transaction that it never finished; once it is presented here "
                    + "and finished, both agree."
            case .unclaimedPurchase:
                "We know the purchase but not whose it is; it is the customer's who presents it, as "
                    + "by restoring purchases."
            }
        }
    }

    /// What ended a difference.
    public enum Healer: String, Hashable, Sendable, CaseIterable {
        /// The device: what it presented, or that it has come to agree with us.
        case device
        /// The store sent what had been missing.
        case notification
        /// We asked the store.
        case asked
        /// An operator's word, such as a grant.
        case `operator`
        /// The purchase was claimed, or moved to another customer.
        case ownership
        /// Time: a period ended, or another policy or catalogue took effect.
        case time

        init(_ source: Source) {
            self =
                switch source {
                case .appStoreNotification, .playNotification, .revenueCatWebhook: .notification
                case .appStoreAPI, .playAPI, .revenueCatAPI, .server: .asked
                case .deviceTransaction, .appReceipt: .device
                case .imported, .operator: .operator
                }
        }
    }
}
