import TideoverJSON

// The form of a standing's guidance: advice, messages, offers. Members of an answer's entitlement.

extension Guidance {
    func writeMembers(to writer: inout JSONWriter) {
        writer.key("advice")
        if let advice { writer.object(advice.writeMembers) } else { writer.null() }
        writer.key("words")
        if let wording { writer.object(wording.writeMembers) } else { writer.null() }
        writer.key("trialOffer")
        if let trialOffer { writer.object(trialOffer.writeMembers) } else { writer.null() }
        writer.field(
            "chargedTwice",
            array: { writer in
                for charge in chargedTwice { writer.object(charge.writeMembers) }
            }
        )
    }
}

extension Advice {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("kind", kind.rawValue)
        writer.field("productId", productId)
        writer.price("price", price)
        writer.field("chargedAt", chargedAt)
        writer.field("url", url)
    }
}

extension Wording {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("key", screen.key.rawValue)
        writer.field("arguments", object: screen.writeArguments)
        writer.field("title", title)
        writer.field("message", message)
        writer.field("label", label)
    }
}

extension MessageContext {
    func writeArguments(to writer: inout JSONWriter) {
        for (name, value) in arguments {
            switch value {
            case .instant(let instant): writer.field(name.rawValue, instant.rfc3339)
            case .number(let number): writer.field(name.rawValue, number)
            case .length(let period): writer.field(name.rawValue, period.iso8601)
            case .price(let price): writer.price(name.rawValue, price)
            }
        }
    }
}

extension TrialOffer {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("eligibility", eligibility.rawValue)
        writer.field("store", store.rawValue)
        writer.field("productId", productId)
        writer.field("length", length.iso8601)
        writer.price("price", price)
    }
}

extension Guidance.Charge {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.field("store", lineage.store.rawValue)
        writer.field("productId", productId)
        writer.field("state", state.rawValue)
        writer.field("url", url)
    }
}

extension JSONWriter {
    fileprivate mutating func price(_ key: String, _ price: Price?) {
        self.key(key)
        guard let price else { return null() }
        object { writer in
            writer.field("milliunits", price.amount.milliunits)
            writer.field("currency", price.amount.currency)
            writer.field("period", price.period?.iso8601)
        }
    }
}
