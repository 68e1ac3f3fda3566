public import TideoverJSON

extension Fact {
    /// Writes the fact as one JSON object; times are RFC 3339, and missing values are omitted.
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("lineage", object: { lineage.writeFields(to: &$0) })
            writer.field(assertion.word, object: { assertion.writeFields(to: &$0) })
            writer.field("effectiveAt", effectiveAt)
            writer.field("assertedAt", assertedAt)
            if envelopeSignedAt != assertedAt { writer.field("envelopeSignedAt", envelopeSignedAt) }
            writer.field("learnedAt", learnedAt)
            writer.field("rank", rank.rawValue)
            writer.field("source", source.rawValue)
            writer.field("evidence", evidence.hex)
        }
    }

    /// Reads the output of `write(to:)`.
    public init(json: JSONNode) throws(FormError) {
        let assertedAt = try json.required("assertedAt", Field.instant)
        let rank = try json.required("rank", Field.integer)
        guard let rank = Rank(rawValue: Int(clamping: rank)) else {
            throw .unknownWord(field: "rank", value: "\(rank)")
        }
        self.init(
            lineage: try json.required("lineage", Lineage.read),
            assertion: try Assertion(json: json),
            effectiveAt: try json.required("effectiveAt", Field.instant),
            assertedAt: assertedAt,
            envelopeSignedAt: try json.optional("envelopeSignedAt", Field.instant),
            learnedAt: try json.required("learnedAt", Field.instant),
            rank: rank,
            source: try json.required("source", Field.word),
            evidence: EvidenceID(hex: try json.required("evidence", Field.text))
        )
    }
}

extension Lineage {
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    public init(json: JSONNode) throws(FormError) {
        self = try Self.read(json, "lineage")
    }

    func writeFields(to writer: inout JSONWriter) {
        writer.field("store", store.rawValue)
        writer.field("environment", environment.rawValue)
        writer.field("id", id)
        writer.field("ownership", ownership.rawValue)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Lineage {
        Lineage(
            store: try node.required("store", Field.word),
            environment: try node.required("environment", Field.word),
            id: try node.required("id", Field.text),
            ownership: try node.required("ownership", Field.word)
        )
    }
}

extension OwnershipEntry {
    public func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("lineage", object: { lineage.writeFields(to: &$0) })
            writer.field("customer", customer.text)
            writer.said("from", from == .distantPast ? nil : from)
            writer.said("until", until)
            writer.field("why", why.rawValue)
            writer.said("decidedAt", decidedAt)
        }
    }

    public init(json: JSONNode) throws(FormError) {
        self.init(
            lineage: try json.required("lineage", Lineage.read),
            customer: try json.required("customer", Field.customer),
            from: try json.optional("from", Field.instant) ?? .distantPast,
            until: try json.optional("until", Field.instant),
            why: try json.required("why", Field.word),
            decidedAt: try json.optional("decidedAt", Field.instant)
        )
    }
}

extension Assertion {
    /// The member of a fact that contains its assertion.
    public var word: String {
        switch self {
        case .term: "term"
        case .outlook: "outlook"
        case .condition: "condition"
        case .revocation: "revocation"
        case .reversal: "reversal"
        case .grant: "grant"
        case .move: "move"
        case .inquiry: "inquiry"
        case .pending: "pending"
        case .playSubscription: "playSubscription"
        case .playPurchase: "playPurchase"
        case .playVoidedOrder: "playVoidedOrder"
        case .playReplacement: "playReplacement"
        case .playNotice: "playNotice"
        case .unrecognised: "unrecognised"
        }
    }

    init(json: JSONNode) throws(FormError) {
        for (word, node) in json.members {
            guard let assertion = try Self(word: word, node) else { continue }
            self = assertion
            return
        }
        throw .missing(field: "term")
    }

    /// Reads an assertion; nil for a member that is not one.
    private init?(word: String, _ node: JSONNode) throws(FormError) {
        switch word {
        case "term": self = .term(try .read(node, word))
        case "outlook": self = .outlook(try .read(node, word))
        case "condition": self = .condition(try .read(node, word))
        case "revocation": self = .revocation(try .read(node, word))
        case "reversal": self = .reversal(try .read(node, word))
        case "grant": self = .grant(try .read(node, word))
        case "move": self = .move(try .read(node, word))
        case "inquiry": self = .inquiry(try .read(node, word))
        case "pending": self = .pending(try .read(node, word))
        case "playSubscription": self = .playSubscription(try .read(node, word))
        case "playPurchase": self = .playPurchase(try .read(node, word))
        case "playVoidedOrder": self = .playVoidedOrder(try .read(node, word))
        case "playReplacement": self = .playReplacement(try .read(node, word))
        case "playNotice": self = .playNotice(try .read(node, word))
        case "unrecognised": self = .unrecognised(try .read(node, word))
        default: return nil
        }
    }

