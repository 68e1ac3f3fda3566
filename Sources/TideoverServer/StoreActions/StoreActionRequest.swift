import TideoverAppStore
import TideoverConfiguration
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON

/// A change of one purchase as a client requests it.
struct StoreActionRequest: Hashable, Sendable {
    let action: StoreAction
    /// The operator's reason.
    let why: String

    /// Reads `{"action": "extend", "days": 7, "why": "..."}`. Unknown members are rejected: a
    /// misspelt `revokes` would have a different effect on money.
    init(_ body: [UInt8]) throws(Problem) {
        let fields = try StoreActionFields(body)
        let kinds = StoreAction.Kind.allCases.map { ($0.rawValue, $0) }
        let kind = try fields.choice("action", kinds)
        try fields.require(only: ["action", "why"] + kind.members)
        action = try StoreAction(kind, fields)
        why = try fields.why()
    }
}

/// An extension of all subscriptions to one product, as a client requests it.
struct MassExtensionRequest: Hashable, Sendable {
    let product: String
    let days: Int64
    let reason: RenewalExtension.Reason
    /// The three-letter codes of storefronts; empty for all.
    let storefronts: [String]
    let why: String

    init(_ body: [UInt8]) throws(Problem) {
        let fields = try StoreActionFields(body)
        try fields.require(only: ["product", "days", "reason", "storefronts", "why"])
        product = try fields.text("product", atMost: 128)
        days = try fields.integer("days", in: RenewalExtension.possibleDays)
        reason = try fields.choice("reason", StoreAction.extendReasons, default: .undeclared)
        storefronts = try fields.storefronts()
        why = try fields.why()
    }

    /// The complete request in one line.
    var detail: String {
        let places = storefronts.isEmpty ? "everywhere" : storefronts.joined(separator: " ")
        return "\(product) by \(days) days, reason \(reason), \(places)"
    }
}

extension StoreAction {
    static let extendReasons = RenewalExtension.Reason.allCases.map { ("\($0)", $0) }

    fileprivate init(_ kind: Kind, _ fields: StoreActionFields) throws(Problem) {
        switch kind {
        case .extend:
            self = .extend(
                days: try fields.integer("days", in: RenewalExtension.possibleDays),
                try fields.choice("reason", Self.extendReasons, default: .undeclared)
            )
        case .accountToken: self = .accountToken(try fields.uuid("accountToken"))
        case .consumption: self = .consumption(try ConsumptionInformation(fields))
        case .cancel:
            let all = PlayAPI.Cancellation.allCases.map { ("\($0)", $0) }
            self = .cancel(try fields.choice("stops", all, default: .renewals))
        case .postpone: self = .postpone(days: try fields.integer("days", in: 1...365))
        case .revoke: self = .revoke(try PlayAPI.Refund(fields))
        case .refund: self = .refund(revokes: try fields.flag("revokes"))
        }
    }
}

extension StoreAction.Kind {
    fileprivate var members: [String] {
        switch self {
        case .extend: ["days", "reason"]
        case .accountToken: ["accountToken"]
        case .consumption:
            [
                "customerConsented", "sampleContentProvided", "deliveryStatus",
                "consumptionPercentage", "refundPreference",
            ]
        case .cancel: ["stops"]
        case .postpone: ["days"]
        case .revoke: ["refund", "product"]
        case .refund: ["revokes"]
        }
    }
}

extension PlayAPI.Refund {
    fileprivate init(_ fields: StoreActionFields) throws(Problem) {
        if fields.has("product") {
            guard !fields.has("refund") else {
                throw .badStoreAction("Send either `refund` or `product`.")
            }
            self = .item(productId: try fields.text("product", atMost: 128))
        } else {
            let choices: [(String, Self)] = [("full", .full), ("prorated", .prorated)]
            self = try fields.choice("refund", choices)
        }
    }
}

