public import TideoverJSON

extension Fact: FormObject {
    /// Writes the fact as one JSON object; times are RFC 3339, and missing values are omitted.
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    /// Returns the outputs of `write(to:)` for the fact and for another one with the same lineage
    /// and assertion. These are most of both, and are written once.
    package func forms(with other: Fact) -> (own: [UInt8], other: [UInt8]) {
        var writer = JSONWriter()
        var otherForm: [UInt8] = []
        writer.object { writer in
            let lineage = writer.required("lineage", lineage)
            let assertion = writer.variant(assertion)
            var otherWriter = writer
            _ = Self.form(&otherWriter, other, lineage, assertion)
            otherForm = otherWriter.bytes + [UInt8(ascii: "}")]
            _ = Self.form(&writer, self, lineage, assertion)
        }
        return (writer.bytes, otherForm)
    }

    /// Reads the output of `write(to:)`.
    public init(json: JSONNode) throws(FormError) {
        try self.init(form: json, "fact")
    }

    /// Reads the output of `write(to:)` after the lineage, which is known.
    package init(
        written json: inout WrittenJSON,
        of lineage: Lineage
    ) throws(WrittenJSON.Mismatch) {
        self = try Self.form(&json, nil, of: lineage)
        try json.endObject()
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ fact: Fact?
    ) throws(Fields.Failure) -> Fact {
        try form(&fields, fact, of: nil)
    }

    private static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ fact: Fact?,
        of known: Lineage?
    ) throws(Fields.Failure) -> Fact {
        let lineage =
            if let known { known } else { try fields.required("lineage", fact?.lineage) }
        let assertion = try fields.variant(fact?.assertion)
        return try form(&fields, fact, lineage, assertion)
    }

    /// The members after the assertion.
    private static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ fact: Fact?,
        _ lineage: Lineage,
        _ assertion: Assertion
    ) throws(Fields.Failure) -> Fact {
        Fact(
            lineage: lineage,
            assertion: assertion,
            effectiveAt: try fields.required("effectiveAt", fact?.effectiveAt),
            assertedAt: try fields.required("assertedAt", fact?.assertedAt),
            envelopeSignedAt: try fields.optional(
                "envelopeSignedAt",
                fact.flatMap { $0.envelopeSignedAt == $0.assertedAt ? nil : $0.envelopeSignedAt }
            ),
            learnedAt: try fields.required("learnedAt", fact?.learnedAt),
            rank: try fields.required("rank", fact?.rank),
            source: try fields.required("source", fact?.source),
            evidence: try fields.required("evidence", fact?.evidence)
        )
    }
}

extension Rank: FormValue {
    package init(form node: JSONNode, _ field: String) throws(FormError) {
        let number = try Int64(form: node, field)
        guard let rank = Rank(rawValue: Int(clamping: number)) else {
            throw .unknownWord(field: field, value: "\(number)")
        }
        self = rank
    }

    package init(written json: inout WrittenJSON) throws(WrittenJSON.Mismatch) {
        guard let rank = Rank(rawValue: Int(try json.int64())) else { throw WrittenJSON.Mismatch() }
        self = rank
    }

    package func write(to writer: inout JSONWriter) { writer.value(rawValue) }
}

extension Source: FormWord {}

extension EvidenceID: FormText {
    package init?(formText: String) { self.init(hex: formText) }

    package var formText: String { hex }
}

extension Lineage: FormObject {
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    public init(json: JSONNode) throws(FormError) {
        try self.init(form: json, "lineage")
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ lineage: Lineage?
    ) throws(Fields.Failure) -> Lineage {
        Lineage(
            store: try fields.required("store", lineage?.store),
            environment: try fields.required("environment", lineage?.environment),
            id: try fields.required("id", lineage?.id),
            ownership: try fields.required("ownership", lineage?.ownership)
        )
    }
}

extension Store: FormWord {}
extension Environment: FormWord {}
extension Ownership: FormWord {}

extension OwnershipEntry: FormObject {
    public func write(to writer: inout JSONWriter) {
        writer.object { writeFields(to: &$0) }
    }

    public init(json: JSONNode) throws(FormError) {
        try self.init(form: json, "entry")
    }

    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ entry: OwnershipEntry?
    ) throws(Fields.Failure) -> OwnershipEntry {
        OwnershipEntry(
            lineage: try fields.required("lineage", entry?.lineage),
            customer: try fields.required("customer", entry?.customer),
            from: try fields.optional("from", entry?.from, else: .distantPast),
            until: try fields.optional("until", entry?.until),
            why: try fields.required("why", entry?.why),
            decidedAt: try fields.optional("decidedAt", entry?.decidedAt)
        )
    }
}