    func writeFields(to writer: inout JSONWriter) {
        switch self {
        case .term(let term): term.writeFields(to: &writer)
        case .outlook(let outlook): outlook.writeFields(to: &writer)
        case .condition(let condition): condition.writeFields(to: &writer)
        case .revocation(let revocation): revocation.writeFields(to: &writer)
        case .reversal(let reversal): writer.field("term", reversal.term.text)
        case .grant(let grant): grant.writeFields(to: &writer)
        case .move(let move): move.writeFields(to: &writer)
        case .inquiry(let inquiry): inquiry.writeFields(to: &writer)
        case .pending(let pending): pending.writeFields(to: &writer)
        case .playSubscription(let read): read.writeFields(to: &writer)
        case .playPurchase(let read): read.writeFields(to: &writer)
        case .playVoidedOrder(let void): void.writeFields(to: &writer)
        case .playReplacement(let replacement): replacement.writeFields(to: &writer)
        case .playNotice(let notice): notice.writeFields(to: &writer)
        case .unrecognised(let unrecognised):
            writer.field("field", unrecognised.field)
            writer.field("value", unrecognised.value)
        }
    }
}

extension Term {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("transactionId", transactionId)
        writer.said("webOrderLineItemId", webOrderLineItemId)
        writer.field("productId", productId)
        writer.field("plan", plan.word)
        writer.field("start", start)
        writer.said("end", end)
        writer.said("offer", offer)
        writer.said("price", price)
        if isUpgraded { writer.field("isUpgraded", true) }
        if isRevoked { writer.field("isRevoked", true) }
        if origin != .unstated { writer.field("origin", origin.rawValue) }
        writer.said("group", group)
        writer.said("storefront", storefront)
        writer.said("accountToken", accountToken?.text)
        writer.said("billing", billing?.word)
        guard let commitment else { return }
        writer.field("commitment", object: { commitment.writeFields(to: &$0) })
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Term {
        Term(
            transactionId: try node.required("transactionId", Field.text),
            webOrderLineItemId: try node.optional("webOrderLineItemId", Field.text),
            productId: try node.required("productId", Field.text),
            plan: try node.required("plan", Field.open),
            start: try node.required("start", Field.instant),
            end: try node.optional("end", Field.instant),
            offer: try node.optional("offer", Offer.read),
            price: try node.optional("price", Money.read),
            isUpgraded: try node.optional("isUpgraded", Field.flag) ?? false,
            isRevoked: try node.optional("isRevoked", Field.flag) ?? false,
            origin: try node.optional("origin", Field.word) ?? .unstated,
            group: try node.optional("group", Field.text),
            storefront: try node.optional("storefront", Field.text),
            accountToken: try node.optional("accountToken", Field.customer),
            billing: try node.optional("billing", Field.open),
            commitment: try node.optional("commitment", Commitment.read)
        )
    }
}

