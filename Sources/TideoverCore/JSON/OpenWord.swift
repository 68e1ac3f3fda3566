/// A value of the store's vocabulary that may be a word this version does not know.
///
/// In JSON a known value is its word; an unknown one is the store's own text behind a `?`, so that
/// nothing is lost and nothing is mistaken for a word of ours.
protocol OpenWord: Hashable {
    static var words: [(String, Self)] { get }
    static func unrecognised(_ value: String) -> Self
    var unrecognisedValue: String? { get }
}

extension OpenWord {
    var word: String {
        if let unrecognisedValue { return "?\(unrecognisedValue)" }
        return Self.words.first { $0.1 == self }?.0 ?? ""
    }

    init?(word: String) {
        if word.hasPrefix("?") {
            self = .unrecognised(String(word.dropFirst()))
        } else if let known = Self.words.first(where: { $0.0 == word }) {
            self = known.1
        } else {
            return nil
        }
    }
}

extension Term.Plan: OpenWord {
    static let words: [(String, Self)] = [
        ("autoRenewable", .autoRenewable), ("nonRenewing", .nonRenewing),
        ("nonConsumable", .nonConsumable), ("consumable", .consumable),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Offer.Kind: OpenWord {
    static let words: [(String, Self)] = [
        ("introductory", .introductory), ("promotional", .promotional), ("code", .code),
        ("winBack", .winBack),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Offer.Discount: OpenWord {
    static let words: [(String, Self)] = [
        ("freeTrial", .freeTrial), ("payAsYouGo", .payAsYouGo), ("payUpFront", .payUpFront),
        ("oneTime", .oneTime),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Outlook.Lapse: OpenWord {
    static let words: [(String, Self)] = [
        ("cancelled", .cancelled), ("billingError", .billingError),
        ("priceIncrease", .priceIncrease), ("productUnavailable", .productUnavailable),
        ("other", .other),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Condition.Status: OpenWord {
    static let words: [(String, Self)] = [
        ("active", .active), ("expired", .expired), ("retry", .retry), ("grace", .grace),
        ("revoked", .revoked),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}

extension Revocation.Cause: OpenWord {
    static let words: [(String, Self)] = [
        ("refund", .refund), ("proratedRefund", .proratedRefund),
        ("familyAccessRemoved", .familyAccessRemoved), ("assignmentRemoved", .assignmentRemoved),
    ]

    var unrecognisedValue: String? {
        if case .unrecognised(let value) = self { value } else { nil }
    }
}
