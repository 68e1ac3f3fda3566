import TideoverJSON

/// The duration and reason of a renewal date extension.
/// https://developer.apple.com/documentation/appstoreserverapi/extendrenewaldaterequest
package struct RenewalExtension: Hashable, Sendable {
    /// The days of one extension. The store allows two extensions a year.
    package static let possibleDays: ClosedRange<Int64> = 1...90

    package var days: Int64
    package var reason: Reason
    /// A UUID of our choice, at most 128 characters.
    package var requestIdentifier: String

    package init(days: Int64, reason: Reason, requestIdentifier: String) {
        self.days = days
        self.reason = reason
        self.requestIdentifier = requestIdentifier
    }

    /// The reason for a renewal date extension.
    /// https://developer.apple.com/documentation/appstoreserverapi/extendreasoncode
    package enum Reason: Int64, Hashable, Sendable, CaseIterable {
        case undeclared = 0
        case customerSatisfaction = 1
        case other = 2
        case serviceIssue = 3
    }

    var fault: AppStoreQuestionFault? {
        guard Self.possibleDays.contains(days) else {
            return .outOfRange(field: "extendByDays", Self.possibleDays)
        }
        let isIdentifier = (1...128).contains(requestIdentifier.utf8.count)
        return isIdentifier ? nil : .identifier(requestIdentifier)
    }

    var body: JSONObject {
        [
            "extendByDays": .integer(days), "extendReasonCode": .integer(reason.rawValue),
            "requestIdentifier": .string(requestIdentifier),
        ]
    }
}

/// The consumption data that the store requests before it decides on a refund.
/// https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest
package struct ConsumptionInformation: Hashable, Sendable {
    /// All of it.
    package static let wholePercentage: Int64 = 100_000

    /// Whether the customer consented to sharing this data; without consent nothing may be sent.
    package var customerConsented: Bool
    /// Whether the customer could try or preview the content before the purchase.
    package var sampleContentProvided: Bool
    package var deliveryStatus: DeliveryStatus
    /// The consumed part, in thousandths of a percent.
    package var consumptionPercentage: Int64?
    /// The preferred refund decision.
    package var refundPreference: RefundPreference?

    package init(
        customerConsented: Bool,
        sampleContentProvided: Bool,
        deliveryStatus: DeliveryStatus,
        consumptionPercentage: Int64? = nil,
        refundPreference: RefundPreference? = nil
    ) {
        self.customerConsented = customerConsented
        self.sampleContentProvided = sampleContentProvided
        self.deliveryStatus = deliveryStatus
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// Whether it arrived.
    package enum DeliveryStatus: String, Hashable, Sendable, CaseIterable {
        case delivered = "DELIVERED"
        case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
        case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
        case undeliveredOther = "UNDELIVERED_OTHER"
    }

    /// The preferred refund decision; the store makes the final decision.
    package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
        case decline = "DECLINE"
        case grantFull = "GRANT_FULL"
        case grantProrated = "GRANT_PRORATED"
    }

    var fault: AppStoreQuestionFault? {
        let possible = 0...Self.wholePercentage
        guard let consumptionPercentage, !possible.contains(consumptionPercentage) else {
            return nil
        }
        return .outOfRange(field: "consumptionPercentage", possible)
    }

    var body: JSONObject {
        var body: JSONObject = [
            "customerConsented": .bool(customerConsented),
            "sampleContentProvided": .bool(sampleContentProvided),
            "deliveryStatus": .string(deliveryStatus.rawValue),
        ]
        body["consumptionPercentage"] = consumptionPercentage.map { .integer($0) }
        body["refundPreference"] = refundPreference.map { .string($0.rawValue) }
        return body
    }
}
