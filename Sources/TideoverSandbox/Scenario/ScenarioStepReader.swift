import TideoverJSON

/// Reads the steps of a scenario, and checks that the names in them exist.
struct StepReader {
    let app: ScenarioApp
    let customers: [StoreCustomer]
    let products: [ScenarioProduct]
    let play: ScenarioGooglePlay?
    let revenueCat: ScenarioRevenueCat?

    static let commonKeys = [
        "at", "after", "do", "customer", "refused", "expect", "events", "note", "revenueCat",
        "consumptions",
    ]

    func steps(
        _ node: JSONNode,
        from start: Int64
    ) throws(ScenarioError) -> [ScenarioStep] {
        try checkKind(node, .array, "steps", .list)
        var steps: [ScenarioStep] = []
        for element in node.elements {
            steps.append(try step(element, after: steps.last?.at ?? start))
        }
        guard !steps.isEmpty else { throw fault(.none(of: "steps"), node) }
        return steps
    }

    /// Reads the steps in a text, one or a list of them, in the syntax of a file.
    func steps(
        in text: [UInt8],
        from now: Int64
    ) throws(ScenarioError) -> [ScenarioStep] {
        let root = try Scenario.root(of: text)
        if root.kind == .array { return try steps(root, from: now) }
        return [try step(root, after: now, mayOnlyWait: true)]
    }

    private func step(
        _ node: JSONNode,
        after previous: Int64,
        mayOnlyWait: Bool = false
    ) throws(ScenarioError) -> ScenarioStep {
        if isRelayed(node) { return try relayStep(node, after: previous) }
        if isInGooglePlay(node) {
            return try playStep(node, after: previous, mayOnlyWait: mayOnlyWait)
        }
        let verb = try node["do"].map { (node) throws(ScenarioError) in
            try named(node, .action, Verb.allCases) { $0.rawValue }
        }
        let reader = try ObjectReader(
            node,
            verb.map { "a step that does \"\($0.rawValue)\"" } ?? "a step",
            keys: StepReader.commonKeys + (verb?.keys ?? [])
        )
        let expects =
            node["expect"] != nil || node["events"] != nil || node["revenueCat"] != nil
            || node["consumptions"] != nil
        guard verb != nil || expects || mayOnlyWait else { throw fault(.emptyStep, node) }
        let refusal = try reader.optional("refused") { (node) throws(ScenarioError) in
            try named(node, .refusal, AppStoreRefusal.Reason.allCases) { $0.rawValue }
        }
        if refusal != nil, verb == nil { throw fault(.refusalWithoutAction, node) }
        return ScenarioStep(
            line: node.position.line,
            at: try instant(reader, after: previous),
            customer: (verb?.concernsNobody ?? true) && !expects
                ? nil : try customer(reader),
            action: try verb.map { (verb) throws(ScenarioError) in try action(verb, reader) },
            refusal: refusal,
            expectations: try expectations(reader),
            events: try reader.optional("events", readStrings),
            note: try reader.optional("note", readString),
            consumptions: try reader.wholeNumber("consumptions"),
            relayed: try relayed(reader)
        )
    }

    func instant(
        _ reader: ObjectReader,
        after previous: Int64
    ) throws(ScenarioError) -> Int64 {
        if let node = reader.node["at"] {
            guard reader.node["after"] == nil else { throw fault(.bothAtAndAfter, reader.node) }
            let instant = try readInstant(node)
            guard instant >= previous else {
                throw fault(.goesBack(to: instant, from: previous), node)
            }
            return instant
        }
        let span = try reader.optional("after", readSpan)
        let instant = span?.end(of: 1, from: previous) ?? previous
        guard instant <= StepReader.lastInstant else { throw fault(.tooFar, reader.node) }
        return instant
    }

    /// The end of the year 9999, the last instant that RFC 3339 can express.
    private static let lastInstant: Int64 = 253_402_300_799_999

    func customer(_ reader: ObjectReader) throws(ScenarioError) -> String {
        guard let node = reader.node["customer"] else {
            guard let only = customers.first, customers.count == 1 else {
                throw fault(.whichCustomer, reader.node)
            }
            return only.name
        }
        return try named(node, .customer, customers) { $0.name }.name
    }
}

