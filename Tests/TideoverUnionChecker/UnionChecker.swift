package import TideoverCore
import TideoverJSON

/// Reads a customer info as the decoders of RevenueCat's SDKs do, all at once: it refuses what any
/// of them refuses, drops or crashes on, and computes what each concludes.
package struct UnionChecker {
    package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The path of a member, such as `offerings[0].identifier`, or the name of a header field.
        package let place: String
        package let fault: String

        package var description: String { "\(place): \(fault)" }

        init(_ place: String, _ fault: String) {
            self.place = place
            self.fault = fault
        }
    }

    package enum Platform: String, CaseIterable, Sendable {
        case ios = "purchases-ios"
        case android = "purchases-android"
        case web = "purchases-js"
    }

    package struct Entitlement {
        package let product: String
        package let plan: String?
        package let expires: Instant?
        package let graceEnd: Instant?
    }

    package struct Subscription {
        package let plan: String?
        package let expires: Instant?
        package let store: String
        package let period: String
        package let ownership: String?
        package let isSandbox: Bool
        package let unsubscribed: Instant?
        package let billingIssue: Instant?
        package let refunded: Instant?
        package let graceEnd: Instant?
    }

    package struct Purchase {
        package let id: String
        package let transactionId: String
        package let date: Instant
        /// Nil if it is null.
        package let store: String?
    }

    /// The date in the body.
    package let bodyDate: Instant
    /// The date of the header, else that in the body.
    package private(set) var requestDate: Instant
    package private(set) var entitlements: [String: Entitlement] = [:]
    package private(set) var subscriptions: [String: Subscription] = [:]
    package private(set) var purchases: [String: [Purchase]] = [:]
    /// By product: whether Android consumes it.
    package private(set) var consumed: [String: Bool] = [:]
    /// Whether iOS reads the date in the body, as it does after a failed verification.
    let iosUsesBody: Bool

    /// Reads a body and the value of the request-time header, if any.
    ///
    /// Throws a `Refusal` for what a decoder refuses, and for what then misleads an app. `isStored`
    /// is whether a 304 refers to the body, which has the date of an earlier request. iOS ignores
    /// the header if `verificationFailed`.
    package init(
        _ body: [UInt8],
        requestTime: String? = nil,
        isStored: Bool = false,
        verificationFailed: Bool = false
    ) throws {
        try self.init(
            decoding: body,
            requestTime: requestTime,
            verificationFailed: verificationFailed
        )
        if let trap = traps(isStored: isStored).first { throw trap }
    }

    /// The same answer to a device that reads the date in the body.
    package var byBody: UnionChecker {
        var copy = self
        copy.requestDate = bodyDate
        return copy
    }

    /// Reads a body as the decoders do, and does not look for `traps`.
    package init(
        decoding body: [UInt8],
        requestTime: String? = nil,
        verificationFailed: Bool = false
    ) throws {
        let top = try Members(body: body)
        bodyDate = try top.date("request_date")
        requestDate = try requestTime.map(Self.instant(milliseconds:)) ?? bodyDate
        iosUsesBody = verificationFailed
        statedMilliseconds = try top.optional("request_date_ms", \.int64)
        try read(top.object("subscriber"))
        for (product, node) in try top.optionalObject("purchased_products") {
            let members = Members(node, "purchased_products.\(product)")
            consumed[product] = try members.needed("should_consume", \.bool)
        }
    }

    static let requestTimeHeader = "X-RevenueCat-Request-Time"

    /// The member `request_date_ms`.
    let statedMilliseconds: Int64?

    private static func instant(milliseconds text: String) throws -> Instant {
        guard !text.isEmpty, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let milliseconds = Int64(text)
        else { throw Refusal(requestTimeHeader, "not decimal digits") }
        return Instant(millisecondsSince1970: milliseconds)
    }

    private mutating func read(_ subscriber: Members) throws {
        _ = try subscriber.text("original_app_user_id")
        _ = try subscriber.date("first_seen")
        for name in ["management_url", "original_application_version"] {
            _ = try subscriber.optional(name, \.string)
        }
        for name in ["original_purchase_date", "last_seen"] {
            _ = try subscriber.optionalDate(name)
        }
        let listed = try subscriber.entries("entitlements")
        // Android reads the original date only of a product that an entitlement names.
        let named = Set(listed.compactMap { $0.value.node["product_identifier"]?.string })
        // Android needs the object even if it is empty.
        _ = try subscriber.object("subscriptions")
        for (key, members) in try subscriber.entries("subscriptions") {
            subscriptions[key] = try Subscription(members, isNamed: named.contains(key))
        }
        let lists = Members(try subscriber.object("non_subscriptions").node, "non_subscriptions")
        for (key, _) in lists.node.members {
            let list = try lists.objects(key)
            guard !list.isEmpty else { throw lists.fault(key, "empty") }
            purchases[key] = try list.map {
                try Purchase($0, isNamed: named.contains(key))
            }
        }
        for (name, members) in listed { entitlements[name] = try Entitlement(members) }
    }
}

extension UnionChecker.Entitlement {
    fileprivate init(_ members: Members) throws {
        product = try members.text("product_identifier")
        _ = try members.date("purchase_date")
        plan = try members.textOrAbsent("product_plan_identifier")
        expires = try members.optionalDate("expires_date")
        graceEnd = try members.optionalDate("grace_period_expires_date")
    }
}

extension UnionChecker.Purchase {
    fileprivate init(_ members: Members, isNamed: Bool) throws {
        id = try members.text("id")
        transactionId = try members.text("store_transaction_id")
        date = try members.date("purchase_date")
        try members.requireOriginalDate(isNamed: isNamed)
        guard members.node["store"] != nil else { throw members.fault("store", "absent") }
        store = try members.optional("store", \.string)
        _ = try members.needed("is_sandbox", \.bool)
        _ = try members.textOrAbsent("display_name")
        try members.requirePrice()
    }
}

extension UnionChecker.Subscription {
    fileprivate init(_ members: Members, isNamed: Bool) throws {
        _ = try members.date("purchase_date")
        try members.requireOriginalDate(isNamed: isNamed)
        expires = try members.optionalDate("expires_date")
        store = try members.text("store")
        isSandbox = try members.needed("is_sandbox", \.bool)
        period = try members.word("period_type", ["normal", "intro", "trial", "prepaid"])
        ownership = try members.textOrAbsent("ownership_type")
        if let ownership, !["PURCHASED", "FAMILY_SHARED"].contains(ownership) {
            throw members.fault("ownership_type", "the word \(ownership)")
        }
        unsubscribed = try members.optionalDate("unsubscribe_detected_at")
        billingIssue = try members.optionalDate("billing_issues_detected_at")
        refunded = try members.optionalDate("refunded_at")
        graceEnd = try members.optionalDate("grace_period_expires_date")
        _ = try members.optionalDate("auto_resume_date")
        plan = try members.textOrAbsent("product_plan_identifier")
        for name in ["store_transaction_id", "display_name", "management_url"] {
            _ = try members.optional(name, \.string)
        }
        try members.requirePrice()
    }
}
