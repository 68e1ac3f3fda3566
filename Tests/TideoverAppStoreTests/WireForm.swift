import TideoverAppStore
import TideoverCore
import TideoverJSON

/// Encodes our values as the App Store writes them, to check that no content is lost.
extension AppStoreNotification {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["notificationType"] = wire(notificationType)
        json["subtype"] = wire(subtype)
        json["notificationUUID"] = wire(notificationUUID)
        json["version"] = wire(version)
        json["signedDate"] = wire(signedDate)
        switch content {
        case .data(let data): json["data"] = .object(data.wireForm)
        case .summary(let summary): json["summary"] = .object(summary.wireForm)
        case .externalPurchaseToken(let token):
            json["externalPurchaseToken"] = .object(token.wireForm)
        case .appData(let appData): json["appData"] = .object(appData.wireForm)
        case .unknown, nil: break
        }
        return json
    }
}

extension AppStoreNotification.Data {
    fileprivate var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["appAppleId"] = wire(appAppleId)
        json["bundleId"] = wire(bundleId)
        json["bundleVersion"] = wire(bundleVersion)
        json["environment"] = wire(environment)
        json["signedTransactionInfo"] = wire(signedTransactionInfo)
        json["signedRenewalInfo"] = wire(signedRenewalInfo)
        json["status"] = wire(status)
        json["consumptionRequestReason"] = wire(consumptionRequestReason)
        return json
    }
}

extension AppStoreNotification.Summary {
    fileprivate var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["requestIdentifier"] = wire(requestIdentifier)
        json["environment"] = wire(environment)
        json["appAppleId"] = wire(appAppleId)
        json["bundleId"] = wire(bundleId)
        json["productId"] = wire(productId)
        json["storefrontCountryCodes"] = wire(storefrontCountryCodes)
        json["succeededCount"] = wire(succeededCount)
        json["failedCount"] = wire(failedCount)
        return json
    }
}

extension AppStoreNotification.ExternalPurchaseToken {
    fileprivate var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["externalPurchaseId"] = wire(externalPurchaseId)
        json["tokenCreationDate"] = wire(tokenCreationDate)
        json["appAppleId"] = wire(appAppleId)
        json["bundleId"] = wire(bundleId)
        json["tokenType"] = wire(tokenType)
        json["tokenExpirationDate"] = wire(tokenExpirationDate)
        return json
    }
}

extension AppStoreNotification.AppData {
    fileprivate var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["appAppleId"] = wire(appAppleId)
        json["bundleId"] = wire(bundleId)
        json["environment"] = wire(environment)
        json["signedAppTransactionInfo"] = wire(signedAppTransactionInfo)
        return json
    }
}

extension AppStoreTransaction {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["transactionId"] = wire(transactionId)
        json["originalTransactionId"] = wire(originalTransactionId)
        json["previousOriginalTransactionId"] = wire(previousOriginalTransactionId)
        json["webOrderLineItemId"] = wire(webOrderLineItemId)
        json["appTransactionId"] = wire(appTransactionId)
        json["bundleId"] = wire(bundleId)
        json["productId"] = wire(productId)
        json["subscriptionGroupIdentifier"] = wire(subscriptionGroupIdentifier)
        json["purchaseDate"] = wire(purchaseDate)
        json["originalPurchaseDate"] = wire(originalPurchaseDate)
        json["expiresDate"] = wire(expiresDate)
        json["signedDate"] = wire(signedDate)
        json["revocationDate"] = wire(revocationDate)
        json["quantity"] = wire(quantity)
        json["type"] = wire(type)
        json["appAccountToken"] = wire(appAccountToken)
        json["inAppOwnershipType"] = wire(inAppOwnershipType)
        json["isUpgraded"] = wire(isUpgraded)
        json["offerType"] = wire(offerType)
        json["offerIdentifier"] = wire(offerIdentifier)
        json["offerDiscountType"] = wire(offerDiscountType)
        json["offerPeriod"] = wire(offerPeriod)
        addRest(to: &json)
        return json
    }

    private func addRest(to json: inout JSONObject) {
        json["revocationReason"] = wire(revocationReason)
        json["revocationType"] = wire(revocationType)
        json["revocationPercentage"] = wire(revocationPercentage)
        json["transactionReason"] = wire(transactionReason)
        json["price"] = wire(price)
        json["currency"] = wire(currency)
        json["storefront"] = wire(storefront)
        json["storefrontId"] = wire(storefrontId)
        json["environment"] = wire(environment)
        json["billingPlanType"] = wire(billingPlanType)
        json["advancedCommerceInfo"] = advancedCommerceInfo.map(JSONValue.object)
        guard let commitmentInfo else { return }
        var commitment: JSONObject = [:]
        commitment["billingPeriodNumber"] = wire(commitmentInfo.billingPeriodNumber)
        commitment["totalBillingPeriods"] = wire(commitmentInfo.totalBillingPeriods)
        commitment["commitmentExpiresDate"] = wire(commitmentInfo.commitmentExpiresDate)
        commitment["commitmentPrice"] = wire(commitmentInfo.commitmentPrice)
        json["commitmentInfo"] = .object(commitment)
    }
}