extension ConsumptionInformation {
    fileprivate init(_ fields: StoreActionFields) throws(Problem) {
        guard try fields.flag("customerConsented") else {
            throw .badStoreAction(
                "`customerConsented` must be true: the App Store takes consumption information "
                    + "only with the customer's consent."
            )
        }
        let statuses = DeliveryStatus.allCases.map { ("\($0)", $0) }
        let preferences: [(String, RefundPreference?)] = RefundPreference.allCases.map {
            ("\($0)", $0)
        }
        self.init(
            customerConsented: true,
            sampleContentProvided: try fields.flag("sampleContentProvided"),
            deliveryStatus: try fields.choice("deliveryStatus", statuses, default: .delivered),
            consumptionPercentage: fields.has("consumptionPercentage")
                ? try fields.integer("consumptionPercentage", in: 0...Self.wholePercentage) : nil,
            refundPreference: try fields.choice("refundPreference", preferences, default: nil)
        )
    }
}

/// The members of a request to change purchases.
struct StoreActionFields {
    private let root: JSONNode

    init(_ body: [UInt8]) throws(Problem) {
        do {
            root = try JSONDocument(body).root
        } catch {
            throw .badStoreAction("The body is not strict JSON: \(error).")
        }
        guard root.kind == .object else { throw .badStoreAction("The body is not an object.") }
    }

    func has(_ name: String) -> Bool { root[name] != nil }

    func require(only known: [String]) throws(Problem) {
        guard let other = root.members.first(where: { !known.contains($0.key) }) else { return }
        let names = known.map { "`\($0)`" }.joined(separator: ", ")
        let meant = closestName(to: other.key, among: known).map { " Did you mean `\($0)`?" } ?? ""
        throw .badStoreAction("Unknown member. This action takes \(names).\(meant)")
    }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(Problem) -> Int64 {
        guard let value = root[name]?.int64, range.contains(value) else {
            throw .badStoreAction(
                "`\(name)` must be a whole number from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        return value
    }

    func flag(_ name: String) throws(Problem) -> Bool {
        guard let node = root[name] else { return false }
        guard let value = node.bool else {
            throw .badStoreAction("`\(name)` must be true or false.")
        }
        return value
    }

    func text(_ name: String, atMost most: Int) throws(Problem) -> String {
        guard let text = root[name]?.string, (1...most).contains(text.utf8.count) else {
            throw .badStoreAction("`\(name)` must be a string of 1 to \(most) bytes.")
        }
        return text
    }

    /// Returns one of several values by name.
    func choice<Value>(_ name: String, _ choices: [(String, Value)]) throws(Problem) -> Value {
        guard let word = root[name]?.string, let found = choices.first(where: { $0.0 == word })
        else {
            let words = choices.map { "`\($0.0)`" }.joined(separator: ", ")
            throw .badStoreAction("`\(name)` must be one of \(words).")
        }
        return found.1
    }

    func choice<Value>(
        _ name: String,
        _ choices: [(String, Value)],
        default value: Value
    ) throws(Problem) -> Value {
        has(name) ? try choice(name, choices) : value
    }

    func uuid(_ name: String) throws(Problem) -> String {
        let groups = (root[name]?.string ?? "").lowercased().split(
            separator: "-",
            omittingEmptySubsequences: false
        )
        let isHexadecimal = groups.joined().utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
        }
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12], isHexadecimal else {
            throw .badStoreAction("`\(name)` must be a UUID.")
        }
        return groups.joined(separator: "-")
    }

    func storefronts() throws(Problem) -> [String] {
        guard let list = root["storefronts"] else { return [] }
        let codes = list.elements.compactMap(\.string).filter { code in
            code.utf8.count == 3 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        }
        guard list.kind == .array, codes.count == list.count, (1...200).contains(codes.count) else {
            throw .badStoreAction(
                "`storefronts` must be a list of country codes of three letters, such as `USA`."
            )
        }
        return codes
    }

    func why() throws(Problem) -> String {
        guard let why = root["why"]?.string, CreateGrantRequest.isReason(why) else {
            throw .badStoreAction(
                "`why` must be one line of at most \(CreateGrantRequest.longestWhy) characters."
            )
        }
        return why
    }
}

extension Problem {
    static func badStoreAction(_ detail: String) -> Problem {
        Problem("bad-store-action", detail: detail)
    }
}
