import TideoverCore
import TideoverJSON
import TideoverStorage

/// Removes old rows, and the rows of a customer, in a transaction that has locked the app.
struct Remover {
    let connection: Connection
    let customers: CustomerQueries
    let figures: FiguresLedger

    init(_ session: WriteSession) {
        connection = session.connection
        customers = session.customers
        figures = session.figures
    }

    // MARK: By age

    func prune(_ order: PruneOrder) throws(StorageError) -> Pruned {
        let scope = order.scope
        let limit = SQLValue.limit(max(1, order.limit))
        let before = SQLValue.instant(order.before)
        let earliest = SQLValue.text(EventID.earliest(at: order.before).description)
        let answer: Answer
        switch order.kind {
        case .evidence:
            answer = try connection.ask(SQL.pruneEvidence, in: scope, before, limit)
        case .drift: answer = try connection.ask(CommonSQL.pruneDrift, in: scope, before, limit)
        case .prompts: answer = try connection.ask(CommonSQL.prunePrompts, in: scope, before, limit)
        case .audit: answer = try connection.ask(CommonSQL.pruneAudit, in: scope, earliest, limit)
        case .told:
            let events = try connection.ask(SQL.pruneEvents, in: scope, earliest, limit)
            let removed = try events.all { $0.text(0) }
            try noteRemoved(removed, of: order.app)
            return Pruned(count: removed.count, next: removed.count < order.limit ? nil : "")
        case .webhookAttempts:
            answer = try connection.ask(SQL.pruneAttempts, .text(order.app), before, limit)
        case .logIns:
            let earliest = SQLValue.text(order.before.rfc3339)
            return try prune(
                order,
                scope,
                SQL.pruneLogIn,
                listedBy: SQL.logInsAfter,
                before: earliest
            )
        case .attributes:
            let list = CommonSQL.attributedAfter
            return try prune(order, scope, CommonSQL.pruneAttributes, listedBy: list)
        case .customers:
            let list = CommonSQL.customersAfter
            return try prune(order, scope, CommonSQL.pruneCustomer, listedBy: list)
        }
        let count = try answer.count()
        return Pruned(count: count, next: count < order.limit ? nil : "")
    }

    /// Stores the newest of the removed events.
    private func noteRemoved(_ ids: [String], of app: String) throws(StorageError) {
        guard let newest = ids.max(), !newest.isEmpty else { return }
        let key = RemovedEvents.key(of: app)
        try connection.ask(
            CommonSQL.raiseBookmark,
            .text(key.app),
            .text(key.environment.rawValue),
            .text(key.name),
            .bytes(RemovedEvents.form(newest))
        )
    }

    /// Removes rows of one page of customers or names, each by the same statement.
    private func prune(
        _ order: PruneOrder,
        _ scope: AppScope,
        _ removal: StaticString,
        listedBy list: StaticString,
        before: SQLValue? = nil
    ) throws(StorageError) -> Pruned {
        let limit = SQLValue.limit(max(1, order.limit))
        let listed = try connection.ask(list, in: scope, .text(order.place), limit)
        let page = try listed.all { $0.text(0) }
        var answers: [Answer] = []
        for customer in page {
            answers.append(
                try connection.ask(
                    removal,
                    in: scope,
                    .text(customer),
                    before ?? .instant(order.before)
                )
            )
        }
        let count = try Self.sum(answers)
        return Pruned(count: count, next: page.count < order.limit ? nil : page.last)
    }

    private static func sum(_ answers: [Answer]) throws(StorageError) -> Int {
        var sum = 0
        for answer in answers { sum += try answer.count() }
        return sum
    }

    // MARK: By customer

    func erase(_ erasure: Erasure) throws(StorageError) -> Erased? {
        let own = erasure.customer
        let identity = try customers.identity(of: own)
        let ids = Set(identity.all)
        let records = try customers.lineages(of: own, now: .distantPast).lineageRecords
        let isExclusive = { (record: LineageRecord) in
            record.owners.deciding.allSatisfy { ids.contains($0.customer) }
        }
        let exclusive = records.filter(isExclusive)
        // What proves a purchase that stays, stays too.
        let kept = Set(records.filter { !isExclusive($0) }.flatMap(\.facts).map(\.evidence))
        let named = Set(exclusive.flatMap(\.facts).map(\.evidence))
        guard named.isSubset(of: erasure.known) else { return nil }
        var erased = Erased()
        erased.purchases = exclusive.count
        erased.shared = records.count - exclusive.count
        for record in exclusive { try erase(record, own.scope, &erased) }
        var answers: [Answer] = []
        let removed = erasure.exclusive.intersection(named)
            .union(erasure.answers.subtracting(kept))
        for evidence in removed {
            answers.append(
                try connection.ask(
                    CommonSQL.eraseEvidence,
                    .text(own.app),
                    .text(evidence.hex),
                    .text(own.environment.rawValue)
                )
            )
        }
        erased.evidence += try Self.sum(answers)
        let lines = AuditRule(
            ids: ids,
            held: Set(records.map(\.lineage.key)),
            gone: Set(exclusive.map(\.lineage.key)),
            pseudonym: erasure.pseudonym
        )
        try eraseBookmarks(of: identity.all, erasure)
        for id in identity.all {
            try eraseAudit(naming: own.scope.key(id), lines, &erased)
            try erase(own.scope.key(id), erasure, &erased)
        }
        return erased
    }

