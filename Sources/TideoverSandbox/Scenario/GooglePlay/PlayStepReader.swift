import TideoverJSON

/// The actions of a step in Google Play.
private enum PlayVerb: String, CaseIterable {
    case buy, replace, changeItems, topUp, completePayment, dropPayment
    case failPayments, fixPayments, cancel, cancelBySystem, restart, pause, resume
    case changePrice, acceptPrice, askStepUpConsent, acceptStepUp, requestRefund, refund
    case acknowledge, consume, cancelByDeveloper, postpone, revoke, refundOrder
    case requestTestNotification, loseNotifications, deliverNotifications, openApp
    case showPrompt, storeAction
    case catchUp, disturbNotifications, disturbAPI, endDisturbances

    /// Whether it has no customer.
    var concernsNobody: Bool {
        switch self {
        case .requestTestNotification, .loseNotifications, .deliverNotifications,
            .catchUp, .disturbNotifications, .disturbAPI, .endDisturbances:
            true
        default: false
        }
    }

    /// The keys that a step allows in addition to the common ones.
    var keys: [String] {
        switch self {
        case .buy:
            ["product", "plan", "offer", "quantity", "payment", "from", "acknowledged", "addOns"]
        case .replace: ["product", "with", "plan", "offer", "mode", "acknowledged"]
        case .changeItems: ["product", "add", "remove"]
        case .topUp, .completePayment: ["product", "acknowledged"]
        case .dropPayment, .cancel, .cancelBySystem, .restart, .resume, .acceptPrice,
            .acceptStepUp, .requestRefund:
            ["product"]
        case .askStepUpConsent: ["product", "deadline"]
        case .pause: ["product", "for"]
        case .changePrice: ["product", "to", "mode"]
        case .refund: ["product", "reason", "quantity", "revokes"]
        case .postpone: ["by"]
        case .revoke: ["refund", "product"]
        case .refundOrder: ["revokes"]
        case .disturbNotifications: ["fault", "by", "times", "percent"]
        case .showPrompt: ScenarioShownPrompt.keys
        case .storeAction: ScenarioStoreAction.keys
        case .disturbAPI: ["fault", "call", "times", "percent", "by", "status"]
        case .failPayments, .fixPayments, .acknowledge, .consume, .cancelByDeveloper,
            .requestTestNotification, .loseNotifications, .deliverNotifications, .openApp, .catchUp,
            .endDisturbances:
            []
        }
    }
}

extension StepReader {
    /// Whether a step takes place in Google Play: its customer buys there, or all customers do.
    func isInGooglePlay(_ node: JSONNode) -> Bool {
        guard let play else { return false }
        if let name = node["customer"]?.string { return play.takes(name) }
        return customers.allSatisfy { play.takes($0.name) }
    }

    /// Reads a step in Google Play.
    func playStep(
        _ node: JSONNode,
        after previous: Int64,
        mayOnlyWait: Bool = false
    ) throws(ScenarioError) -> ScenarioStep {
        let verb = try node["do"].map { (node) throws(ScenarioError) in
            try named(node, .action, PlayVerb.allCases) { $0.rawValue }
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
            try named(node, .refusal, GooglePlayRefusal.Reason.allCases) { $0.rawValue }
        }
        if refusal != nil, verb == nil { throw fault(.refusalWithoutAction, node) }
        return ScenarioStep(
            line: node.position.line,
            at: try instant(reader, after: previous),
            customer: (verb?.concernsNobody ?? true) && !expects
                ? nil : try customer(reader),
            action: try verb.map { (verb) throws(ScenarioError) in
                if verb == .catchUp { return .catchUp }
                if verb == .openApp { return .openApp(DeviceVisit()) }
                if verb == .showPrompt { return .showPrompt(try ScenarioShownPrompt(reader)) }
                if verb == .storeAction { return .storeAction(try ScenarioStoreAction(reader)) }
                let deed = try deed(verb, reader)
                return .googlePlay(ScenarioPlayAction(deed: deed, refusal: refusal))
            },
            refusal: nil,
            expectations: try expectations(reader),
            events: try reader.optional("events", readStrings),
            note: try reader.optional("note", readString),
            consumptions: try reader.wholeNumber("consumptions"),
            relayed: try relayed(reader)
        )
    }

