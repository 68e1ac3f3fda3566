import TideoverJSON
import TideoverSignatures

/// All purchases of a customer at one instant, as StoreKit 1 and verifyReceipt report them. It is
/// written only from Apple's pages, and shares no type with its readers.
public struct StoreReceipt: Sendable {
    private let app: AppStoreApp
    private let account: AppStoreMachine.Account
    /// When it was created, in milliseconds since 1970: whole seconds, as in receipts.
    public let creationDate: Int64

    init(app: AppStoreApp, account: AppStoreMachine.Account, now: Int64) {
        self.app = app
        self.account = account
        creationDate = now / 1000 * 1000
    }

    /// The number of purchases in it.
    public var purchaseCount: Int { findings.count }

    /// A receipt omits a consumable after the app has finished its transaction, which apps do at
    /// once.
    private var findings: [AppStoreMachine.Finding] {
        account.findings.filter { $0.productType != "CONSUMABLE" }
    }

    private var environmentWord: String {
        switch app.environment {
        case .production: "Production"
        case .sandbox: "ProductionSandbox"
        }
    }
}

extension AppStoreMachine {
    /// Creates the receipt of a customer's copy of the app now; refused with `unknownCustomer`.
    public func receipt(of customer: String) throws(AppStoreRefusal) -> StoreReceipt {
        StoreReceipt(app: app, account: accounts[try index(of: customer)], now: now)
    }
}

extension SimulatedAppStore {
    /// Creates the receipt of a customer's copy of the app now; refused with `unknownCustomer`.
    public func receipt(of customer: String) throws(AppStoreRefusal) -> StoreReceipt {
        try service.machine.receipt(of: customer)
    }
}

// MARK: - The receipt

extension StoreReceipt {
    /// The signed content: a set of attributes, each with a number, a version and a value.
    /// https://developer.apple.com/library/archive/releasenotes/General/ValidateAppStoreReceipt/Chapters/ReceiptFields.html
    public func content(_ form: ReceiptForm = .der) -> [UInt8] {
        let writer = ASN1Writer(form: form)
        // The hash that binds a receipt to a device differs for every customer and every receipt.
        // Only the device itself could verify it.
        let secret = SHA256.hash(Array("\(account.appTransactionId) \(creationDate)".utf8))
        var attributes = [
            writer.attribute(8, ASN1Writer.ia5("")),
            writer.attribute(10, ASN1Writer.ia5("4+")),
            writer.attribute(19, ASN1Writer.utf8(app.bundleVersion)),
            writer.attribute(4, Array(secret.prefix(16))),
            writer.attribute(0, ASN1Writer.utf8(environmentWord)),
            writer.attribute(5, Array(secret.suffix(20))),
            writer.attribute(12, ASN1Writer.ia5(text(creationDate))),
            writer.attribute(18, ASN1Writer.ia5(text(account.originalPurchaseDate))),
            writer.attribute(3, ASN1Writer.utf8(app.bundleVersion)),
            writer.attribute(2, ASN1Writer.utf8(app.bundleId)),
        ]
        attributes += findings.map { writer.attribute(17, purchase($0, writer)) }
        return writer.set(attributes)
    }

    private func purchase(_ finding: AppStoreMachine.Finding, _ writer: ASN1Writer) -> [UInt8] {
        let cancelled = finding.cancellation?.at
        let original = finding.original
        var attributes = [
            writer.attribute(1701, ASN1Writer.integer(1)),
            writer.attribute(1707, ASN1Writer.integer(finding.receiptType)),
            writer.attribute(1713, ASN1Writer.integer(finding.isTrial ? 1 : 0)),
            writer.attribute(1719, ASN1Writer.integer(finding.isIntroductory ? 1 : 0)),
            writer.attribute(1711, ASN1Writer.integer(Int64(finding.ids.webOrderLineItemId) ?? 0)),
            writer.attribute(1712, ASN1Writer.ia5(cancelled.map(text) ?? "")),
            writer.attribute(1703, ASN1Writer.utf8(finding.ids.transactionId)),
            writer.attribute(1705, ASN1Writer.utf8(original.id)),
            writer.attribute(1704, ASN1Writer.ia5(text(finding.start))),
            writer.attribute(1706, ASN1Writer.ia5(text(original.at))),
        ]
        if let end = finding.end {
            attributes.append(writer.attribute(1708, ASN1Writer.ia5(text(end))))
        }
        attributes.append(writer.attribute(1702, ASN1Writer.utf8(finding.productId)))
        return writer.set(attributes)
    }

    /// Formats an instant to the second.
    private func text(_ milliseconds: Int64) -> String {
        InstantText.writeForPeople(milliseconds).split(separator: " ").joined(separator: "T") + "Z"
    }
}

extension ASN1Writer {
    fileprivate func attribute(_ type: Int64, _ value: [UInt8]) -> [UInt8] {
        sequence(Self.integer(type), Self.integer(1), octets(value))
    }
}

extension AppStoreMachine.Finding {
    /// When and why the purchase was cancelled. An upgrade also cancels the replaced purchase.
    fileprivate var cancellation: (at: Int64, reason: Int64)? {
        if let revocation { return (revocation.at, revocation.reason.rawValue) }
        guard case .term(let term, let subscription) = content, term.isUpgraded,
            let place = subscription.terms.firstIndex(where: { $0.ids == term.ids }),
            place + 1 < subscription.terms.count
        else { return nil }
        return (subscription.terms[place + 1].start, 0)
    }