extension AppStoreRenewalInfo {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["originalTransactionId"] = wire(originalTransactionId)
        json["productId"] = wire(productId)
        json["autoRenewProductId"] = wire(autoRenewProductId)
        json["autoRenewStatus"] = wire(autoRenewStatus)
        json["expirationIntent"] = wire(expirationIntent)
        json["isInBillingRetryPeriod"] = wire(isInBillingRetryPeriod)
        json["gracePeriodExpiresDate"] = wire(gracePeriodExpiresDate)
        json["priceIncreaseStatus"] = wire(priceIncreaseStatus)
        json["renewalDate"] = wire(renewalDate)
        json["renewalPrice"] = wire(renewalPrice)
        json["currency"] = wire(currency)
        json["recentSubscriptionStartDate"] = wire(recentSubscriptionStartDate)
        json["offerType"] = wire(offerType)
        json["offerIdentifier"] = wire(offerIdentifier)
        json["offerDiscountType"] = wire(offerDiscountType)
        json["offerPeriod"] = wire(offerPeriod)
        addRest(to: &json)
        return json
    }

    private func addRest(to json: inout JSONObject) {
        json["eligibleWinBackOfferIds"] = wire(eligibleWinBackOfferIds)
        json["signedDate"] = wire(signedDate)
        json["environment"] = wire(environment)
        json["appAccountToken"] = wire(appAccountToken)
        json["appTransactionId"] = wire(appTransactionId)
        json["advancedCommerceInfo"] = advancedCommerceInfo.map(JSONValue.object)
        json["renewalBillingPlanType"] = wire(renewalBillingPlanType)
        guard let info = commitmentInfo else { return }
        var commitment: JSONObject = [:]
        commitment["commitmentAutoRenewProductId"] = wire(info.commitmentAutoRenewProductId)
        commitment["commitmentAutoRenewStatus"] = wire(info.commitmentAutoRenewStatus)
        commitment["commitmentRenewalBillingPlanType"] = wire(info.commitmentRenewalBillingPlanType)
        commitment["commitmentRenewalDate"] = wire(info.commitmentRenewalDate)
        commitment["commitmentRenewalPrice"] = wire(info.commitmentRenewalPrice)
        json["commitmentInfo"] = .object(commitment)
    }
}

extension AppStoreAppTransaction {
    var wireForm: JSONObject {
        var json: JSONObject = [:]
        json["receiptType"] = wire(receiptType)
        json["appAppleId"] = wire(appAppleId)
        json["bundleId"] = wire(bundleId)
        json["applicationVersion"] = wire(applicationVersion)
        json["versionExternalIdentifier"] = wire(versionExternalIdentifier)
        json["receiptCreationDate"] = wire(receiptCreationDate)
        json["originalPurchaseDate"] = wire(originalPurchaseDate)
        json["originalApplicationVersion"] = wire(originalApplicationVersion)
        json["deviceVerification"] = wire(deviceVerification)
        json["deviceVerificationNonce"] = wire(deviceVerificationNonce)
        json["preorderDate"] = wire(preorderDate)
        json["appTransactionId"] = wire(appTransactionId)
        json["originalPlatform"] = wire(originalPlatform)
        return json
    }
}

func wire(_ value: String?) -> JSONValue? { value.map(JSONValue.string) }
func wire(_ value: Int64?) -> JSONValue? { value.map(JSONValue.integer) }
func wire(_ value: Bool?) -> JSONValue? { value.map(JSONValue.bool) }

func wire(_ value: Instant?) -> JSONValue? {
    value.map { .integer($0.millisecondsSince1970) }
}

func wire(_ value: [String]?) -> JSONValue? {
    value.map { .array($0.map(JSONValue.string)) }
}

func wire(_ value: ArraySlice<UInt8>?) -> JSONValue? {
    value.map { .string(String(decoding: $0, as: UTF8.self)) }
}

func wire<Known>(_ value: OpenEnum<Known>?) -> JSONValue? where Known.RawValue == String {
    wire(value?.raw)
}

func wire<Known>(_ value: OpenEnum<Known>?) -> JSONValue? where Known.RawValue == Int64 {
    wire(value?.raw)
}