    private func deed(
        _ verb: PlayVerb,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> ScenarioPlayAction.Deed {
        switch verb {
        case .acknowledge: return .write(.acknowledge)
        case .consume: return .write(.consume)
        case .cancelByDeveloper: return .write(.cancel)
        case .postpone:
            let span = try reader.required("by", readSpan)
            return .write(.postpone(milliseconds: span.end(of: 1, from: 0)))
        case .revoke: return .write(.revoke(try revocation(reader)))
        case .refundOrder:
            return .write(.refundOrder(revokes: try flag("revokes", reader) ?? false))
        case .requestTestNotification: return .requestTestNotification
        case .loseNotifications: return .loseNotifications(true)
        case .deliverNotifications: return .loseNotifications(false)
        case .disturbNotifications: return .disturbNotifications(try playWireFault(reader))
        case .disturbAPI: return .disturb(try disturbance(reader))
        case .endDisturbances: return .endDisturbances
        default:
            let action = try playAction(verb, reader)
            // The app is not open at a purchase in the Play Store.
            let isInApp = if case .subscribe(_, _, .playStore) = action { false } else { true }
            return .act(action, acknowledges: try flag("acknowledged", reader) ?? isInApp)
        }
    }

    private func playAction(
        _ verb: PlayVerb,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> GooglePlayAction {
        let product = try reader.optional("product", playProduct)
        switch verb {
        case .buy: return try purchase(of: product, reader)
        case .replace:
            let choice = try choice(of: try reader.required("with", playProduct), reader)
            let mode = try word("mode", reader, GooglePlayAction.ReplacementMode.self)
            return .replace(product: product, with: choice, mode: mode ?? .withTimeProration)
        case .changeItems:
            let added = try reader.optional("add", readStrings) ?? []
            return .changeItems(
                product: product,
                adding: added.map { GooglePlayChoice($0) },
                removing: try reader.optional("remove", readStrings) ?? []
            )
        case .topUp: return .topUp(product: product)
        case .completePayment: return .completePayment(product: product)
        case .dropPayment: return .dropPayment(product: product)
        case .failPayments: return .failPayments
        case .fixPayments: return .fixPayments
        case .cancel: return .cancel(product: product, survey: nil)
        case .cancelBySystem: return .cancelBySystem(product: product)
        case .restart: return .restart(product: product)
        case .pause: return .pause(product: product, try reader.required("for", readSpan))
        case .resume: return .resume(product: product)
        case .changePrice:
            let mode = try word("mode", reader, GooglePlayAction.PriceChangeMode.self)
            let price = try reader.required("to", readPrice)
            return .changePrice(product: product, to: price, mode ?? .increase)
        case .acceptPrice: return .acceptPrice(product: product)
        case .askStepUpConsent:
            let deadline = try reader.required("deadline", readInstant)
            return .askStepUpConsent(product: product, deadline: deadline)
        case .acceptStepUp: return .acceptStepUp(product: product)
        case .requestRefund: return .requestRefund(product: product)
        default: return try refund(of: product, reader)
        }
    }

    // MARK: Parts

    private func playProduct(_ node: JSONNode) throws(ScenarioError) -> String {
        let ids = (play?.app.subscriptions.map(\.id) ?? []) + (play?.app.products.map(\.id) ?? [])
        return try named(node, .product, ids) { $0 }
    }

    private func choice(
        of product: String,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> GooglePlayChoice {
        let subscription = play?.app.subscriptions.first { $0.id == product }
        let plan = try reader.optional("plan") { (node) throws(ScenarioError) in
            try named(node, .basePlan, subscription?.basePlans ?? []) { $0.id }
        }
        return GooglePlayChoice(
            product,
            basePlan: plan?.id,
            offer: try reader.optional("offer", readString)
        )
    }

    private func purchase(
        of product: String?,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> GooglePlayAction {
        let payment: GooglePlayAction.Payment =
            try choice("payment", reader, ["prompt", "delayed"]) == "delayed" ? .delayed : .prompt
        let subscriptions = play?.app.subscriptions ?? []
        let once = play?.app.products ?? []
        guard let id = product ?? (subscriptions.map(\.id) + once.map(\.id)).only else {
            throw fault(.whichProduct, reader.node)
        }
        guard subscriptions.contains(where: { $0.id == id }) else {
            let quantity = try quantity(reader) ?? 1
            return .buy(product: id, quantity: quantity, payment: payment)
        }
        let addOns = try reader.optional("addOns", readStrings) ?? []
        let place: GooglePlayAction.Place =
            try choice("from", reader, ["app", "playStore"]) == "playStore" ? .playStore : .app
        return .subscribe(
            to: [try choice(of: id, reader)] + addOns.map { GooglePlayChoice($0) },
            payment: payment,
            from: place
        )
    }

    private func refund(
        of product: String?,
        _ reader: ObjectReader
    ) throws(ScenarioError) -> GooglePlayAction {
        let reason = try reader.optional("reason") { (node) throws(ScenarioError) in
            try named(node, .refundReason, GooglePlayAction.VoidReason.allCases) { "\($0)" }
        }
        return .refund(
            product: product,
            reason ?? .remorse,
            quantity: try quantity(reader),
            revokes: try flag("revokes", reader) ?? false
        )
    }

    /// Limited, so that the total price can be represented.
    private func quantity(_ reader: ObjectReader) throws(ScenarioError) -> Int64? {
        guard let quantity = try reader.wholeNumber("quantity") else { return nil }
        guard quantity <= 1_000_000 else {
            throw fault(.expected(.quantity, for: "quantity"), reader.node)
        }
        return quantity
    }

    private func revocation(
        _ reader: ObjectReader
    ) throws(ScenarioError) -> GooglePlayWrite.Revocation {
        if let product = try reader.optional("product", playProduct) {
            return .item(product: product)
        }
        let isProrated = try choice("refund", reader, ["full", "prorated"]) == "prorated"
        return isProrated ? .proratedRefund : .fullRefund
    }

    private func disturbance(_ reader: ObjectReader) throws(ScenarioError) -> PlayFaultRule {
        let kinds = [
            "unavailable", "rateLimited", "slow", "noAnswer", "stale", "truncated", "unauthorised",
            "gone",
        ]
        let by = try reader.optional("by", readSpan)?.end(of: 1, from: 0) ?? 60_000
        let kind = try reader.required("fault") { (node) throws(ScenarioError) in
            try named(node, .playFault, kinds) { $0 }
        }
        let status = Int(try reader.wholeNumber("status") ?? 503)
        let fault: PlayFault =
            switch kind {
            case "rateLimited": .rateLimited(seconds: by / 1000)
            case "slow": .slow(by)
            case "noAnswer": .noAnswer(after: by)
            case "stale": .stale(by: by)
            case "truncated": .truncated
            case "unauthorised": .refused(.unauthorised)
            case "gone": .refused(.gone)
            default: .unavailable(status: status)
            }
        let call = try reader.optional("call") { (node) throws(ScenarioError) in
            try named(node, .playCall, PlayOperation.allCases) { $0.rawValue }
        }
        return PlayFaultRule(
            fault,
            on: call,
            times: try reader.wholeNumber("times").map { Int($0) },
            percent: Int(min(try reader.wholeNumber("percent") ?? 100, 100))
        )
    }

    private func flag(_ key: String, _ reader: ObjectReader) throws(ScenarioError) -> Bool? {
        guard let node = reader.node[key] else { return nil }
        guard let value = node.bool else { throw fault(.expected(.bool, for: key), node) }
        return value
    }

    private func choice(
        _ key: String,
        _ reader: ObjectReader,
        _ words: [String]
    ) throws(ScenarioError) -> String? {
        try reader.optional(key) { (node) throws(ScenarioError) in
            try named(node, .choice, words) { $0 }
        }
    }

    private func word<Word: CaseIterable & RawRepresentable>(
        _ key: String,
        _ reader: ObjectReader,
        _ type: Word.Type
    ) throws(ScenarioError) -> Word? where Word.RawValue == String {
        try reader.optional(key) { (node) throws(ScenarioError) in
            try named(node, .choice, Array(Word.allCases)) { $0.rawValue }
        }
    }
}

extension Array {
    /// The only element of an array with one element; nil for any other array.
    fileprivate var only: Element? { count == 1 ? first : nil }
}
