/// A difference between a device's entitlement state and the server's, from detection to
/// resolution. It is measured and resolved; it never changes an answer.
public struct Drift: Hashable, Sendable {
    /// Increases with `openedAt`. The same difference found at the same instant has the same ID.
    public let id: String
    public let customer: CustomerID
    public let environment: Environment
    public let entitlement: String
    /// The purchase concerned, if the device or the server knows one.
    public var lineage: Lineage?
    public var direction: Direction
    public var cause: Cause
    /// When it was detected, by our clock.
    public let openedAt: Instant
    /// Nil while it is open.
    public var healing: Healing?
    /// The device's state at detection.
    public var device: DeviceWord
    /// The server's state at detection.
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

    /// How it was resolved.
    public struct Healing: Hashable, Sendable {
        public var at: Instant
        public var by: Healer
        /// Whether both sides gave access after the resolution.
        public var access: Bool

        public init(at: Instant, by: Healer, access: Bool) {
            self.at = at
            self.by = by
            self.access = access
        }
    }

    public var isOpen: Bool { healing == nil }

    /// The time from detection to resolution; nil while it is open.
    public var timeToHeal: Milliseconds? { healing.map { max(.zero, $0.at - openedAt) } }

    /// How long one side denied the access that both gave in the end, from detection. The customer
    /// was locked out for that time. Nil while it is open.
    public var lockout: Milliseconds? {
        guard let healing, let timeToHeal else { return nil }
        return healing.access && direction != .untilDiffers ? timeToHeal : .zero
    }

    /// Whether a query to the store resolves it, if the device is right.
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
    /// Which of the two sides gives access.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// An entitled customer is locked out.
        case deviceDeniesServerAllows = "device-denies-server-allows"
        /// The device gives access that the server denies.
        case deviceAllowsServerDenies = "device-allows-server-denies"
        /// Both give access, until different instants.
        case untilDiffers = "until-differs"
    }

    /// Why the two sides differ.
    public enum Cause: String, Hashable, Sendable, CaseIterable {
        /// The server has newer data than the device had when it last read its store.
        case staleDeviceCache = "stale-device-cache"
        /// The device has newer data than the server had received.
        case missedNotification = "missed-notification"
        /// The device has the purchase and failed to verify it.
        case unverifiedOnDevice = "unverified-on-device"
        /// The purchase belongs to another customer on the server.
        case otherCustomer = "other-customer"
        /// The device and the server read different environments.
        case environment
        /// The device's clock is wrong by enough to change the answer.
        case clock
        /// The device has a transaction that was never finished.
        case unfinishedTransaction = "unfinished-transaction"
        /// The server knows the purchase, and no customer has claimed it.
        case unclaimedPurchase = "unclaimed-purchase"

        /// A sentence for support staff that names the cause and the remedy.
        public var sentence: String {
            switch self {
            case .staleDeviceCache:
                "The device did not have the current answer yet; it receives it at the next request."
            case .missedNotification:
                "The device has a store report that the server has not received; the server asks the store."
            case .unverifiedOnDevice:
                "The device has a purchase with a signature that it cannot verify, and must not use "
                    + "it; the server verifies what it presents."
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
                "The purchase is known, its customer is not; it belongs to the customer who presents it, "
                    + "for example by restoring purchases."
            }
        }
    }

    /// The cause of a resolution.
    public enum Healer: String, Hashable, Sendable, CaseIterable {
        /// The device: a purchase that it presented, or a report that now agrees.
        case device
        /// The store sent the missing notification.
        case notification
        /// The server queried the store.
        case asked
        /// An operator's action, such as a grant.
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
