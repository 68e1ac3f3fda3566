package import TideoverCore

/// Decides which audit entries of an erased customer are removed or rewritten.
package struct AuditRule {
    private let ids: Set<CustomerID>
    /// The lineages that the customer owns or once owned.
    private let held: Set<String>
    /// The lineages that no other customer ever owned.
    private let gone: Set<String>
    private let pseudonym: CustomerID

    package init(
        ids: Set<CustomerID>,
        held: Set<String>,
        gone: Set<String>,
        pseudonym: CustomerID
    ) {
        self.ids = ids
        self.held = held
        self.gone = gone
        self.pseudonym = pseudonym
    }

    package enum Fate {
        case stays
        /// The entry without the customer, for when it cannot be removed.
        case goes(AuditEntry)
        case becomes(AuditEntry)
    }

    package func fate(of entry: AuditEntry) -> Fate {
        guard let lineage = entry.lineage else {
            let named = [entry.customer, entry.other].compactMap(\.self)
            let isOwn = !named.isEmpty && named.allSatisfy(ids.contains)
            return isOwn ? .goes(blank(entry)) : .stays
        }
        if gone.contains(lineage) { return .goes(blank(entry)) }
        // Entries about a purchase that another customer owned too remain.
        let names = entry.customer.map(ids.contains) ?? false
        guard !held.contains(lineage), names else { return .stays }
        var disguised = entry
        disguised.customer = pseudonym
        return .becomes(disguised)
    }

    private func blank(_ entry: AuditEntry) -> AuditEntry {
        var blank = entry
        blank.customer = pseudonym
        blank.other = nil
        blank.lineage = nil
        blank.by = nil
        blank.why = ""
        blank.change = nil
        return blank
    }
}
