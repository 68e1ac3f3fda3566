package import TideoverCore

/// One stored record of an app in an environment: the unit of an export.
///
/// Keys and passes are excluded because they are secrets or made with secrets. Counts, and bookmarks
/// of a server's own work, belong to one server. Indexes are rebuilt by the storage.
package enum StoredRecord: Hashable, Sendable {
    /// Evidence, and its mark if no new fact was read from it.
    case evidence(Evidence, idle: IdleMark? = nil)
    case fact(Fact)
    /// An owner of a lineage, and its position in the list of owners, from 0.
    case owner(OwnershipEntry, position: Int)
    case alias(CustomerAlias)
    case attribute(AttributeRecord)
    case prompt(PromptRecord)
    case drift(Drift)
    /// An event without its name: names are separate records and outlast events.
    case event(OutboxEvent)
    case told(ToldName)
    case audit(AuditRecord)
    case bookmark(BookmarkRecord)
    case policy(PolicyVersion)
    /// The latest derived answer, without its pass.
    case customer(CustomerRow)

    /// The kinds, in the order in which they are read: the input of a derivation comes before the
    /// answer.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case evidence, fact, owner, alias, attribute, prompt, drift, event, told, audit, bookmark
        case policy, customer

        /// The next kind.
        package var next: Kind? {
            let all = Kind.allCases
            return all.firstIndex(of: self).flatMap { $0 + 1 < all.count ? all[$0 + 1] : nil }
        }
    }

    package var kind: Kind {
        switch self {
        case .evidence: .evidence
        case .fact: .fact
        case .owner: .owner
        case .alias: .alias
        case .attribute: .attribute
        case .prompt: .prompt
        case .drift: .drift
        case .event: .event
        case .told: .told
        case .audit: .audit
        case .bookmark: .bookmark
        case .policy: .policy
        case .customer: .customer
        }
    }
}

extension StoredRecord {
    /// The key of the lineage that a fact or an owner belongs to.
    package var lineage: String? {
        switch self {
        case .fact(let fact): fact.lineage.key
        case .owner(let entry, _): entry.lineage.key
        default: nil
        }
    }
}

/// The mark of evidence without new facts: retention removes it by age, and an erasure with what it
/// concerns.
package struct IdleMark: Hashable, Sendable {
    package let since: Instant
    /// What it concerns, as the storage of its origin wrote it; nil for nothing.
    package let subject: String?

    package init(since: Instant, subject: String?) {
        self.since = since
        self.subject = subject
    }
}

/// A prompt that was shown to a customer.
package struct PromptRecord: Hashable, Sendable {
    package let customer: CustomerID
    package let exposure: PromptExposure

    package init(customer: CustomerID, exposure: PromptExposure) {
        self.customer = customer
        self.exposure = exposure
    }
}

/// A bookmark that decides answers or requests, so that every copy needs it.
package struct BookmarkRecord: Hashable, Sendable {
    package let name: String
    /// A JSON object; a storage does not parse it.
    package let form: [UInt8]

    package init(name: String, form: [UInt8]) {
        self.name = name
        self.form = form
    }
}

extension BookmarkRecord {
    /// The beginnings of the names of these bookmarks, in the order of their bytes: the App Store's
    /// requests for consumption information, the newest event that retention removed, when
    /// customers first got the app, log-ins from anonymous ids and transfers that RevenueCat
    /// reported, and requests to a store with their idempotency keys.
    package static let prefixes = [
        "consumption:", "removed-event", "revenueCat:appOrigin:", "revenueCat:logIn:",
        "revenueCat:transfer:", "storeAction:",
    ]

    /// The ranges of the names after a name, in order. Each begins after its first name and ends
    /// before its last one.
    package static func ranges(after name: String) -> [(first: String, last: String)] {
        prefixes.compactMap { prefix in
            let last = prefix.behindPrefix
            guard name.utf8.lexicographicallyPrecedes(last.utf8) else { return nil }
            let isWithin = prefix.utf8.lexicographicallyPrecedes(name.utf8)
            return (isWithin ? name : prefix, last)
        }
    }

    /// Returns whether a bookmark of this name is a record.
    package static func includes(_ name: String) -> Bool {
        prefixes.contains { name.hasPrefix($0) && name != $0 }
    }
}

/// The unique name of a customer's event, and the event that used it.
package struct ToldName: Hashable, Sendable {
    package let customer: CustomerID
    package let name: String
    package let event: EventID

    package init(customer: CustomerID, name: String, event: EventID) {
        self.customer = customer
        self.name = name
        self.event = event
    }
}

/// A position among the records of an app in an environment: after a record of a kind, or before
/// the first.
package struct RecordPlace: Hashable, Sendable {
    package let kind: StoredRecord.Kind
    /// The key of the record, in the storage's own form; empty before the first of the kind.
    package let key: [String]

    package init(_ kind: StoredRecord.Kind, key: [String] = []) {
        self.kind = kind
        self.key = key
    }

    /// The position before all records.
    package static let start = RecordPlace(.evidence)
}

/// Consecutive records, all of one kind.
package struct RecordPage: Hashable, Sendable {
    package let records: [StoredRecord]
    /// The position of the next page; nil if there is none.
    package let next: RecordPlace?

    package init(records: [StoredRecord], next: RecordPlace?) {
        self.records = records
        self.next = next
    }
}

/// The outcome of importing a record.
package enum Restored: String, Hashable, Sendable, CaseIterable {
    /// The record was added, or changed the existing one.
    case added
    /// The record existed already, or a bookmark of the same name.
    case known
    /// A different record has the same key and is kept.
    case contradicted
}

/// A record in the form any storage uses, prepared by the caller before it waits for the writer.
package struct RestoredRow: Sendable {
    package let record: StoredRecord
    package let evidence: EvidenceRow?
    package let fact: FactRow?
    /// Whether the marks of evidence are those of the source, also where a fact refers to it.
    package let keepsMarks: Bool

    package init(_ record: StoredRecord, keepsMarks: Bool = false) {
        self.record = record
        self.keepsMarks = keepsMarks
        evidence =
            if case .evidence(let evidence, _) = record { EvidenceRow(evidence) } else { nil }
        fact = if case .fact(let fact) = record { FactRow(fact) } else { nil }
    }
}