extension Term.Commitment {
    func writeFields(to writer: inout JSONWriter) {
        writer.said("payment", payment)
        writer.said("payments", payments)
        writer.said("end", end)
        writer.said("price", price)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Self {
        Self(
            payment: try node.optional("payment", Field.integer),
            payments: try node.optional("payments", Field.integer),
            end: try node.optional("end", Field.instant),
            price: try node.optional("price", Money.read)
        )
    }
}

extension Offer {
    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Offer {
        Offer(
            kind: try node.required("kind", Field.open),
            discount: try node.optional("discount", Field.open),
            identifier: try node.optional("identifier", Field.text),
            period: try node.optional("period", Field.period)
        )
    }
}

extension Money {
    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Money {
        Money(
            milliunits: try node.required("milliunits", Field.integer),
            currency: try node.required("currency", Field.text)
        )
    }
}

extension Outlook {
    func writeFields(to writer: inout JSONWriter) {
        writer.said("renewalDate", renewalDate)
        writer.said("productId", productId)
        writer.said("renewsInto", renewsInto)
        writer.said("willRenew", willRenew)
        writer.said("isRetrying", isRetrying)
        writer.said("graceEnd", graceEnd)
        writer.said("lapse", lapse?.word)
        writer.said("priceIncreasePending", priceIncreasePending)
        writer.said("renewalPrice", renewalPrice)
        writer.said("offer", offer)
        writer.said("billing", billing?.word)
        guard let commitment else { return }
        writer.field("commitment", object: { commitment.writeFields(to: &$0) })
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Outlook {
        Outlook(
            renewalDate: try node.optional("renewalDate", Field.instant),
            productId: try node.optional("productId", Field.text),
            renewsInto: try node.optional("renewsInto", Field.text),
            willRenew: try node.optional("willRenew", Field.flag),
            isRetrying: try node.optional("isRetrying", Field.flag),
            graceEnd: try node.optional("graceEnd", Field.instant),
            lapse: try node.optional("lapse", Field.open),
            priceIncreasePending: try node.optional("priceIncreasePending", Field.flag),
            renewalPrice: try node.optional("renewalPrice", Money.read),
            offer: try node.optional("offer", Offer.read),
            billing: try node.optional("billing", Field.open),
            commitment: try node.optional("commitment", Commitment.read)
        )
    }
}

extension Outlook.Commitment {
    func writeFields(to writer: inout JSONWriter) {
        writer.said("willRenew", willRenew)
        writer.said("renewsInto", renewsInto)
        writer.said("billing", billing?.word)
        writer.said("date", date)
        writer.said("price", price)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Self {
        Self(
            willRenew: try node.optional("willRenew", Field.flag),
            renewsInto: try node.optional("renewsInto", Field.text),
            billing: try node.optional("billing", Field.open),
            date: try node.optional("date", Field.instant),
            price: try node.optional("price", Money.read)
        )
    }
}

extension Condition {
    func writeFields(to writer: inout JSONWriter) {
        writer.said("status", status?.word)
        writer.said("notice", notice?.rawValue)
        writer.said("lapse", lapse?.word)
        writer.said("renewalDate", renewalDate)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Condition {
        Condition(
            status: try node.optional("status", Field.open),
            notice: try node.optional("notice", Field.word),
            lapse: try node.optional("lapse", Field.open),
            renewalDate: try node.optional("renewalDate", Field.instant)
        )
    }
}

extension Revocation {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("term", term.text)
        writer.field("date", date)
        writer.field("cause", cause.word)
        writer.said("percentage", percentage)
        writer.said("why", why)
        writer.said("by", by)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Revocation {
        Revocation(
            term: try node.required("term", Field.termKey),
            date: try node.required("date", Field.instant),
            cause: try node.required("cause", Field.open),
            percentage: try node.optional("percentage", Field.integer),
            why: try node.optional("why", Field.text),
            by: try node.optional("by", Field.text)
        )
    }
}

extension Reversal {
    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Reversal {
        Reversal(term: try node.required("term", Field.termKey))
    }
}

extension Unrecognised {
    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Unrecognised {
        Unrecognised(
            field: try node.required("field", Field.text),
            value: try node.required("value", Field.text)
        )
    }
}

extension Grant {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("customer", customer.text)
        writer.field("entitlement", entitlement)
        writer.field("start", start)
        writer.said("end", end)
        writer.field("why", why)
        writer.said("by", by)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Grant {
        Grant(
            id: try node.required("id", Field.text),
            customer: try node.required("customer", Field.customer),
            entitlement: try node.required("entitlement", Field.text),
            start: try node.required("start", Field.instant),
            end: try node.optional("end", Field.instant),
            why: try node.required("why", Field.text),
            by: try node.optional("by", Field.text)
        )
    }
}

extension OwnershipMove {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("customer", customer.text)
        writer.field(
            "former",
            array: { writer in for former in former { writer.value(former.text) } }
        )
        writer.field("from", from)
        writer.field("why", why)
        writer.said("by", by)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> OwnershipMove {
        OwnershipMove(
            customer: try node.required("customer", Field.customer),
            former: try node.list("former", Field.customer),
            from: try node.required("from", Field.instant),
            why: try node.required("why", Field.text),
            by: try node.optional("by", Field.text)
        )
    }
}

extension Inquiry {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("askedAt", askedAt)
        writer.field("outcome", outcome.word)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> Inquiry {
        Inquiry(
            askedAt: try node.required("askedAt", Field.instant),
            outcome: try node.required("outcome", Field.open)
        )
    }
}

extension PendingPurchase {
    func writeFields(to writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("productId", productId)
        if isOver { writer.field("isOver", true) }
        writer.said("until", until)
    }

    static func read(_ node: JSONNode, _ field: String) throws(FormError) -> PendingPurchase {
        PendingPurchase(
            id: try node.required("id", Field.text),
            productId: try node.required("productId", Field.text),
            isOver: try node.optional("isOver", Field.flag) ?? false,
            until: try node.optional("until", Field.instant)
        )
    }
}