// MARK: - Actions

extension StepReader {
    private enum Verb: String, CaseIterable {
        case subscribe, failPayments, fixPayments, cancel, reenable, refund, reverseRefund
        case share, stopSharing, changePlan, extendRenewal, raisePrice, acceptPrice, requestRefund,
            declineRefund
        case buy, askToBuy, approvePurchase, declinePurchase, interruptPurchase, resumePurchase
        case redeem, forbidPurchases, allowPurchases, removeFromSale
        case requestTestNotification, loseNotifications, deliverNotifications, openApp
        case showPrompt, storeAction
        case catchUp, disturbNotifications, disturbServerAPI, endDisturbances

        /// Whether it has no customer.
        var concernsNobody: Bool {
            switch self {
            case .requestTestNotification, .loseNotifications, .deliverNotifications: true
            case .catchUp, .disturbNotifications, .disturbServerAPI, .endDisturbances: true
            default: false
            }
        }

        /// The keys that a step allows in addition to the common ones.
        var keys: [String] {
            switch self {
            case .subscribe: ["product", "trial"]
            case .cancel, .reenable, .reverseRefund, .changePlan, .acceptPrice, .declineRefund,
                .askToBuy, .approvePurchase, .declinePurchase, .interruptPurchase, .resumePurchase,
                .removeFromSale:
                ["product"]
            case .buy: ["product", "outsideApp"]
            case .redeem: ["product", "offer"]
            case .disturbNotifications: ["fault", "by", "times", "percent"]
            case .disturbServerAPI: ["fault", "by", "status", "operation", "times", "percent"]
            case .refund: ["product", "reason", "percent"]
            case .requestRefund: ["product", "reason", "stopsRenewal"]
            case .extendRenewal: ["product", "days"]
            case .share, .stopSharing: ["product", "with"]
            case .raisePrice: ["product", "to", "consent"]
            case .openApp: StepReader.visitKeys
            case .showPrompt: ScenarioShownPrompt.keys
            case .storeAction: ScenarioStoreAction.keys
            case .failPayments, .fixPayments, .requestTestNotification, .loseNotifications,
                .deliverNotifications, .forbidPurchases, .allowPurchases, .catchUp,
                .endDisturbances:
                []
            }
        }
    }

