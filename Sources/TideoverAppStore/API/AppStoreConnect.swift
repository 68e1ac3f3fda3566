package import TideoverCore

/// The billing grace period configured in App Store Connect: how long subscribers keep access after
/// a failed payment.
/// https://developer.apple.com/documentation/appstoreconnectapi/subscriptiongraceperiod
package struct BillingGraceSetting: Hashable, Sendable {
    /// Whether a grace period applies in production.
    package let optIn: Bool?
    /// Whether a grace period applies in the sandbox.
    package let sandboxOptIn: Bool?
    package let duration: OpenEnum<Duration>?
    package let renewalType: OpenEnum<RenewalType>?

    /// https://developer.apple.com/documentation/appstoreconnectapi/subscriptiongraceperiodduration
    package enum Duration: String, Hashable, Sendable, CaseIterable {
        case threeDays = "THREE_DAYS"
        case sixteenDays = "SIXTEEN_DAYS"
        case twentyEightDays = "TWENTY_EIGHT_DAYS"
    }

    /// The renewals that the grace period covers.
    package enum RenewalType: String, Hashable, Sendable, CaseIterable {
        case allRenewals = "ALL_RENEWALS"
        /// All renewals except the first payment after a free trial.
        case paidToPaidOnly = "PAID_TO_PAID_ONLY"
    }

    /// The grace period in days; nil for a duration that this version does not know.
    package var days: Int64? {
        switch duration?.known {
        case .threeDays: 3
        case .sixteenDays: 16
        case .twentyEightDays: 28
        case nil: nil
        }
    }

    /// Whether a failed payment at the end of a trial ends access without a grace period.
    package var isForPaidOnly: Bool { renewalType?.known == .paidToPaidOnly }
}

extension BillingGraceSetting {
    init(_ fields: WireFields) throws(AppStoreRefusal) {
        let data = try fields.fields("data").required("data")
        let attributes = try data.fields("attributes").required("data.attributes")
        optIn = try attributes.flag("optIn")
        sandboxOptIn = try attributes.flag("sandboxOptIn")
        duration = try attributes.word("duration")
        renewalType = try attributes.word("renewalType")
    }
}

extension AppStoreAPI {
    /// The URL of App Store Connect.
    package static let connectURL = "https://api.appstoreconnect.apple.com"

    /// Requests the billing grace period of an app from App Store Connect. The handler must send to
    /// ``connectURL``.
    /// https://developer.apple.com/documentation/appstoreconnectapi/get-v1-apps-_id_-subscriptiongraceperiod
    package func billingGraceSetting(
        of appAppleId: Int64
    ) async throws -> AppStoreAnswer<BillingGraceSetting> {
        let question = AppStoreQuestion(
            path: try path("/v1/apps", "\(appAppleId)", "/subscriptionGracePeriod")
        )
        return try await ask(question, BillingGraceSetting.init)
    }
}
