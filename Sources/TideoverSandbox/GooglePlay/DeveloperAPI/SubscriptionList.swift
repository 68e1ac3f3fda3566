import TideoverHTTP
import TideoverJSON

/// One page request for an app's subscription products.
/// https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions/list
struct SubscriptionList {
    /// The number of entries before the page.
    private let position: Int
    private let pageSize: Int

    init(_ call: PlayCall) throws(PlayAPIError) {
        let size = call.request.queryValue("pageSize")
        guard let size = size.map({ Int($0) }) ?? 50, size >= 0 else { throw .invalid }
        // A larger size is reduced, and zero means the default.
        pageSize = size == 0 ? 50 : min(size, 1000)
        let page = call.request.queryValue("pageToken")
        guard let position = page.map({ Int($0) }) ?? 0, (0...1_000_000).contains(position) else {
            throw .invalidPageToken
        }
        self.position = position
    }

    func answer(of app: GooglePlayApp) -> JSONObject {
        let page = app.subscriptions.dropFirst(position).prefix(pageSize)
        // Proto3 omits empty fields.
        var answer: JSONObject = [:]
        if !page.isEmpty {
            answer["subscriptions"] = .array(page.map { .object($0.resource(of: app)) })
        }
        if position + page.count < app.subscriptions.count {
            answer["nextPageToken"] = .string(String(position + page.count))
        }
        return answer
    }
}

extension GooglePlaySubscriptionProduct {
    fileprivate func resource(of app: GooglePlayApp) -> JSONObject {
        [
            "packageName": .string(app.packageName), "productId": .string(id),
            "basePlans": .array(basePlans.map { .object($0.resource) }),
            "listings": [["languageCode": "en-US", "title": .string(id)]],
        ]
    }
}

extension GooglePlayBasePlan {
    fileprivate var resource: JSONObject {
        var resource: JSONObject = [
            "basePlanId": .string(id), "state": "ACTIVE",
            "regionalConfigs": [
                [
                    "regionCode": "US", "newSubscriberAvailability": true,
                    "price": GooglePlayWire.money(price.price(in: "US")),
                ]
            ],
        ]
        switch kind {
        case .autoRenewing: resource["autoRenewingBasePlanType"] = .object(renewing)
        case .prepaid:
            resource["prepaidBasePlanType"] = [
                "billingPeriodDuration": .string(period.text),
                "timeExtension": "TIME_EXTENSION_ACTIVE",
            ]
        case .instalments(let payments, let renewsCommitment):
            var type = renewing
            type["committedPaymentsCount"] = .integer(payments)
            type["renewalType"] = .string(
                "RENEWAL_TYPE_RENEWS_WITH\(renewsCommitment ? "" : "OUT")_COMMITMENT"
            )
            resource["installmentsBasePlanType"] = .object(type)
        }
        return resource
    }

    private var renewing: JSONObject {
        [
            "billingPeriodDuration": .string(period.text),
            "gracePeriodDuration": .string("P\(graceDays)D"),
            "accountHoldDuration": .string("P\(holdDays)D"),
            "resubscribeState": "RESUBSCRIBE_STATE_ACTIVE",
        ]
    }
}
