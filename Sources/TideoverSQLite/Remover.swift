import TideoverCore
import TideoverJSON
import TideoverStorage

/// Removes old rows, and the rows of a customer, through the writing connection.
final class Remover {
    private let connection: Connection
    private let customers: CustomerQueries
    private let pruneEvidence: Statement
    private let pruneDrift: Statement
    private let prunePrompts: Statement
    private let pruneAudit: Statement
    private let pruneEvents: Statement
    private let pruneEventsByKey: Statement
    private let raiseBookmark: Statement
    private let pruneAttempts: Statement
    private let customersAfter: Statement
    private let pruneCustomer: Statement
    private let forgetCustomer: Statement
    private let deleteUnclaimed: Statement
    private let eraseFacts: Statement
    private let eraseFactsByKey: Statement
    private let eraseOwners: Statement
    private let eraseName: Statement
    private let eraseIdle: Statement
    private let eraseIdleNaming: Statement
    private let eraseBookmark: Statement
    private let eraseBookmarksOf: Statement
    private let eraseEvidence: Statement
    private let eraseTold: Statement
    private let eraseDrift: Statement
    private let erasePrompts: Statement
    private let logInsAfter: Statement
    private let pruneLogIn: Statement
    private let attributedAfter: Statement
    private let pruneAttributes: Statement
    private let eraseAttributes: Statement
    private let eraseAliases: Statement
    private let laterEvents: Statement
    private let eraseEvent: Statement
    private let eraseEventByKey: Statement
    private let disguiseEvent: Statement
    private let disguiseEventByKey: Statement
    private let auditNaming: Statement
    private let eraseAudit: Statement
    private let rewriteAudit: Statement

    init(_ connection: Connection, _ customers: CustomerQueries) throws(StorageError) {
        self.connection = connection
        self.customers = customers
        pruneEvidence = try Statement(SQL.pruneEvidence, on: connection)
        pruneDrift = try Statement(CommonSQL.pruneDrift, on: connection)
        prunePrompts = try Statement(CommonSQL.prunePrompts, on: connection)
        pruneAudit = try Statement(CommonSQL.pruneAudit, on: connection)
        pruneEvents = try Statement(SQL.pruneEvents, on: connection)
        pruneEventsByKey = try Statement(SQL.pruneEventsByKey, on: connection)
        raiseBookmark = try Statement(CommonSQL.raiseBookmark, on: connection)
        pruneAttempts = try Statement(SQL.pruneAttempts, on: connection)
        customersAfter = try Statement(CommonSQL.customersAfter, on: connection)
        pruneCustomer = try Statement(CommonSQL.pruneCustomer, on: connection)
        forgetCustomer = try Statement(CommonSQL.forgetCustomer, on: connection)
        deleteUnclaimed = try Statement(CommonSQL.deleteUnclaimed, on: connection)
        eraseFacts = try Statement(CommonSQL.eraseFacts, on: connection)
        eraseFactsByKey = try Statement(SQL.eraseFactsByKey, on: connection)
        eraseOwners = try Statement(CommonSQL.eraseOwners, on: connection)
        eraseName = try Statement(CommonSQL.eraseName, on: connection)
        eraseIdle = try Statement(CommonSQL.eraseIdle, on: connection)
        eraseIdleNaming = try Statement(SQL.eraseIdleNaming, on: connection)
        eraseBookmark = try Statement(CommonSQL.eraseBookmark, on: connection)
        eraseBookmarksOf = try Statement(SQL.eraseBookmarksOf, on: connection)
        eraseEvidence = try Statement(CommonSQL.eraseEvidence, on: connection)
        eraseTold = try Statement(CommonSQL.eraseTold, on: connection)
        eraseDrift = try Statement(CommonSQL.eraseDrift, on: connection)
        erasePrompts = try Statement(CommonSQL.erasePrompts, on: connection)
        logInsAfter = try Statement(SQL.logInsAfter, on: connection)
        pruneLogIn = try Statement(SQL.pruneLogIn, on: connection)
        attributedAfter = try Statement(CommonSQL.attributedAfter, on: connection)
        pruneAttributes = try Statement(CommonSQL.pruneAttributes, on: connection)
        eraseAttributes = try Statement(CommonSQL.eraseAttributes, on: connection)
        eraseAliases = try Statement(CommonSQL.eraseAliases, on: connection)
        laterEvents = try Statement(CommonSQL.laterEvents, on: connection)
        eraseEvent = try Statement(SQL.eraseEvent, on: connection)
        eraseEventByKey = try Statement(SQL.eraseEventByKey, on: connection)
        disguiseEvent = try Statement(SQL.disguiseEvent, on: connection)
        disguiseEventByKey = try Statement(SQL.disguiseEventByKey, on: connection)
        auditNaming = try Statement(SQL.auditNaming, on: connection)
        eraseAudit = try Statement(CommonSQL.eraseAudit, on: connection)
        rewriteAudit = try Statement(SQL.rewriteAudit, on: connection)
    }

    // MARK: By age