extension OwnershipEntry.Why: FormWord {}

extension Assertion: FormVariant {
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
        case .inferredOwner: "inferredOwner"
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

    package static let reportedMember = "term"

    package init?<Input: FormInput>(
        word: String,
        _ input: inout Input
    ) throws(Input.Failure) {
        switch word {
        case "term": self = .term(try input.value(word))
        case "outlook": self = .outlook(try input.value(word))
        case "condition": self = .condition(try input.value(word))
        case "revocation": self = .revocation(try input.value(word))
        case "reversal": self = .reversal(try input.value(word))
        case "grant": self = .grant(try input.value(word))
        case "move": self = .move(try input.value(word))
        case "inferredOwner": self = .inferredOwner(try input.value(word))
        case "inquiry": self = .inquiry(try input.value(word))
        case "pending": self = .pending(try input.value(word))
        case "playSubscription": self = .playSubscription(try input.value(word))
        case "playPurchase": self = .playPurchase(try input.value(word))
        case "playVoidedOrder": self = .playVoidedOrder(try input.value(word))
        case "playReplacement": self = .playReplacement(try input.value(word))
        case "playNotice": self = .playNotice(try input.value(word))
        case "unrecognised": self = .unrecognised(try input.value(word))
        default: return nil
        }
    }

    package func write(to writer: inout JSONWriter) {
        switch self {
        case .term(let value): value.write(to: &writer)
        case .outlook(let value): value.write(to: &writer)
        case .condition(let value): value.write(to: &writer)
        case .revocation(let value): value.write(to: &writer)
        case .reversal(let value): value.write(to: &writer)
        case .grant(let value): value.write(to: &writer)
        case .move(let value): value.write(to: &writer)
        case .inferredOwner(let value): value.write(to: &writer)
        case .inquiry(let value): value.write(to: &writer)
        case .pending(let value): value.write(to: &writer)
        case .playSubscription(let value): value.write(to: &writer)
        case .playPurchase(let value): value.write(to: &writer)
        case .playVoidedOrder(let value): value.write(to: &writer)
        case .playReplacement(let value): value.write(to: &writer)
        case .playNotice(let value): value.write(to: &writer)
        case .unrecognised(let value): value.write(to: &writer)
        }
    }
}

extension Term: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ term: Term?
    ) throws(Fields.Failure) -> Term {
        Term(
            transactionId: try fields.required("transactionId", term?.transactionId),
            webOrderLineItemId: try fields.optional(
                "webOrderLineItemId",
                term?.webOrderLineItemId
            ),
            productId: try fields.required("productId", term?.productId),
            plan: try fields.required("plan", term?.plan),
            start: try fields.required("start", term?.start),
            end: try fields.optional("end", term?.end),
            offer: try fields.optional("offer", term?.offer),
            price: try fields.optional("price", term?.price),
            isUpgraded: try fields.optional("isUpgraded", term?.isUpgraded, else: false),
            isRevoked: try fields.optional("isRevoked", term?.isRevoked, else: false),
            origin: try fields.optional("origin", term?.origin, else: .unstated),
            group: try fields.optional("group", term?.group),
            storefront: try fields.optional("storefront", term?.storefront),
            accountToken: try fields.optional("accountToken", term?.accountToken),
            billing: try fields.optional("billing", term?.billing),
            commitment: try fields.optional("commitment", term?.commitment)
        )
    }
}

extension Term.Origin: FormWord {}

extension Term.Commitment: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ commitment: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            payment: try fields.optional("payment", commitment?.payment),
            payments: try fields.optional("payments", commitment?.payments),
            end: try fields.optional("end", commitment?.end),
            price: try fields.optional("price", commitment?.price)
        )
    }
}

extension Offer: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ offer: Offer?
    ) throws(Fields.Failure) -> Offer {
        Offer(
            kind: try fields.required("kind", offer?.kind),
            discount: try fields.optional("discount", offer?.discount),
            identifier: try fields.optional("identifier", offer?.identifier),
            period: try fields.optional("period", offer?.period)
        )
    }
}

extension Money: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ money: Money?
    ) throws(Fields.Failure) -> Money {
        Money(
            milliunits: try fields.required("milliunits", money?.milliunits),
            currency: try fields.required("currency", money?.currency)
        )
    }
}

