public import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Which of a customer's transactions to list; what is left empty does not narrow the list.
/// https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
public struct TransactionHistoryFilter: Hashable, Sendable {
    /// Purchased at this instant or later.
    public var startDate: Instant?
    /// Purchased before this instant.
    public var endDate: Instant?
    public var productIds: [String] = []
    public var productTypes: [ProductType] = []
    public var sort: Sort?
    public var subscriptionGroupIdentifiers: [String] = []
    public var inAppOwnershipType: AppStoreTransaction.OwnershipType?
    /// Only what the store has taken back, or only what it has not.
    public var revoked: Bool?

    public init() {}

    /// By date of change.
    public enum Sort: String, Hashable, Sendable, CaseIterable {
        case ascending = "ASCENDING"
        case descending = "DESCENDING"
    }

    /// What was bought, in the words of a question; answers have others.
    public enum ProductType: String, Hashable, Sendable, CaseIterable {
        case autoRenewable = "AUTO_RENEWABLE"
        case nonRenewable = "NON_RENEWABLE"
        case consumable = "CONSUMABLE"
        case nonConsumable = "NON_CONSUMABLE"
    }

    var fault: AppStoreQuestionFault? {
        guard let startDate, let endDate, startDate > endDate else { return nil }
        return .startAfterEnd
    }

    var query: [QueryItem] {
        var items: [QueryItem] = []
        func add(_ name: String, _ values: [String]) {
            items += values.map { QueryItem(name: name, value: $0) }
        }
        func date(_ instant: Instant?) -> [String] {
            instant.map { ["\($0.millisecondsSince1970)"] } ?? []
        }
        add("startDate", date(startDate))
        add("endDate", date(endDate))
        add("productId", productIds)
        add("productType", productTypes.map(\.rawValue))
        add("sort", sort.map { [$0.rawValue] } ?? [])
        add("subscriptionGroupIdentifier", subscriptionGroupIdentifiers)
        add("inAppOwnershipType", inAppOwnershipType.map { [$0.rawValue] } ?? [])
        add("revoked", revoked.map { [$0 ? "true" : "false"] } ?? [])
        return items
    }
}

/// Which notifications to list. The pages of one list are asked for with the same filter.
/// https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryrequest
public struct NotificationHistoryFilter: Hashable, Sendable {
    /// How long the store keeps notifications; a simulated store does as a production one.
    public static func reach(in environment: Environment) -> Milliseconds {
        switch environment {
        case .sandbox: .days(30)
        case .production, .xcode, .simulated: .days(180)
        }
    }

    public var startDate: Instant
    public var endDate: Instant
    public var only: Subject?
    /// Only those that have not reached the server yet.
    public var onlyFailures: Bool

    /// What a list can be narrowed to: the store takes one of these, never both.
    public enum Subject: Hashable, Sendable {
        case type(Stated<AppStoreNotification.NotificationType>)
        case subtype(
            Stated<AppStoreNotification.NotificationType>,
            Stated<AppStoreNotification.Subtype>
        )
        /// One customer, by any of the customer's transactions.
        case transaction(String)
    }

    public init(
        from startDate: Instant,
        to endDate: Instant,
        only: Subject? = nil,
        onlyFailures: Bool = false
    ) {
        self.startDate = startDate
        self.endDate = endDate
        self.only = only
        self.onlyFailures = onlyFailures
    }

    /// The earliest start that the store can be asked for, with some minutes for clocks that differ.
    public static func earliestStart(
        at now: Instant,
        in environment: Environment = .production
    ) -> Instant {
        now - reach(in: environment) + .minutes(10)
    }

    func fault(at now: Instant, in environment: Environment) -> AppStoreQuestionFault? {
        if startDate >= endDate { return .startAfterEnd }
        guard startDate < now - Self.reach(in: environment) else { return nil }
        return .startTooOld(earliest: Self.earliestStart(at: now, in: environment))
    }

    var body: JSONObject {
        var body: JSONObject = [
            "startDate": .integer(startDate.millisecondsSince1970),
            "endDate": .integer(endDate.millisecondsSince1970),
        ]
        switch only {
        case .type(let type): body["notificationType"] = .string(type.raw)
        case .subtype(let type, let subtype):
            body["notificationType"] = .string(type.raw)
            body["notificationSubtype"] = .string(subtype.raw)
        case .transaction(let id): body["transactionId"] = .string(id)
        case nil: break
        }
        if onlyFailures { body["onlyFailures"] = true }
        return body
    }
}