    private func erase(
        _ record: LineageRecord,
        _ scope: AppScope,
        _ erased: inout Erased
    ) throws(StorageError) {
        let lineage = SQLValue.text(record.lineage.key)
        let idle = try connection.ask(CommonSQL.eraseIdle, in: scope, lineage)
        let facts = try connection.ask(CommonSQL.eraseFacts, in: scope, lineage)
        try connection.ask(CommonSQL.eraseOwners, in: scope, lineage)
        try connection.ask(CommonSQL.deleteUnclaimed, in: scope, lineage)
        try figures.remove(FiguresSubject(.lineage, record.lineage.key), in: scope)
        for name in Set(record.facts.flatMap(\.names)) {
            try connection.ask(
                CommonSQL.eraseName,
                in: scope,
                lineage,
                .text(name.kind),
                .text(name.text)
            )
        }
        erased.evidence += try idle.count()
        erased.facts += try facts.count()
    }

    private func erase(
        _ key: CustomerKey,
        _ erasure: Erasure,
        _ erased: inout Erased
    ) throws(StorageError) {
        let (scope, customer) = (key.scope, SQLValue.text(key.customer.text))
        for event in try erasure.events + laterEvents(of: key, erasure) {
            let id = SQLValue.text(event.description)
            let removed = try connection.ask(SQL.eraseEvent, in: scope, customer, id).count()
            erased.events += removed
            guard removed == 0, try disguise(event, of: key, erasure.pseudonym) else { continue }
            erased.events += 1
        }
        let name = SQLValue.text(EvidenceSubject.name(of: key.customer))
        let naming = try connection.ask(SQL.eraseIdleNaming, in: scope, name)
        try connection.ask(CommonSQL.eraseTold, in: scope, customer)
        let drift = try connection.ask(CommonSQL.eraseDrift, in: scope, customer)
        let prompts = try connection.ask(CommonSQL.erasePrompts, in: scope, customer)
        let attributes = try connection.ask(CommonSQL.eraseAttributes, in: scope, customer)
        try connection.ask(CommonSQL.eraseAliases, in: scope, customer)
        try connection.ask(CommonSQL.forgetCustomer, in: scope, customer)
        try figures.remove(key.customer, in: scope)
        erased.evidence += try naming.count()
        erased.drift += try drift.count()
        erased.prompts += try prompts.count()
        erased.attributes += try attributes.count()
    }

    /// Removes the bookmarks of all ids at once, because it reads each bookmark of the ranges.
    private func eraseBookmarks(
        of ids: [CustomerID],
        _ erasure: Erasure
    ) throws(StorageError) {
        let scope = erasure.customer.scope
        for name in erasure.bookmarks {
            try connection.ask(CommonSQL.eraseBookmark, in: scope, .text(name))
        }
        for (first, last) in erasure.bookmarkRanges {
            try connection.ask(
                SQL.eraseBookmarksOf,
                in: scope,
                .text(first),
                .text(last),
                .texts(ids.map(\.text))
            )
        }
    }

    /// Returns the customer's events that were written since the erasure was prepared.
    private func laterEvents(
        of key: CustomerKey,
        _ erasure: Erasure
    ) throws(StorageError) -> [EventID] {
        let later = try connection.ask(
            CommonSQL.laterEvents,
            in: key.scope,
            .text(key.customer.text),
            .text(erasure.lastEvent?.description ?? "")
        )
        return try later.all { EventID($0.text(0)) }.compactMap(\.self)
    }

    /// Empties an event that must remain. Returns false if there is none.
    private func disguise(
        _ event: EventID,
        of key: CustomerKey,
        _ pseudonym: CustomerID
    ) throws(StorageError) -> Bool {
        var body = JSONWriter()
        body.object { writer in
            writer.field("app", key.app)
            writer.field("customer", pseudonym.text)
            writer.field("environment", key.environment.rawValue)
        }
        let disguised = try connection.ask(
            SQL.disguiseEvent,
            in: key.scope,
            .text(key.customer.text),
            .text(event.description),
            .text(pseudonym.text),
            .bytes(body.bytes)
        )
        return try disguised.count() > 0
    }

    // MARK: The audit

    private func eraseAudit(
        naming key: CustomerKey,
        _ rule: AuditRule,
        _ erased: inout Erased
    ) throws(StorageError) {
        let app = SQLValue.text(key.app)
        let answer = try connection.ask(
            SQL.auditNaming,
            in: key.scope,
            .text(key.customer.text)
        )
        for (id, form) in try answer.all({ ($0.text(0), $0.bytes(1)) }) {
            let entry = try AuditEntry.read(stored: form, place: connection.place)
            switch rule.fate(of: entry) {
            case .stays: continue
            case .goes(let left):
                // The latest entry always remains: later ids are derived from it.
                let removed = try connection.ask(CommonSQL.eraseAudit, app, .text(id)).count()
                if removed == 0 { try rewrite(id, as: left, app) }
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
        try connection.ask(
            SQL.rewriteAudit,
            app,
            .text(id),
            .text(entry.customer?.text ?? SQL.noCustomer),
            .optional(entry.other?.text),
            .bytes(entry.storedForm)
        )
    }
}
