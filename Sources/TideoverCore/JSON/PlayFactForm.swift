import TideoverJSON

extension PlayToken {
    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> PlayToken {
        PlayToken(try Field.text(node, field))
    }
}

extension PlaySubscription {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("token", token.id)
        writer.field("askedAt", askedAt)
        writer.field("state", state.word)
        writer.field("items", array: { for item in items { item.write(to: &$0) } })
        writer.said("startedAt", startedAt)
        writer.said("replaces", replaces?.id)
        writer.said("resumesAt", resumesAt)
        writer.said("cancellation", cancellation?.word)
        writer.said("cancelledAt", cancelledAt)
        writer.said("isAcknowledged", isAcknowledged)
        if isTest { writer.field("isTest", true) }
        writer.said("region", region)
        writer.said("accountId", accountId?.text)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> PlaySubscription {
        PlaySubscription(
            token: try node.required("token", PlayToken.read),
            askedAt: try node.required("askedAt", Field.instant),
            state: try node.required("state", Field.open),
            items: try node.list("items", PlayItem.read),
            startedAt: try node.optional("startedAt", Field.instant),
            replaces: try node.optional("replaces", PlayToken.read),
            resumesAt: try node.optional("resumesAt", Field.instant),
            cancellation: try node.optional("cancellation", Field.open),
            cancelledAt: try node.optional("cancelledAt", Field.instant),
            isAcknowledged: try node.optional("isAcknowledged", Field.flag),
            isTest: try node.optional("isTest", Field.flag) ?? false,
            region: try node.optional("region", Field.text),
            accountId: try node.optional("accountId", Field.customer)
        )
    }
}

extension PlayItem {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("productId", productId)
            writer.said("basePlan", basePlan)
            writer.said("offerId", offerId)
            writer.said("expiresAt", expiresAt)
            plan.writeField(to: &writer)
            writer.said("phase", phase?.word)
            writer.said("orderId", orderId)
            writer.said("price", price)
            writer.said("replacement", replacement)
            if isRemovedAtExpiry { writer.field("isRemovedAtExpiry", true) }
            if let priceChange {
                writer.field("priceChange", object: { priceChange.writeFields(to: &$0) })
            }
            if let installments {
                writer.field("installments", object: { installments.writeFields(to: &$0) })
            }
        }
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> PlayItem {
        PlayItem(
            productId: try node.required("productId", Field.text),
            basePlan: try node.optional("basePlan", Field.text),
            offerId: try node.optional("offerId", Field.text),
            expiresAt: try node.optional("expiresAt", Field.instant),
            plan: try Plan(item: node),
            phase: try node.optional("phase", Field.open),
            orderId: try node.optional("orderId", Field.text),
            price: try node.optional("price", Money.read),
            replacement: try node.optional("replacement", Field.text),
            isRemovedAtExpiry: try node.optional("isRemovedAtExpiry", Field.flag) ?? false,
            priceChange: try node.optional("priceChange", PriceChange.read),
            installments: try node.optional("installments", Installments.read)
        )
    }
}

extension PlayItem.Plan {
    /// Writes `autoRenewing` with whether it is on, or `prepaid`, or nothing.
    fileprivate func writeField(to writer: inout JSONWriter) {
        switch self {
        case .autoRenewing(let isOn): writer.field("autoRenewing", isOn)
        case .prepaid(let from):
            writer.field("prepaid", object: { $0.said("extendableFrom", from) })
        case .unstated: break
        }
    }

    fileprivate init(item: JSONNode) throws(FormError) {
        if let isOn = try item.optional("autoRenewing", Field.flag) {
            self = .autoRenewing(isOn: isOn)
        } else if let prepaid = item["prepaid"], !prepaid.isNull {
            self = .prepaid(
                extendableFrom: try prepaid.optional("extendableFrom", Field.instant)
            )
        } else {
            self = .unstated
        }
    }
}