extension Outlook: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ outlook: Outlook?
    ) throws(Fields.Failure) -> Outlook {
        Outlook(
            renewalDate: try fields.optional("renewalDate", outlook?.renewalDate),
            productId: try fields.optional("productId", outlook?.productId),
            renewsInto: try fields.optional("renewsInto", outlook?.renewsInto),
            willRenew: try fields.optional("willRenew", outlook?.willRenew),
            isRetrying: try fields.optional("isRetrying", outlook?.isRetrying),
            graceEnd: try fields.optional("graceEnd", outlook?.graceEnd),
            lapse: try fields.optional("lapse", outlook?.lapse),
            priceIncreasePending: try fields.optional(
                "priceIncreasePending",
                outlook?.priceIncreasePending
            ),
            renewalPrice: try fields.optional("renewalPrice", outlook?.renewalPrice),
            offer: try fields.optional("offer", outlook?.offer),
            billing: try fields.optional("billing", outlook?.billing),
            commitment: try fields.optional("commitment", outlook?.commitment),
            resumesAt: try fields.optional("resumesAt", outlook?.resumesAt)
        )
    }
}

extension Outlook.Commitment: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ commitment: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            willRenew: try fields.optional("willRenew", commitment?.willRenew),
            renewsInto: try fields.optional("renewsInto", commitment?.renewsInto),
            billing: try fields.optional("billing", commitment?.billing),
            date: try fields.optional("date", commitment?.date),
            price: try fields.optional("price", commitment?.price)
        )
    }
}

extension Condition: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ condition: Condition?
    ) throws(Fields.Failure) -> Condition {
        Condition(
            status: try fields.optional("status", condition?.status),
            notice: try fields.optional("notice", condition?.notice),
            lapse: try fields.optional("lapse", condition?.lapse),
            renewalDate: try fields.optional("renewalDate", condition?.renewalDate)
        )
    }
}

extension Condition.Notice: FormWord {}

extension Revocation: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ revocation: Revocation?
    ) throws(Fields.Failure) -> Revocation {
        Revocation(
            term: try fields.required("term", revocation?.term),
            date: try fields.required("date", revocation?.date),
            cause: try fields.required("cause", revocation?.cause),
            percentage: try fields.optional("percentage", revocation?.percentage),
            why: try fields.optional("why", revocation?.why),
            by: try fields.optional("by", revocation?.by)
        )
    }
}

extension TermKey: FormText {
    package init?(formText: String) { self.init(formText) }

    package var formText: String { text }
}

extension Reversal: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ reversal: Reversal?
    ) throws(Fields.Failure) -> Reversal {
        Reversal(term: try fields.required("term", reversal?.term))
    }
}

extension Unrecognised: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ unrecognised: Unrecognised?
    ) throws(Fields.Failure) -> Unrecognised {
        Unrecognised(
            field: try fields.required("field", unrecognised?.field),
            value: try fields.required("value", unrecognised?.value)
        )
    }
}

extension Grant: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ grant: Grant?
    ) throws(Fields.Failure) -> Grant {
        Grant(
            id: try fields.required("id", grant?.id),
            customer: try fields.required("customer", grant?.customer),
            entitlement: try fields.required("entitlement", grant?.entitlement),
            start: try fields.required("start", grant?.start),
            end: try fields.optional("end", grant?.end),
            why: try fields.required("why", grant?.why),
            by: try fields.optional("by", grant?.by)
        )
    }
}

extension OwnershipMove: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ move: OwnershipMove?
    ) throws(Fields.Failure) -> OwnershipMove {
        OwnershipMove(
            customer: try fields.required("customer", move?.customer),
            former: try fields.optional("former", move?.former) ?? [],
            from: try fields.required("from", move?.from),
            why: try fields.required("why", move?.why),
            by: try fields.optional("by", move?.by)
        )
    }
}

extension InferredOwner: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ inferred: InferredOwner?
    ) throws(Fields.Failure) -> InferredOwner {
        InferredOwner(
            customer: try fields.required("customer", inferred?.customer),
            from: try fields.required("from", inferred?.from),
            expired: try fields.required("expired", inferred?.expired)
        )
    }
}

extension Inquiry: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ inquiry: Inquiry?
    ) throws(Fields.Failure) -> Inquiry {
        Inquiry(
            askedAt: try fields.required("askedAt", inquiry?.askedAt),
            outcome: try fields.required("outcome", inquiry?.outcome)
        )
    }
}

extension PendingPurchase: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ purchase: PendingPurchase?
    ) throws(Fields.Failure) -> PendingPurchase {
        PendingPurchase(
            id: try fields.required("id", purchase?.id),
            productId: try fields.required("productId", purchase?.productId),
            isOver: try fields.optional("isOver", purchase?.isOver, else: false),
            until: try fields.optional("until", purchase?.until)
        )
    }
}
