public import TideoverCore

/// One thing that a storage holds of an app in an environment: what an export is made of.
///
/// Not among them are keys and passes, which are secrets or made by them, counts and bookmarks, which
/// are of one server, prompts that were shown, which matter for days, and what a storage makes of the rest to find things by.
public enum StoredRecord: Hashable, Sendable {
    case evidence(Evidence)
    case fact(Fact)
    /// Who owned a lineage, and which place of its list that is, from 0.
    case owner(OwnershipEntry, position: Int)
    case alias(CustomerAlias)
    case drift(Drift)
    /// Under no name: names are records of their own, and outlast events.
    case event(OutboxEvent)
    case told(ToldName)
    case audit(AuditRecord)
    case policy(PolicyVersion)
    /// An answer as derived last, without its pass.
    case customer(CustomerRow)

    /// The kinds, in the order that they are read in: what an answer is derived from stands before the
    /// answer.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case evidence, fact, owner, alias, drift, event, told, audit, policy, customer

        /// The kind that follows.
        public var next: Kind? {
            let all = Kind.allCases
            return all.firstIndex(of: self).flatMap { $0 + 1 < all.count ? all[$0 + 1] : nil }
        }
    }

    public var kind: Kind {
        switch self {
        case .evidence: .evidence
        case .fact: .fact
        case .owner: .owner
        case .alias: .alias
        case .drift: .drift
        case .event: .event
        case .told: .told
        case .audit: .audit
        case .policy: .policy
        case .customer: .customer
        }
    }
}

/// The name of something that a customer was told of, and the event that told it.
public struct ToldName: Hashable, Sendable {
    public let customer: CustomerID
    public let name: String
    public let event: EventID

    public init(customer: CustomerID, name: String, event: EventID) {
        self.customer = customer
        self.name = name
        self.event = event
    }
}

/// A place among the records of an app in an environment: behind one of a kind, or before the first.
public struct RecordPlace: Hashable, Sendable {
    public let kind: StoredRecord.Kind
    /// The key of the record, in the storage's own words; empty before the first of the kind.
    public let key: [String]

    public init(_ kind: StoredRecord.Kind, key: [String] = []) {
        self.kind = kind
        self.key = key
    }

    /// Before everything.
    public static let start = RecordPlace(.evidence)
}

/// Records that follow each other, all of one kind.
public struct RecordPage: Hashable, Sendable {
    public let records: [StoredRecord]
    /// Where to go on; nil where nothing follows.
    public let next: RecordPlace?

    public init(records: [StoredRecord], next: RecordPlace?) {
        self.records = records
        self.next = next
    }
}

/// What became of a record that was brought in.
public enum Restored: String, Hashable, Sendable, CaseIterable {
    case added
    /// It was here already.
    case known
    /// Something else stands in its place, which stays.
    case contradicted
}

/// A record in the form any storage keeps it, made by the caller before it waits for the writer.
package struct RestoredRow: Sendable {
    package let record: StoredRecord
    package let evidence: EvidenceRow?
    package let fact: FactRow?

    package init(_ record: StoredRecord) {
        self.record = record
        evidence = if case .evidence(let evidence) = record { EvidenceRow(evidence) } else { nil }
        fact = if case .fact(let fact) = record { FactRow(fact) } else { nil }
    }
}
