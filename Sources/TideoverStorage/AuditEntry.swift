package import TideoverCore

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
        /// The app that presented a purchase under the customer's id, or logged the customer in.
        case customer
        /// The store, by a signed message.
        case store
        /// RevenueCat, by a message or an answer about the customer.
        case relay
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
            /// The request did not reach the store, or the store did not process it then.
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
    /// Creates the entry for a ruling on an actor's claim; nil if the customer owned the purchase
    /// already. The same refusal is written once, however often a device repeats the claim.
    package init?(
        _ ruling: ClaimRuling,
        on claim: OwnershipClaim,
        by actor: Actor,
        holder: CustomerID?
    ) {
        switch ruling {
        case .held: return nil
        case .granted(let entry):
            self.init(
                holder == nil ? .claimed : .transferred,
                customer: entry.customer,
                other: holder,
                lineage: claim.lineage.key,
                actor: actor,
                why: holder == nil
                    ? "\(actor.reasonOfClaim), which had no owner."
                    : "\(actor.reasonOfClaim), and policy let it move.",
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
                actor: actor,
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

    /// Creates the entry for an alias. A device declares it with its customer's own rights.
    package init(_ alias: CustomerAlias) {
        let isOfDevice = alias.by == CustomerAlias.device
        self.init(
            .aliased,
            customer: alias.customer,
            other: alias.alias,
            actor: isOfDevice ? .customer : .operator,
            by: isOfDevice ? nil : alias.by,
            why: alias.why,
            at: alias.from
        )
    }
}

extension AuditEntry.Actor {
    /// The start of a sentence on a claim to a purchase.
    fileprivate var reasonOfClaim: String {
        switch self {
        case .customer, .operator, .server: "The customer presented the purchase"
        case .store: "The store's message names the customer of the purchase"
        case .relay: "RevenueCat reported the customer of the purchase"
        }
    }
}

extension CustomerAlias {
    /// The declaring party if it is a device of the customer, which has no key of its own.
    package static let device = ""
}

// MARK: - JSON form

/// The entry without its name.
extension AuditEntry: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ entry: AuditEntry?
    ) throws(Fields.Failure) -> AuditEntry {
        let kind = try fields.required("kind", entry?.kind)
        let at = try fields.required("at", entry?.at)
        return AuditEntry(
            kind,
            customer: try fields.nullable("customer", entry.map(\.customer)),
            other: try fields.nullable("other", entry.map(\.other)),
            lineage: try fields.nullable("lineage", entry.map(\.lineage)),
            actor: try fields.required("actor", entry?.actor),
            by: try fields.nullable("by", entry.map(\.by)),
            why: try fields.required("why", entry?.why),
            at: at,
            count: try fields.optional("count", entry?.count) ?? 1,
            change: try fields.nullable("change", entry.map(\.change))
        )
    }
}

extension AuditEntry.Kind: FormWord {}
extension AuditEntry.Actor: FormWord {}

extension AuditEntry.StoreChange: FormObject {
    package static func form<Fields: FormFields>(
        _ fields: inout Fields,
        _ change: Self?
    ) throws(Fields.Failure) -> Self {
        Self(
            action: try fields.required("action", change?.action),
            detail: try fields.required("detail", change?.detail),
            outcome: try fields.required("outcome", change?.outcome),
            code: try fields.nullable("code", change.map(\.code))
        )
    }
}

extension AuditEntry.StoreChange.Outcome: FormWord {}

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
