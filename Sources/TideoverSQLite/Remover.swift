import TideoverCore
import TideoverJSON
import TideoverStorage

/// Removes old rows, and the rows of a customer, through the writing connection.
struct Remover {
    let statements: Statements
    let customers: CustomerQueries

    // MARK: By age

    func prune(_ order: PruneOrder) throws(StorageError) -> Pruned {
        let limit = SQLValue.integer(Int64(max(1, order.limit)))
        let app = SQLValue.text(order.app)
        let before = SQLValue.instant(order.before)
        let earliest = SQLValue.text(EventID.earliest(at: order.before).description)
        let count: Int
        switch order.kind {
        case .evidence:
            count = try statements[SQL.pruneEvidence].run(in: order.scope, before, limit)
        case .drift:
            count = try statements[CommonSQL.pruneDrift].run(in: order.scope, before, limit)
        case .prompts:
            count = try statements[CommonSQL.prunePrompts].run(in: order.scope, before, limit)
        case .audit:
            count = try statements[CommonSQL.pruneAudit].run(in: order.scope, earliest, limit)
        case .told:
            var removed: [String] = []
            for removal in [SQL.pruneEventsByKey, SQL.pruneEvents] {
                removed += try statements[removal].all(in: order.scope, earliest, limit) {
                    $0.text(0)
                }
            }
            try noteRemoved(removed, of: order.app)
            count = removed.count
        case .webhookAttempts: count = try statements[SQL.pruneAttempts].run(app, before, limit)
        case .logIns:
            let earliest = SQLValue.text(order.before.rfc3339)
            return try prune(order, SQL.pruneLogIn, listedBy: SQL.logInsAfter, before: earliest)
        case .attributes:
            return try prune(order, CommonSQL.pruneAttributes, listedBy: CommonSQL.attributedAfter)
        case .customers:
            return try prune(order, CommonSQL.pruneCustomer, listedBy: CommonSQL.customersAfter)
        }
        return Pruned(count: count, next: count < order.limit ? nil : "")
    }

    /// Stores the newest of the removed events.
    private func noteRemoved(_ ids: [String], of app: String) throws(StorageError) {
        guard let newest = ids.max(), !newest.isEmpty else { return }
        let key = RemovedEvents.key(of: app)
        try statements[CommonSQL.raiseBookmark].run(
            in: key.scope,
            .text(key.name),
            .utf8(RemovedEvents.form(newest))
        )
    }

    /// Removes rows of one page of customers or names, each by the same statement.
    private func prune(
        _ order: PruneOrder,
        _ removal: StaticString,
        listedBy list: StaticString,
        before: SQLValue? = nil
    ) throws(StorageError) -> Pruned {
        let page = try statements[list].all(
            in: order.scope,
            .text(order.place),
            .integer(Int64(max(1, order.limit)))
        ) { $0.text(0) }
        var count = 0
        for customer in page {
            count += try statements[removal].run(
                in: order.scope,
                .text(customer),
                before ?? .instant(order.before)
            )
        }
        return Pruned(count: count, next: page.count < order.limit ? nil : page.last)
    }

    // MARK: By customer

    func erase(_ erasure: Erasure) throws(StorageError) -> Erased? {
        let identity = try customers.identity(of: erasure.customer)
        let ids = Set(identity.all)
        let own = erasure.customer
        let lineageRecords = try customers.lineages(of: own, now: .distantPast).lineageRecords
        let isExclusive = { (record: LineageRecord) in
            record.owners.deciding.allSatisfy { ids.contains($0.customer) }
        }
        let exclusive = lineageRecords.filter(isExclusive)
        // What proves a purchase that stays, stays too.
        let kept = Set(lineageRecords.filter { !isExclusive($0) }.flatMap(\.facts).map(\.evidence))
        let named = Set(exclusive.flatMap(\.facts).map(\.evidence))
        guard named.isSubset(of: erasure.known) else { return nil }
        var erased = Erased()
        erased.purchases = exclusive.count
        erased.shared = lineageRecords.count - exclusive.count
        for lineageRecord in exclusive { try erase(lineageRecord, own, &erased) }
        let removed = erasure.exclusive.intersection(named)
            .union(erasure.answers.subtracting(kept))
        for evidence in removed {
            erased.evidence += try statements[CommonSQL.eraseEvidence].run(
                .text(own.app),
                .text(evidence.hex),
                .text(own.environment.rawValue)
            )
        }
        let lines = AuditRule(
            ids: ids,
            held: Set(lineageRecords.map(\.lineage.key)),
            gone: Set(exclusive.map(\.lineage.key)),
            pseudonym: erasure.pseudonym
        )
        try eraseBookmarks(of: identity.all, erasure)
        for id in identity.all {
            let key = own.scope.key(id)
            try eraseAudit(naming: key, lines, &erased)
            try erase(key, erasure, &erased)
        }
        return erased
    }

