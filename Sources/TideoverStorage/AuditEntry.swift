package import TideoverCore
package import TideoverJSON

/// One line of an app's audit log. It records an ownership change, a refused claim, access that
/// was granted or revoked by hand, or an experiment that was stopped. Lines are only ever added.
package struct AuditEntry: Hashable, Sendable {
    package var kind: Kind
    /// The customer; nil for a purchase without an owner and for a change of many purchases.
    package var customer: CustomerID?
    /// The other customer: the previous owner of a transferred purchase, or the id that was joined.
    package var other: CustomerID?
    /// The key of the lineage; nil if the entry concerns none.
    package var lineage: String?
    package var actor: Actor
    /// The name of the operator's key; nil for any other actor.
    package var by: String?
    /// The reason, as the operator or the server states it.
    package var why: String
    /// The time, by the server's clock.
    package var at: Instant
    /// The unique name of an entry that is written once; nil for an entry that may repeat.
    package var name: String?
    /// The number of occurrences. Refused claims of one purchase beyond `mostRefusals` share one entry.
    package var count: Int
    /// The change that was requested from a store; nil for everything else.
    package var change: StoreChange?
    /// The number of refused claims of one purchase that have an entry each.
    package static let mostRefusals = 8

    package init(
        _ kind: Kind,
        customer: CustomerID?,
        other: CustomerID? = nil,
        lineage: String? = nil,
        actor: Actor,
        by: String? = nil,
        why: String,
        at: Instant,
        name: String? = nil,
        count: Int = 1,
        change: StoreChange? = nil
    ) {
        self.kind = kind
        self.customer = customer
        self.other = other
        self.lineage = lineage
        self.actor = actor
        self.by = by
        self.why = why
        self.at = at
        self.name = name
        self.count = count
        self.change = change
    }

    /// The kind of event.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The customer claimed a purchase that had no owner.
        case claimed
        /// A purchase moved from another customer to this one.
        case transferred
        /// The customer's claim to a purchase was refused.
        case claimRefused
        /// Access was granted by hand.
        case granted
        /// Access that was granted by hand was revoked.
        case grantRevoked
        /// Another id was declared to be the customer's.
        case aliased
        /// A change of a purchase was requested from its store.
        case storeAction
        /// An experiment was stopped, because one of its arms does harm.
        case experimentStopped
    }

    /// The originator of the event.
    package enum Actor: String, Hashable, Sendable, CaseIterable {
        /// The app that presented a purchase under the customer's id.
        case customer
        /// The store, by a signed message.
        case store
        /// A person or a program with an API key.
        case `operator`
        /// This server, by its configuration.
        case server
    }

    /// A change of a purchase that was requested from its store.
    package struct StoreChange: Hashable, Sendable {
        /// The action, such as `extend`.
        package let action: String
        /// The requested change, in one line.
        package let detail: String
        package let outcome: Outcome
        /// The reason of a failure; nil without one.
        package let code: String?

        package init(action: String, detail: String, outcome: Outcome, code: String? = nil) {
            self.action = action
            self.detail = detail
            self.outcome = outcome
            self.code = code
        }

        package enum Outcome: String, Hashable, Sendable, CaseIterable {
            /// The change was only drafted; nothing was sent.
            case dryRun
            /// The change is about to be sent.
            case requested
            /// The store carried out the change.
            case completed
            /// The store refused the change.
            case rejected
            /// The request did not reach the store.
            case notSent
            /// It is unknown whether the store carried out the change.
            case unknown
            /// The store no longer accepts the change, because its deadline passed.
            case missed
        }
    }
}

/// An audit entry as it is stored.
package struct AuditRecord: Hashable, Sendable {
    /// Increases with time.
    package let id: EventID
    package let environment: Environment
    package let entry: AuditEntry

    package init(id: EventID, environment: Environment, entry: AuditEntry) {
        self.id = id
        self.environment = environment
        self.entry = entry
    }
}

// MARK: - Entries for events

extension AuditEntry {
    /// Creates the entry for a ruling on a claim; nil if the customer owned the purchase already.
    /// The same refusal is written once, however often a device repeats the claim.
    package init?(_ ruling: ClaimRuling, on claim: OwnershipClaim, holder: CustomerID?) {
        switch ruling {
        case .held: return nil
        case .granted(let entry):
            self.init(
                holder == nil ? .claimed : .transferred,
                customer: entry.customer,
                other: holder,
                lineage: claim.lineage.key,
                actor: .customer,
                why: holder == nil
                    ? "The customer presented the purchase, which had no owner."
                    : "The customer presented the purchase, and policy let it move.",
                at: claim.at
            )
        case .refused(let objection):
            let parts = [
                "claim", claim.lineage.key, claim.customer.text, holder?.text ?? "", objection.code,
            ]
            self.init(
                .claimRefused,
                customer: claim.customer,
                other: holder,
                lineage: claim.lineage.key,
                actor: .customer,
                why: objection.sentence,
                at: claim.at,
                name: parts.joined(separator: "\n")
            )
        }
    }

