package import TideoverCore
import TideoverHTTP
import TideoverJSON

/// Selects transactions of a customer; an empty field does not restrict the list.
/// https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history
package struct TransactionHistoryFilter: Hashable, Sendable {
    /// Purchased at this instant or later.
    package var startDate: Instant?
    /// Purchased before this instant.
    package var endDate: Instant?
    package var productIds: [String] = []
    package var productTypes: [ProductType] = []
    package var sort: Sort?
    package var subscriptionGroupIdentifiers: [String] = []
    package var inAppOwnershipType: AppStoreTransaction.OwnershipType?
    /// Restricts the list to revoked transactions, or to those that are not revoked.
    package var revoked: Bool?

    package init() {}

    /// The order, by date of change.
    package enum Sort: String, Hashable, Sendable, CaseIterable {
        case ascending = "ASCENDING"
        case descending = "DESCENDING"
    }

    /// The product types in requests; responses use other names.
    package enum ProductType: String, Hashable, Sendable, CaseIterable {
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

/// Selects notifications. All pages of one list need the same filter.
/// https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryrequest
package struct NotificationHistoryFilter: Hashable, Sendable {
    /// Returns how long the store keeps notifications. A simulated store keeps them as long as
    /// production.
    package static func reach(in environment: Environment) -> Milliseconds {
        switch environment {
        case .sandbox: .days(30)
        case .production, .xcode, .simulated: .days(180)
        }
    }

    package var startDate: Instant
    package var endDate: Instant
    package var only: Subject?
    /// Whether to list only notifications that have not reached the server yet.
    package var onlyFailures: Bool

    /// A restriction of the list; the store accepts at most one.
    package enum Subject: Hashable, Sendable {
        case type(OpenEnum<AppStoreNotification.NotificationType>)
        case subtype(
            OpenEnum<AppStoreNotification.NotificationType>,
            OpenEnum<AppStoreNotification.Subtype>
        )
        /// One customer, identified by any of the customer's transactions.
        case transaction(String)
    }

    package init(
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

    /// Returns the earliest start that the store accepts, with ten minutes of margin for clock
    /// differences.
    package static func earliestStart(
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