    /// The first transaction of the purchase.
    fileprivate var original: (id: String, at: Int64) {
        switch content {
        case .term(_, let subscription):
            (subscription.original.ids.transactionId, subscription.original.start)
        case .purchase(let purchase): (purchase.ids.transactionId, purchase.at)
        }
    }

    /// Nil if it has no end.
    fileprivate var end: Int64? {
        if case .term(let term, _) = content { term.end } else { nil }
    }

    private var offer: AppStoreOffer? {
        if case .term(let term, _) = content { term.offer } else { nil }
    }

    fileprivate var isTrial: Bool { offer?.mode == .freeTrial }

    /// A discount for new customers, other than a trial.
    fileprivate var isIntroductory: Bool { offer?.kind == .introductory && !isTrial }

    fileprivate var receiptType: Int64 {
        switch content {
        case .term: 3
        case .purchase(let purchase):
            switch purchase.product.kind {
            case .nonConsumable: 0
            case .consumable: 1
            case .nonRenewing: 2
            }
        }
    }
}

// MARK: - The verifyReceipt response

extension StoreReceipt {
    /// Returns verifyReceipt's response about this receipt now. It contains the signed container of
    /// the same receipt, or none, as for apps without subscriptions.
    /// https://developer.apple.com/documentation/appstorereceipts/responsebody
    public func answer(carrying receipt: [UInt8]?) -> [UInt8] {
        let purchases = findings.map { JSONValue.object(json($0)) }
        var own: JSONObject = [
            "receipt_type": .string(environmentWord), "adam_id": .integer(app.appAppleId),
            "bundle_id": .string(app.bundleId), "application_version": .string(app.bundleVersion),
            "in_app": .array(purchases),
        ]
        own.set("receipt_creation_date", creationDate)
        own.set("request_date", creationDate)
        var answer: JSONObject = [
            "status": 0, "environment": .string(app.environment.rawValue),
            "receipt": .object(own), "latest_receipt_info": .array(purchases.reversed()),
            "pending_renewal_info": .array(account.subscriptions.map { .object(renewal($0)) }),
        ]
        answer["latest_receipt"] = receipt.map { .string(Base64.encodeString($0, .standard)) }
        return JSONValue.object(answer).encoded()
    }

    /// https://developer.apple.com/documentation/appstorereceipts/responsebody/latest_receipt_info
    private func json(_ finding: AppStoreMachine.Finding) -> JSONObject {
        let original = finding.original
        var json: JSONObject = [
            "quantity": "1", "product_id": .string(finding.productId),
            "transaction_id": .string(finding.ids.transactionId),
            "original_transaction_id": .string(original.id),
            "is_trial_period": .string(finding.isTrial ? "true" : "false"),
            "in_app_ownership_type": .string(finding.ownershipType),
        ]
        json.set("purchase_date", finding.start)
        json.set("original_purchase_date", original.at)
        if let cancellation = finding.cancellation {
            json.set("cancellation_date", cancellation.at)
            json["cancellation_reason"] = .string("\(cancellation.reason)")
        }
        switch finding.content {
        case .term(let term, let subscription):
            json["web_order_line_item_id"] = .string(term.ids.webOrderLineItemId)
            json["subscription_group_identifier"] = .string(term.product.groupNumber)
            json["is_in_intro_offer_period"] = .string(finding.isIntroductory ? "true" : "false")
            json.set("expires_date", term.end)
            if term.isUpgraded { json["is_upgraded"] = "true" }
            json["app_account_token"] = subscription.appAccountToken.map(JSONValue.string)
        case .purchase(let purchase):
            json["app_account_token"] = purchase.appAccountToken.map(JSONValue.string)
        }
        return json
    }

    /// https://developer.apple.com/documentation/appstorereceipts/responsebody/pending_renewal_info
    private func renewal(_ subscription: AppStoreSubscription) -> JSONObject {
        var json: JSONObject = [
            "original_transaction_id": .string(subscription.original.ids.transactionId),
            "product_id": .string(subscription.current.product.id),
            "auto_renew_product_id": .string(subscription.plan.product.id),
            "auto_renew_status": .string(subscription.renews ? "1" : "0"),
        ]
        switch subscription.phase {
        case .running: break
        case .grace, .retry:
            json["expiration_intent"] = "2"
            json["is_in_billing_retry_period"] = "1"
        case .ended(let intent):
            json["expiration_intent"] = .string("\(intent.rawValue)")
            json["is_in_billing_retry_period"] = "0"
        }
        if let end = subscription.statedGraceEnd, subscription.phase != .running {
            json.set("grace_period_expires_date", end)
        }
        json["price_increase_status"] = subscription.priceIncrease.map {
            .string($0.isAccepted ? "1" : "0")
        }
        return json
    }
}

extension JSONObject {
    /// Sets an instant in the two relevant formats of the three that verifyReceipt writes.
    fileprivate mutating func set(_ name: String, _ milliseconds: Int64) {
        let milliseconds = milliseconds / 1000 * 1000
        self[name] = .string(InstantText.writeForPeople(milliseconds) + " Etc/GMT")
        self[name + "_ms"] = .string("\(milliseconds)")
    }
}