    /// Creates the entry for an owner named by the store; nil if the purchase had no owner before.
    package init?(_ entry: OwnershipEntry, after holder: CustomerID?, at now: Instant) {
        guard entry.why == .accountToken, let holder, holder != entry.customer else { return nil }
        self.init(
            .transferred,
            customer: entry.customer,
            other: holder,
            lineage: entry.lineage.key,
            actor: .store,
            why: "The store's signed account token names the customer.",
            at: now
        )
    }

    /// Creates the entry for an operator's grant, move or revocation; nil for any other fact.
    package init?(_ fact: Fact, owner: CustomerID?) {
        guard fact.source == .operator else { return nil }
        switch fact.assertion {
        case .grant(let grant):
            self.init(
                .granted,
                customer: grant.customer,
                lineage: fact.lineage.key,
                actor: .operator,
                by: grant.by,
                why: grant.why,
                at: fact.learnedAt
            )
        case .move(let move):
            self.init(
                move.former.isEmpty ? .claimed : .transferred,
                customer: move.customer,
                other: move.former.first,
                lineage: fact.lineage.key,
                actor: .operator,
                by: move.by,
                why: move.why,
                at: fact.learnedAt
            )
        case .revocation(let word):
            guard let owner else { return nil }
            self.init(
                .grantRevoked,
                customer: owner,
                lineage: fact.lineage.key,
                actor: .operator,
                by: word.by,
                why: word.why ?? "",
                at: fact.learnedAt
            )
        default: return nil
        }
    }

    /// Creates the entry for an alias.
    package init(_ alias: CustomerAlias) {
        self.init(
            .aliased,
            customer: alias.customer,
            other: alias.alias,
            actor: .operator,
            by: alias.by,
            why: alias.why,
            at: alias.from
        )
    }
}

// MARK: - JSON form

extension AuditEntry {
    /// Writes the members of the entry's JSON object. An absent value is written as null.
    package func writeFields(to writer: inout JSONWriter) {
        writer.field("kind", kind.rawValue)
        writer.field("at", at.rfc3339)
        writer.field("customer", customer?.text)
        writer.field("other", other?.text)
        writer.field("lineage", lineage)
        writer.field("actor", actor.rawValue)
        writer.field("by", by)
        writer.field("why", why)
        writer.field("count", count)
        guard let change else { return writer.field("change", String?.none) }
        writer.field(
            "change",
            object: { writer in
                writer.field("action", change.action)
                writer.field("detail", change.detail)
                writer.field("outcome", change.outcome.rawValue)
                writer.field("code", change.code)
            }
        )
    }

    /// Reads the object that `writeFields` writes, except for the name; nil for any other object.
    package init?(json node: JSONNode) {
        guard let kind = node["kind"]?.string.flatMap(Kind.init(rawValue:)),
            let at = node["at"]?.string.flatMap({ Instant(rfc3339: $0) }),
            let actor = node["actor"]?.string.flatMap(Actor.init(rawValue:)),
            let why = node["why"]?.string
        else { return nil }
        self.init(
            kind,
            customer: node["customer"]?.string.flatMap { CustomerID($0) },
            other: node["other"]?.string.flatMap { CustomerID($0) },
            lineage: node["lineage"]?.string,
            actor: actor,
            by: node["by"]?.string,
            why: why,
            at: at,
            count: node["count"]?.int64.map(Int.init(clamping:)) ?? 1,
            change: node["change"].flatMap { StoreChange(json: $0) }
        )
    }
}

extension AuditEntry.StoreChange {
    fileprivate init?(json node: JSONNode) {
        guard let action = node["action"]?.string, let detail = node["detail"]?.string,
            let outcome = node["outcome"]?.string.flatMap(Outcome.init(rawValue:))
        else { return nil }
        self.init(
            action: action,
            detail: detail,
            outcome: outcome,
            code: node["code"]?.string
        )
    }
}

// MARK: - Repeated claims

extension AuditEntry {
    /// The bounds between which the names of all refused claims to the same purchase lie; nil if
    /// this entry is not a refused claim.
    package var refusals: (after: String, before: String)? {
        guard kind == .claimRefused, let lineage else { return nil }
        return ("claim\n\(lineage)\n", "claim\n\(lineage)\u{0B}")
    }

    /// The entry that counts further refused claims to a purchase after the first few.
    package var counted: AuditEntry {
        var line = self
        line.name = lineage.map { "claim\n\($0)" }
        line.why =
            "Further ids presented the purchase and did not get it; this is the first of them."
        return line
    }
}