    private func action(
        _ verb: Verb,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> ScenarioAction {
        let product = try reader.optional("product", product)
        switch verb {
        case .subscribe: return .store(try purchase(of: product, reader))
        case .failPayments: return .store(.failPayments)
        case .fixPayments: return .store(.fixPayments)
        case .cancel: return .store(.cancel(product: product))
        case .reenable: return .store(.reenable(product: product))
        case .refund:
            let reason = try reason(reader)
            return .store(.refund(product: product, reason: reason, percent: try part(reader)))
        case .reverseRefund: return .store(.reverseRefund(product: product))
        case .changePlan:
            let product = try reader.required("product", self.product)
            return .store(.changePlan(to: product))
        case .share:
            return .store(.share(product: product, with: try reader.required("with", member)))
        case .stopSharing:
            return .store(.stopSharing(product: product, with: try reader.required("with", member)))
        case .extendRenewal: return .store(try extensionOfRenewal(of: product, reader))
        case .raisePrice: return .store(try priceIncrease(of: product, reader))
        case .acceptPrice: return .store(.acceptPrice(product: product))
        case .requestRefund: return .store(try refundRequest(of: product, reader))
        case .declineRefund: return .store(.declineRefund(product: product))
        case .buy:
            let isOutside = try reader.flag("outsideApp") ?? false
            return .store(.buy(product: try sold(product, reader), outsideApp: isOutside))
        case .askToBuy: return .store(.askToBuy(product: try sold(product, reader)))
        case .approvePurchase: return .store(.approvePurchase(product: product))
        case .declinePurchase: return .store(.declinePurchase(product: product))
        case .interruptPurchase:
            return .store(.interruptPurchase(product: try sold(product, reader)))
        case .resumePurchase: return .store(.resumePurchase(product: product))
        case .redeem: return .store(try redemption(of: sold(product, reader), reader))
        case .forbidPurchases: return .store(.allowPurchases(false))
        case .allowPurchases: return .store(.allowPurchases(true))
        case .removeFromSale:
            return .store(.removeFromSale(product: try sold(product, reader)))
        case .catchUp: return .catchUp
        case .disturbNotifications: return .disturbNotifications(try wireFault(reader))
        case .disturbServerAPI: return .disturbServerAPI(try serverAPIFault(reader))
        case .endDisturbances: return .endDisturbances
        case .requestTestNotification: return .requestTestNotification
        case .loseNotifications: return .loseNotifications(true)
        case .deliverNotifications: return .loseNotifications(false)
        case .openApp: return .openApp(try visit(reader))
        case .showPrompt: return .showPrompt(try ScenarioShownPrompt(reader))
        case .storeAction: return .storeAction(try ScenarioStoreAction(reader))
        }
    }

    private static let visitKeys = [
        "looks", "presents", "verifies", "finishes", "ahead", "behind", "account", "environment",
        "delaysMessages", "message",
    ]

    private func visit(_ reader: ObjectReader) throws(ScenarioError) -> DeviceVisit {
        var visit = DeviceVisit()
        visit.looks = try reader.flag("looks") ?? true
        visit.presents = try reader.flag("presents") ?? true
        visit.verifies = try reader.flag("verifies") ?? true
        visit.finishes = try reader.flag("finishes") ?? true
        visit.delaysMessages = try reader.flag("delaysMessages") ?? false
        visit.message = try reader.optional("message") { (node) throws(ScenarioError) in
            try named(node, .message, AppStoreMessageOutcome.allCases) { $0.rawValue }
        }
        let ahead = try reader.optional("ahead", readSpan)?.end(of: 1, from: 0) ?? 0
        visit.clockOffset =
            ahead - (try reader.optional("behind", readSpan)?.end(of: 1, from: 0) ?? 0)
        visit.account = try reader.optional("account", member)
        visit.environment = try reader.optional("environment", readString)
        return visit
    }

    private func purchase(
        of product: String?,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> AppStoreAction {
        .subscribe(product: try sold(product, reader), trial: try trial(reader))
    }

    /// Returns the product that the step names, or the only one there is.
    private func sold(
        _ product: String?,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> String {
        if let product { return product }
        return try onlyProduct(reader)
    }

    private func product(_ node: JSONNode) throws(ScenarioError) -> String {
        try named(node, .product, products) { $0.id }.id
    }

    private func member(_ node: JSONNode) throws(ScenarioError) -> String {
        try named(node, .customer, customers) { $0.name }.name
    }

    private func onlyProduct(_ reader: ObjectReader) throws(ScenarioError) -> String {
        guard let only = products.first, products.count == 1 else {
            throw fault(.whichProduct, reader.node)
        }
        return only.id
    }

    private func trial(
        _ reader: ObjectReader
    ) throws(ScenarioError) -> AppStoreAction.TrialChoice {
        try reader.flag("trial").map { $0 ? .required : .declined } ?? .ifEligible
    }

    private func extensionOfRenewal(
        of product: String?,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> AppStoreAction {
        let days = try reader.required("days") { (node) throws(ScenarioError) -> Int64 in
            guard let days = node.int64, (1...90).contains(days) else {
                throw fault(.expected(.daysOfExtension, for: "days"), node)
            }
            return days
        }
        return .extendRenewal(product: product, days: days)
    }

    private func priceIncrease(
        of product: String?,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> AppStoreAction {
        let consent = try reader.flag("consent")
        return .raisePrice(
            product: product,
            to: try reader.required("to", readPrice),
            needsConsent: consent ?? true
        )
    }

    /// Returns the refunded percentage of a payment; all of it by default.
    private func part(_ reader: ObjectReader) throws(ScenarioError) -> Int64 {
        guard let percent = try reader.wholeNumber("percent") else { return 100 }
        guard (1...100).contains(percent) else {
            throw fault(.expected(.part, for: "percent"), reader.node)
        }
        return percent
    }

    private func refundRequest(
        of product: String?,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> AppStoreAction {
        let reason = try reader.optional("reason") { (node) throws(ScenarioError) in
            try named(node, .refundRequestReason, AppStoreAction.RefundRequestReason.allCases) {
                $0.rawValue
            }
        }
        return .requestRefund(
            product: product,
            reason: reason ?? .other,
            stopsRenewal: try reader.flag("stopsRenewal") ?? false
        )
    }

    private func reason(
        _ reader: ObjectReader
    ) throws(ScenarioError) -> AppStoreAction.RefundReason {
        try reader.optional("reason") { (node) throws(ScenarioError) in
            try named(node, .refundReason, AppStoreAction.RefundReason.allCases) { $0.name }
        } ?? .other
    }
}

extension AppStoreAction.RefundReason {
    /// The name in a scenario.
    fileprivate var name: String {
        switch self {
        case .other: "other"
        case .appIssue: "appIssue"
        }
    }
}

// MARK: - Expectations

extension StepReader {
    /// The key for fields of the whole answer.
    private static let wholeAnswer = "answer"

    func expectations(
        _ reader: ObjectReader
    ) throws(ScenarioError) -> [ScenarioExpectation] {
        guard let node = reader.node["expect"] else { return [] }
        try checkKind(node, .object, "expect", .object)
        let inGooglePlay = play?.entitlements.values.flatMap(\.self) ?? []
        let names = Set(products.flatMap(\.entitlements) + inGooglePlay)
        let known = names.sorted() + [StepReader.wholeAnswer]
        var expectations: [ScenarioExpectation] = []
        for (name, member) in node.members {
            _ = try named(name, at: member.key ?? member, .entitlement, known) { $0 }
            try checkKind(member, .object, name, .object)
            expectations += try self.expectations(about: name, member)
        }
        guard !expectations.isEmpty else { throw fault(.emptyExpectation, node) }
        return expectations
    }

    /// Inside an entitlement, fields belong to that entitlement. Only `prompt`, `plan` and their
    /// fields belong to the answer: there is one prompt and one plan for a customer.
    private func expectations(
        about name: String,
        _ node: JSONNode
    ) throws(ScenarioError) -> [ScenarioExpectation] {
        var expectations: [ScenarioExpectation] = []
        for (key, member) in node.members {
            let steps = steps(of: key)
            let isTop = name == StepReader.wholeAnswer || ["prompt", "plan"].contains(steps.first)
            let place = Place(
                label: isTop ? key : "\(name).\(key)",
                path: isTop ? steps : ["entitlements", name] + steps
            )
            expectations += try place.expectations(member)
        }
        return expectations
    }

    private func steps(of key: String) -> [String] {
        key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
}

/// A field of the answer that a scenario names.
private struct Place {
    let label: String
    let path: [String]

    private static let operators = ["not", "oneOf", "between", "present"]

    /// An object is either one of the operators or a set of fields below this one.
    func expectations(_ node: JSONNode) throws(ScenarioError) -> [ScenarioExpectation] {
        guard node.kind == .object else {
            return [expectation(.equals(JSONValue(node)))]
        }
        let members = Array(node.members)
        guard let first = members.first else { throw fault(.emptyExpectation, node) }
        if members.count == 1, Place.operators.contains(first.key) {
            return [expectation(try requirement(first.key, first.value))]
        }
        var expectations: [ScenarioExpectation] = []
        for (key, member) in members {
            let below = Place(label: "\(label).\(key)", path: path + [key])
            expectations += try below.expectations(member)
        }
        return expectations
    }

    private func expectation(
        _ requirement: ScenarioExpectation.Requirement
    ) -> ScenarioExpectation {
        ScenarioExpectation(label: label, path: path, requirement: requirement)
    }

    private func requirement(
        _ name: String,
        _ node: JSONNode
    ) throws(ScenarioError) -> ScenarioExpectation.Requirement {
        switch name {
        case "not": return .not(JSONValue(node))
        case "oneOf":
            try checkKind(node, .array, name, .list)
            return .oneOf(node.elements.map { JSONValue($0) })
        case "between":
            guard let low = node[0], let high = node[1], node.count == 2 else {
                throw fault(.expected(.pair, for: name), node)
            }
            return .between(JSONValue(low), JSONValue(high))
        default:
            guard let present = node.bool else { throw fault(.expected(.bool, for: name), node) }
            return .present(present)
        }
    }
}
