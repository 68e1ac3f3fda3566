package import TideoverCore

/// What evidence without a new fact concerns, in one text: the lineage of its first fact, or else
/// the customers that it names.
///
/// Customers are stored as parts of digests, each of the same length, so that a text has a bounded
/// length and contains no id.
package enum EvidenceSubject {
    /// The beginning of a text about customers. No lineage's key begins with it.
    private static let customers = "customers:"
    /// More names would not fit into an index of PostgreSQL. A message with more of them is removed
    /// by its age.
    private static let most = 100

    /// Returns the text; nil if the evidence concerns neither.
    package static func text(of commitRequest: CommitRequest) -> String? {
        if let fact = commitRequest.facts.first { return fact.lineage.key }
        let names = commitRequest.evidenceNames.prefix(most)
        return names.isEmpty ? nil : customers + names.map { " " + name(of: $0) }.joined()
    }

    /// Returns the part of such a text that names a customer.
    package static func name(of customer: CustomerID) -> String {
        String(EvidenceID(of: Array(customer.text.utf8)).hex.prefix(16))
    }
}