extension PlayItem.PriceChange {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("state", state.word)
        writer.said("price", price)
        writer.said("chargedFrom", chargedFrom)
        writer.said("consentBy", consentBy)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Self {
        Self(
            state: try node.required("state", Field.open),
            price: try node.optional("price", Money.read),
            chargedFrom: try node.optional("chargedFrom", Field.instant),
            consentBy: try node.optional("consentBy", Field.instant)
        )
    }
}

extension PlayItem.Installments {
    func writeFields(to writer: inout JSONWriter) {
        writer.said("remainingPayments", remainingPayments)
        if isCancellationPending { writer.field("isCancellationPending", true) }
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Self {
        Self(
            remainingPayments: try node.optional("remainingPayments", Field.integer),
            isCancellationPending: try node.optional("isCancellationPending", Field.flag) ?? false
        )
    }
}

extension PlayPurchase {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("token", token.id)
        writer.field("askedAt", askedAt)
        writer.field("state", state.word)
        writer.field("items", array: { for item in items { item.write(to: &$0) } })
        writer.said("orderId", orderId)
        writer.said("completedAt", completedAt)
        writer.said("isAcknowledged", isAcknowledged)
        if isTest { writer.field("isTest", true) }
        writer.said("region", region)
        writer.said("accountId", accountId?.text)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> PlayPurchase {
        PlayPurchase(
            token: try node.required("token", PlayToken.read),
            askedAt: try node.required("askedAt", Field.instant),
            state: try node.required("state", Field.open),
            items: try node.list("items", Item.read),
            orderId: try node.optional("orderId", Field.text),
            completedAt: try node.optional("completedAt", Field.instant),
            isAcknowledged: try node.optional("isAcknowledged", Field.flag),
            isTest: try node.optional("isTest", Field.flag) ?? false,
            region: try node.optional("region", Field.text),
            accountId: try node.optional("accountId", Field.customer)
        )
    }
}

extension PlayPurchase.Item {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("productId", productId)
            if isConsumed { writer.field("isConsumed", true) }
            writer.said("quantity", quantity)
            writer.said("refundableQuantity", refundableQuantity)
        }
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Self {
        Self(
            productId: try node.required("productId", Field.text),
            isConsumed: try node.optional("isConsumed", Field.flag) ?? false,
            quantity: try node.optional("quantity", Field.integer),
            refundableQuantity: try node.optional("refundableQuantity", Field.integer)
        )
    }
}

extension PlayVoidedOrder {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("token", token.id)
        writer.said("orderId", orderId)
        writer.field("date", date)
        if isPartial { writer.field("isPartial", true) }
        writer.said("reason", reason)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> PlayVoidedOrder {
        PlayVoidedOrder(
            token: try node.required("token", PlayToken.read),
            orderId: try node.optional("orderId", Field.text),
            date: try node.required("date", Field.instant),
            isPartial: try node.optional("isPartial", Field.flag) ?? false,
            reason: try node.optional("reason", Field.integer)
        )
    }
}

extension PlayReplacement {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("token", token.id)
        writer.field("by", by.id)
        writer.field("from", from)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> PlayReplacement {
        PlayReplacement(
            token: try node.required("token", PlayToken.read),
            by: try node.required("by", PlayToken.read),
            from: try node.required("from", Field.instant)
        )
    }
}

extension PlayNotice {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("token", token.id)
        writer.field("kind", kind.word)
        writer.said("productId", productId)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> PlayNotice {
        PlayNotice(
            token: try node.required("token", PlayToken.read),
            kind: try node.required("kind", Field.open),
            productId: try node.optional("productId", Field.text)
        )
    }
}

extension JSONNode {
    /// Returns the values of an array; an empty list if the member is missing.
    func list<Value>(
        _ field: String,
        _ read: (JSONNode, String) throws(FormError) -> Value
    ) throws(FormError) -> [Value] {
        guard let node = self[field], !node.isNull else { return [] }
        guard node.kind == .array else { throw .wrongType(field: field) }
        var values: [Value] = []
        for element in node.elements { values.append(try read(element, field)) }
        return values
    }
}
