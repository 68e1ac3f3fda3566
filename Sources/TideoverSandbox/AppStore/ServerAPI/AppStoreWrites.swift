public import TideoverJSON

// The Server API's writes.

/// Consumption information for a refund request, as the back end sent it.
public struct AppStoreConsumption: Hashable, Sendable {
    /// When it arrived, in milliseconds since 1970.
    public let at: Int64
    /// The id of its transaction.
    public let transactionId: String
    /// The whole body.
    public let body: JSONObject
}

extension AppStoreService {
    /// https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token
    mutating func setAppAccountToken(_ call: AppStoreCall) throws(Failure) {
        let token = try body(of: call)["appAccountToken"]?.string ?? ""
        guard isUUID(token) else { throw .api(.appAccountTokenNotUUID) }
        let finding = try finding(call.id, asOf: now)
        guard finding.ownershipType == "PURCHASED" else { throw .api(.familyTransaction) }
        if let shelf = machine.shelf(of: call.id) {
            machine.remember(shelf.account)
            machine[shelf].appAccountToken = token
            return
        }
        guard let place = machine.place(ofOriginal: call.id) else {
            throw .api(.notOriginalTransactionId)
        }
        machine.remember(place.account)
        machine[place].appAccountToken = token
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/finish-transaction
    mutating func finish(_ call: AppStoreCall) throws(Failure) {
        finished.insert(try finding(call.id, asOf: now).ids.transactionId)
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
    mutating func extendRenewalDate(_ call: AppStoreCall) throws(Failure) -> JSONObject {
        let days = try extensionWish(try body(of: call)).days
        try checkTransactionId(call.id, .originalTransactionId)
        guard let place = machine.place(ofOriginal: call.id) else {
            throw .api(.originalTransactionNotFound)
        }
        guard machine[place].sharedFrom == nil else { throw .api(.familyExtension) }
        let notification: AppStoreNotification
        do {
            notification = try machine.extend(place, byDays: days)
        } catch {
            let isUsedUp = error.reason == .extensionsUsedUp
            throw .api(isUsedUp ? .extensionsUsedUp : .extensionIneligible)
        }
        post.post([notification] + machine.tellFamily(of: place.account))
        let term = machine[place].current
        return [
            "effectiveDate": .integer(term.end),
            "originalTransactionId": .string(call.id),
            "success": true,
            "webOrderLineItemId": .string(term.ids.webOrderLineItemId),
        ]
    }
}

// MARK: - Extending all

extension AppStoreService {
    /// Returns the common parameters of all extension requests.
    private func extensionWish(
        _ wish: JSONNode
    ) throws(Failure) -> (days: Int64, requestIdentifier: String) {
        guard let days = wish["extendByDays"]?.int64, (1...90).contains(days) else {
            throw .api(.extendByDays)
        }
        guard let reason = wish["extendReasonCode"]?.int64, (0...3).contains(reason) else {
            throw .api(.extendReasonCode)
        }
        guard let id = wish["requestIdentifier"]?.string, (1...128).contains(id.utf8.count) else {
            throw .api(.requestIdentifier)
        }
        return (days, id)
    }

    /// A repeated request with the same identifier is the same request.
    /// https://developer.apple.com/documentation/appstoreserverapi/extend-subscription-renewal-dates-for-all-active-subscribers
    mutating func extendAll(_ call: AppStoreCall) throws(Failure) -> JSONObject {
        let body = try body(of: call)
        let (days, id) = try extensionWish(body)
        guard let productId = body["productId"]?.string, machine.app.product(productId) != nil
        else { throw .api(.productId) }
        let countries = try countries(in: body)
        if machine.massExtension(of: productId, id) == nil {
            machine.massExtensions.append(
                MassExtension(
                    productId: productId,
                    requestIdentifier: id,
                    countries: countries,
                    days: days,
                    at: now + MassExtension.delay
                )
            )
        }
        return ["requestIdentifier": .string(id)]
    }

    private func countries(in body: JSONNode) throws(Failure) -> [String]? {
        guard let list = body["storefrontCountryCodes"] else { return nil }
        guard list.kind == .array else { throw .api(.storefrontCountryCode) }
        var countries: [String] = []
        for element in list.elements {
            guard let code = element.string, code.utf8.count == 3,
                code.utf8.allSatisfy({ (0x41...0x5A).contains($0) })
            else { throw .api(.storefrontCountryCode) }
            countries.append(code)
        }
        guard !countries.isEmpty else { throw .api(.noStorefrontCountryCodes) }
        return countries
    }

    /// https://developer.apple.com/documentation/appstoreserverapi/get-status-of-subscription-renewal-date-extensions
    func massExtensionStatus(_ call: AppStoreCall) throws(Failure) -> JSONObject {
        guard let order = machine.massExtension(of: call.ids[0], call.ids[1]) else {
            throw .api(.massExtensionNotFound)
        }
        var answer: JSONObject = [
            "requestIdentifier": .string(order.requestIdentifier),
            "complete": .bool(order.result != nil),
        ]
        if let result = order.result {
            answer["completeDate"] = .integer(order.at)
            answer["succeededCount"] = .integer(result.succeeded)
            answer["failedCount"] = .integer(result.failed)
        }
        return answer
    }
}

// MARK: - Consumption

extension AppStoreService {
    /// https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information
    mutating func keepConsumption(_ call: AppStoreCall) throws(Failure) {
        let body = try body(of: call)
        let finding = try finding(call.id, asOf: now)
        try checkConsent(body)
        if call.operation == .consumptionInfo {
            try checkSecondVersion(body)
        } else {
            try checkFirstVersion(body)
        }
        guard let content = JSONValue(body).object else { throw .api(.badRequest) }
        consumptions.append(
            AppStoreConsumption(
                at: now,
                transactionId: finding.ids.transactionId,
                body: content
            )
        )
    }

    private func checkConsent(_ body: JSONNode) throws(Failure) {
        guard body["customerConsented"]?.bool == true else { throw .api(.customerConsented) }
        guard body["sampleContentProvided"]?.bool != nil else {
            throw .api(.sampleContentProvided)
        }
    }

    private static let deliveryStatuses = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
        "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
    ]
    private static let refundPreferences = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

    private func checkSecondVersion(_ body: JSONNode) throws(Failure) {
        guard AppStoreService.deliveryStatuses.contains(body["deliveryStatus"]?.string ?? "") else {
            throw .api(.deliveryStatus)
        }
        if let share = body["consumptionPercentage"] {
            guard let milliunits = share.int64, (0...100_000).contains(milliunits) else {
                throw .api(.badRequest)
            }
        }
        if let preference = body["refundPreference"] {
            guard AppStoreService.refundPreferences.contains(preference.string ?? "") else {
                throw .api(.badRequest)
            }
        }
    }

    /// The fields of the first version, all numbers, with the maximum of each.
    private static let numbers: [(field: String, greatest: Int64, error: AppStoreAPIError)] = [
        ("consumptionStatus", 3, .consumptionStatus), ("platform", 2, .platform),
        ("deliveryStatus", 5, .deliveryStatus), ("accountTenure", 7, .accountTenure),
        ("playTime", 7, .playTime), ("lifetimeDollarsRefunded", 7, .lifetimeDollarsRefunded),
        ("lifetimeDollarsPurchased", 7, .lifetimeDollarsPurchased), ("userStatus", 4, .userStatus),
    ]

    private func checkFirstVersion(_ body: JSONNode) throws(Failure) {
        for (field, greatest, error) in AppStoreService.numbers {
            guard let number = body[field]?.int64, (0...greatest).contains(number) else {
                throw .api(error)
            }
        }
        // An empty token is allowed, and means that there is none.
        guard let token = body["appAccountToken"]?.string, token.isEmpty || isUUID(token) else {
            throw .api(.appAccountToken)
        }
    }
}
