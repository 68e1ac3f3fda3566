import TideoverCore
import TideoverStorage

/// Stores figures, and marks those that are out of date, in a transaction that has locked the app.
///
/// A purchase is marked when a fact or an owner of it is added, and a customer when an alias is
/// declared. Each mark is a random number, so that a change during the calculation is noticed.
struct FiguresLedger {
    let connection: Connection
    let random: @Sendable () -> UInt64

    // MARK: Marks

    func mark(_ subject: FiguresSubject, in scope: AppScope) throws(StorageError) {
        let (kind, name) = (SQLValue.text(subject.kind.rawValue), SQLValue.text(subject.name))
        try connection.ask(SQL.markFigures, in: scope, kind, name, nextMark)
    }

    private var nextMark: SQLValue { .integer(Int64(bitPattern: random())) }

    /// Removes the figures of a purchase or customer that is removed.
    func remove(_ subject: FiguresSubject, in scope: AppScope) throws(StorageError) {
        let (kind, name) = (SQLValue.text(subject.kind.rawValue), SQLValue.text(subject.name))
        try connection.ask(CommonSQL.removeFigures, in: scope, kind, name)
        try connection.ask(CommonSQL.removeMark, in: scope, kind, name)
    }

    /// Removes the figures of a customer, and marks the purchases that remain: their other owners
    /// may be counted differently without that customer's other purchases.
    func remove(_ customer: CustomerID, in scope: AppScope) throws(StorageError) {
        try remove(FiguresSubject(.customer, customer.text), in: scope)
        try connection.ask(SQL.markFiguresOfOwned, in: scope, .text(customer.text), nextMark)
    }

    // MARK: Figures

    func keep(_ update: FiguresUpdate) throws(StorageError) -> Bool {
        let scope = update.scope
        let turn = try connection.ask(CommonSQL.figuresTurn, in: scope)
        guard try areUnchanged(update.done.subjects, in: scope),
            try turn.first({ $0.integer(0) }) ?? 0 == update.done.turn
        else { return false }
        try connection.ask(SQL.putFiguresTurn, in: scope, .integer(update.done.turn + 1))
        for (subject, form) in update.forms {
            let (kind, name) = (SQLValue.text(subject.kind.rawValue), SQLValue.text(subject.name))
            if let form {
                let stamp = SQLValue.integer(update.stamp)
                try connection.ask(CommonSQL.putFigures, in: scope, kind, name, stamp, .bytes(form))
            } else {
                try connection.ask(CommonSQL.removeFigures, in: scope, kind, name)
            }
        }
        for stale in update.done.subjects {
            try connection.ask(
                CommonSQL.removeMark,
                in: scope,
                .text(stale.subject.kind.rawValue),
                .text(stale.subject.name)
            )
        }
        return true
    }

    private func areUnchanged(
        _ stale: [StaleFigures],
        in scope: AppScope
    ) throws(StorageError) -> Bool {
        var marks: [Answer] = []
        for subject in stale.map(\.subject) {
            marks.append(
                try connection.ask(
                    CommonSQL.figuresMark,
                    in: scope,
                    .text(subject.kind.rawValue),
                    .text(subject.name)
                )
            )
        }
        var areUnchanged = true
        for (mark, stale) in zip(marks, stale)
        where try mark.first({ $0.integer(0) }) != stale.mark {
            areUnchanged = false
        }
        return areUnchanged
    }

    func markFigures(
        in scope: AppScope,
        otherThan stamp: Int64,
        after: String?,
        limit: Int
    ) throws(StorageError) -> String? {
        let kind = FiguresSubject.Kind.lineage
        let page = try connection.ask(
            CommonSQL.figuresAfter,
            in: scope,
            .text(kind.rawValue),
            .text(after ?? ""),
            .limit(max(1, limit))
        ).all { ($0.text(0), $0.integer(1)) }
        for (name, known) in page where known != stamp {
            try mark(FiguresSubject(kind, name), in: scope)
        }
        return page.count < max(1, limit) ? nil : page.last?.0
    }
}

extension ReadSession {
    func figures(
        in scope: AppScope,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow] {
        try connection.ask(
            CommonSQL.figures,
            in: scope,
            .text(kind.rawValue),
            .text(after ?? ""),
            .limit(limit)
        ).all {
            FiguresRow(
                subject: FiguresSubject(kind, $0.text(0)),
                stamp: $0.integer(1),
                form: $0.bytes(2)
            )
        }
    }

    func staleFigures(
        in scope: AppScope,
        limit: Int
    ) throws(StorageError) -> StaleFiguresPage {
        // Before the subjects: a later turn then shows that they may be out of date.
        let turn = try connection.ask(CommonSQL.figuresTurn, in: scope)
        let stale = try connection.ask(CommonSQL.staleFigures, in: scope, .limit(limit))
        let subjects = try stale.all(connection.rows.staleFigures)
        return StaleFiguresPage(turn: try turn.first { $0.integer(0) } ?? 0, subjects: subjects)
    }
}