    func prune(_ order: PruneOrder) throws(StorageError) -> Pruned {
        let limit = SQLValue.integer(Int64(max(1, order.limit)))
        let app = SQLValue.text(order.app)
        let before = SQLValue.instant(order.before)
        let earliest = SQLValue.text(EventID.earliest(at: order.before).description)
        let count: Int
        switch order.kind {
        case .evidence: count = try pruneEvidence.run(in: order.scope, before, limit)
        case .drift: count = try pruneDrift.run(in: order.scope, before, limit)
        case .prompts: count = try prunePrompts.run(in: order.scope, before, limit)
        case .audit: count = try pruneAudit.run(in: order.scope, earliest, limit)
        case .told:
            var removed: [String] = []
            for removal in [pruneEventsByKey, pruneEvents] {
                removed += try removal.all(in: order.scope, earliest, limit) { $0.text(0) }
            }
            try noteRemoved(removed, of: order.app)
            count = removed.count
        case .webhookAttempts: count = try pruneAttempts.run(app, before, limit)
        case .logIns:
            let earliest = SQLValue.text(order.before.rfc3339)
            return try prune(order, pruneLogIn, listedBy: logInsAfter, before: earliest)
        case .attributes: return try prune(order, pruneAttributes, listedBy: attributedAfter)
        case .customers: return try prune(order, pruneCustomer, listedBy: customersAfter)
        }
        return Pruned(count: count, next: count < order.limit ? nil : "")
    }

    /// Stores the newest of the removed events.
    private func noteRemoved(_ ids: [String], of app: String) throws(StorageError) {
        guard let newest = ids.max(), !newest.isEmpty else { return }
        let key = RemovedEvents.key(of: app)
        try raiseBookmark.run(in: key.scope, .text(key.name), .utf8(RemovedEvents.form(newest)))
    }

    /// Removes rows of one page of customers or names, each by the same statement.
    private func prune(
        _ order: PruneOrder,
        _ removal: Statement,
        listedBy list: Statement,
        before: SQLValue? = nil
    ) throws(StorageError) -> Pruned {
        let page = try list.all(
            in: order.scope,
            .text(order.place),
            .integer(Int64(max(1, order.limit)))
        ) { $0.text(0) }
        var count = 0
        for customer in page {
            count += try removal.run(
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
            erased.evidence += try eraseEvidence.run(
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
        erased.evidence += try eraseIdle.run(in: own.scope, lineage)
        erased.facts += try eraseFacts.run(in: own.scope, lineage)
        erased.facts += try eraseFactsByKey.run(in: own.scope, lineage)
        try eraseOwners.run(in: own.scope, lineage)
        try deleteUnclaimed.run(in: own.scope, lineage)
        for name in Set(lineageRecord.facts.flatMap(\.names)) {
            try eraseName.run(in: own.scope, lineage, .text(name.kind), .text(name.text))
        }
    }

    private func erase(
        _ key: CustomerKey,
        _ erasure: Erasure,
        _ erased: inout Erased
    ) throws(StorageError) {
        let customer = SQLValue.text(key.customer.text)
        // Events written since the erasure was prepared are in the newer table.
        let later = try laterEvents.all(
            in: key.scope,
            customer,
            .text(erasure.lastEvent?.description ?? "")
        ) { EventID($0.text(0)) }
        for event in erasure.events + later.compactMap(\.self) {
            let id = SQLValue.text(event.description)
            let pseudonym = SQLValue.text(erasure.pseudonym.text)
            for removal in [eraseEvent, eraseEventByKey] {
                erased.events += try removal.run(in: key.scope, customer, id)
            }
            // Only the latest event of the app is left.
            for disguise in [disguiseEvent, disguiseEventByKey] {
                erased.events += try disguise.run(in: key.scope, customer, id, pseudonym)
            }
        }
        erased.evidence += try eraseIdleNaming.run(
            in: key.scope,
            .text(EvidenceSubject.name(of: key.customer))
        )
        try eraseTold.run(in: key.scope, customer)
        erased.drift += try eraseDrift.run(in: key.scope, customer)
        erased.prompts += try erasePrompts.run(in: key.scope, customer)
        erased.attributes += try eraseAttributes.run(in: key.scope, customer)
        try eraseAliases.run(in: key.scope, customer)
        try forgetCustomer.run(in: key.scope, customer)
    }

    /// Removes the bookmarks of all ids at once, because it reads each bookmark of the ranges.
    private func eraseBookmarks(
        of ids: [CustomerID],
        _ erasure: Erasure
    ) throws(StorageError) {
        let scope = erasure.customer.scope
        for name in erasure.bookmarks { try eraseBookmark.run(in: scope, .text(name)) }
        var values = JSONWriter()
        values.array { writer in
            for id in ids { writer.value(id.text) }
        }
        for (first, last) in erasure.bookmarkRanges {
            try eraseBookmarksOf.run(in: scope, .text(first), .text(last), .utf8(values.bytes))
        }
    }

    private func eraseAudit(
        naming key: CustomerKey,
        _ rule: AuditRule,
        _ erased: inout Erased
    ) throws(StorageError) {
        let app = SQLValue.text(key.app)
        let lines = try auditNaming.all(
            in: key.scope,
            .text(key.customer.text)
        ) { ($0.text(0), $0.bytes(1)) }
        for (id, form) in lines {
            let entry = try AuditEntry.read(stored: form, place: connection.place)
            switch rule.fate(of: entry) {
            case .stays: continue
            case .goes(let left):
                // The latest entry always remains: later ids are derived from it.
                if try eraseAudit.run(app, .text(id)) == 0 { try rewrite(id, as: left, app) }
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
        try rewriteAudit.run(
            app,
            .text(id),
            .text(entry.customer?.text ?? SQL.noCustomer),
            .optional(entry.other?.text),
            .utf8(entry.storedForm)
        )
    }
}