    private func erase(
        _ lineageRecord: LineageRecord,
        _ own: CustomerKey,
        _ erased: inout Erased
    ) throws(StorageError) {
        let lineage = SQLValue.text(lineageRecord.lineage.key)
        erased.evidence += try statements[CommonSQL.eraseIdle].run(in: own.scope, lineage)
        erased.facts += try statements[CommonSQL.eraseFacts].run(in: own.scope, lineage)
        erased.facts += try statements[SQL.eraseFactsByKey].run(in: own.scope, lineage)
        try statements[CommonSQL.eraseOwners].run(in: own.scope, lineage)
        try statements[CommonSQL.deleteUnclaimed].run(in: own.scope, lineage)
        for name in Set(lineageRecord.facts.flatMap(\.names)) {
            try statements[CommonSQL.eraseName].run(
                in: own.scope,
                lineage,
                .text(name.kind),
                .text(name.text)
            )
        }
    }

    private func erase(
        _ key: CustomerKey,
        _ erasure: Erasure,
        _ erased: inout Erased
    ) throws(StorageError) {
        let customer = SQLValue.text(key.customer.text)
        // Events written since the erasure was prepared are in the newer table.
        let later = try statements[CommonSQL.laterEvents].all(
            in: key.scope,
            customer,
            .text(erasure.lastEvent?.description ?? "")
        ) { EventID($0.text(0)) }
        for event in erasure.events + later.compactMap(\.self) {
            let id = SQLValue.text(event.description)
            let pseudonym = SQLValue.text(erasure.pseudonym.text)
            for removal in [SQL.eraseEvent, SQL.eraseEventByKey] {
                erased.events += try statements[removal].run(in: key.scope, customer, id)
            }
            // Only the latest event of the app is left.
            for disguise in [SQL.disguiseEvent, SQL.disguiseEventByKey] {
                erased.events += try statements[disguise].run(
                    in: key.scope,
                    customer,
                    id,
                    pseudonym
                )
            }
        }
        erased.evidence += try statements[SQL.eraseIdleNaming].run(
            in: key.scope,
            .text(EvidenceSubject.name(of: key.customer))
        )
        try statements[CommonSQL.eraseTold].run(in: key.scope, customer)
        erased.drift += try statements[CommonSQL.eraseDrift].run(in: key.scope, customer)
        erased.prompts += try statements[CommonSQL.erasePrompts].run(in: key.scope, customer)
        erased.attributes += try statements[CommonSQL.eraseAttributes].run(in: key.scope, customer)
        try statements[CommonSQL.eraseAliases].run(in: key.scope, customer)
        try statements[CommonSQL.forgetCustomer].run(in: key.scope, customer)
    }

    /// Removes the bookmarks of all ids at once, because it reads each bookmark of the ranges.
    private func eraseBookmarks(
        of ids: [CustomerID],
        _ erasure: Erasure
    ) throws(StorageError) {
        let scope = erasure.customer.scope
        for name in erasure.bookmarks {
            try statements[CommonSQL.eraseBookmark].run(in: scope, .text(name))
        }
        var values = JSONWriter()
        values.array { writer in
            for id in ids { writer.value(id.text) }
        }
        for (first, last) in erasure.bookmarkRanges {
            try statements[SQL.eraseBookmarksOf].run(
                in: scope,
                .text(first),
                .text(last),
                .utf8(values.bytes)
            )
        }
    }

    private func eraseAudit(
        naming key: CustomerKey,
        _ rule: AuditRule,
        _ erased: inout Erased
    ) throws(StorageError) {
        let app = SQLValue.text(key.app)
        let lines = try statements[SQL.auditNaming].all(
            in: key.scope,
            .text(key.customer.text)
        ) { ($0.text(0), $0.bytes(1)) }
        for (id, form) in lines {
            let entry = try AuditEntry.read(stored: form, place: statements.connection.place)
            switch rule.fate(of: entry) {
            case .stays: continue
            case .goes(let left):
                // The latest entry always remains: later ids are derived from it.
                if try statements[CommonSQL.eraseAudit].run(app, .text(id)) == 0 {
                    try rewrite(id, as: left, app)
                }
            case .becomes(let left): try rewrite(id, as: left, app)
            }
            erased.audit += 1
        }
    }

    private func rewrite(
        _ id: String,
        as entry: AuditEntry,
        _ app: SQLValue
    ) throws(StorageError) {
        try statements[SQL.rewriteAudit].run(
            app,
            .text(id),
            .text(entry.customer?.text ?? SQL.noCustomer),
            .optional(entry.other?.text),
            .utf8(entry.storedForm)
        )
    }
}
