package import TideoverCore
import TideoverJSON

/// Reads a customer info as the decoders of RevenueCat's SDKs do, all at once: it refuses what any
/// of them refuses, drops or crashes on, and computes what each concludes.
package struct UnionChecker {
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        package let description: String

        init(_ place: String, _ fault: String) { description = "\(place): \(fault)" }
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
        let root: JSONNode
        do { root = try JSONDocument(body).root } catch { throw Refusal("body", "\(error)") }
        let top = Members(root, "body")
        bodyDate = try top.date("request_date")
        requestDate = try requestTime.map(Self.instant(milliseconds:)) ?? bodyDate
        iosUsesBody = verificationFailed
        statedMilliseconds = try top.optional("request_date_ms", \.int64)
        try read(top.object("subscriber"))
        for (product, node) in try top.optionalObject("purchased_products") {
            consumed[product] = try Members(node, product).needed("should_consume", \.bool)
        }
    }

    /// The member `request_date_ms`.
    let statedMilliseconds: Int64?

    private static func instant(milliseconds text: String) throws -> Instant {
        guard !text.isEmpty, text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let milliseconds = Int64(text)
        else { throw Refusal("request time", "not decimal digits") }
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
        let listed = try subscriber.optionalObject("entitlements")
        // Android reads the original date only of a product that an entitlement names.
        let named = Set(listed.compactMap { $0.value["product_identifier"]?.string })
        for (key, node) in try subscriber.object("subscriptions").node.members {
            let members = Members(node, "subscriptions.\(key)")
            subscriptions[key] = try Subscription(members, isNamed: named.contains(key))
        }
        for (key, list) in try subscriber.object("non_subscriptions").node.members {
            guard list.count > 0 else { throw Refusal("non_subscriptions.\(key)", "empty") }
            purchases[key] = try list.elements.map {
                let members = Members($0, "non_subscriptions.\(key)")
                return try Purchase(members, isNamed: named.contains(key))
            }
        }
        for (name, node) in listed {
            entitlements[name] = try Entitlement(Members(node, "entitlements.\(name)"))
        }
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

/// An object of a body, with its place for messages.
private struct Members {
    let node: JSONNode
    let place: String

    init(_ node: JSONNode, _ place: String) {
        self.node = node
        self.place = place
    }

    func fault(_ name: String, _ text: String) -> UnionChecker.Refusal {
        UnionChecker.Refusal("\(place).\(name)", text)
    }

    func object(_ name: String) throws -> Members {
        guard let member = node[name], member.kind == .object else {
            throw fault(name, "not an object")
        }
        return Members(member, name)
    }

    /// The members of an object; none if it is absent or null.
    func optionalObject(_ name: String) throws -> [(key: String, value: JSONNode)] {
        guard let member = node[name], !member.isNull else { return [] }
        return try object(name).node.members.map { ($0.key, $0.value) }
    }

    func needed<Value>(_ name: String, _ read: (JSONNode) -> Value?) throws -> Value {
        guard let member = node[name] else { throw fault(name, "absent") }
        guard let value = read(member) else { throw fault(name, "of another type") }
        return value
    }

    func optional<Value>(_ name: String, _ read: (JSONNode) -> Value?) throws -> Value? {
        guard let member = node[name], !member.isNull else { return nil }
        guard let value = read(member) else { throw fault(name, "of another type") }
        return value
    }

    func text(_ name: String) throws -> String { try needed(name, \.string) }

    /// A text that Android reads as "null" if it is null.
    func textOrAbsent(_ name: String) throws -> String? {
        guard node[name] != nil else { return nil }
        return try text(name)
    }

    func word(_ name: String, _ known: [String]) throws -> String {
        let word = try text(name)
        guard known.contains(word) else { throw fault(name, "the word \(word)") }
        return word
    }

    func date(_ name: String) throws -> Instant { try needed(name, Self.date) }

    func optionalDate(_ name: String) throws -> Instant? { try optional(name, Self.date) }

    /// Reads the forms that both decoders accept: of RFC 3339, those with upper-case letters and at
    /// most six digits of a fraction.
    private static func date(_ node: JSONNode) -> Instant? {
        guard let text = node.string, !text.contains(where: \.isLowercase) else { return nil }
        let fraction = text.drop { $0 != "." }.dropFirst().prefix(while: \.isNumber)
        return fraction.count <= 6 ? Instant(rfc3339: text) : nil
    }

    func requireOriginalDate(isNamed: Bool) throws {
        guard isNamed || node["original_purchase_date"] != nil else { return }
        _ = try date("original_purchase_date")
    }

    func requirePrice() throws {
        guard let price = node["price"], !price.isNull else { return }
        let members = Members(price, "\(place).price")
        _ = try members.needed("amount") { $0.kind == .number ? $0.double : nil }
        let currency = try members.text("currency")
        guard Self.currencies.contains(currency) else { throw fault("price", "of \(currency)") }
    }

    /// The codes of ISO 4217 that Java knows.
    private static let currencies = Set(
        """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN
        BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD
        FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY
        KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP
        MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR
        RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SOS SRD SSP SVC SYP SZL THB TJS TMT TND TOP
        TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW
        """.split { $0 == " " || $0 == "\n" }.map(String.init)
    )
}
