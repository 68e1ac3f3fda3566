import TideoverCore
import TideoverStorage

extension ReadSession {
    func figures(
        in scope: AppScope,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow] {
        try statements[CommonSQL.figures].all(
            in: scope,
            .text(kind.rawValue),
            .text(after ?? ""),
            .limit(limit)
        ) {
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
        let turn = try statements.figuresTurn(in: scope)
        let subjects = try statements[CommonSQL.staleFigures].all(
            in: scope,
            .limit(limit),
            read: rows.staleFigures
        )
        return StaleFiguresPage(turn: turn, subjects: subjects)
    }
}

extension Statements {
    /// Returns how often figures were stored.
    fileprivate func figuresTurn(in scope: AppScope) throws(StorageError) -> Int64 {
        try self[CommonSQL.figuresTurn].first(in: scope) { $0.integer(0) } ?? 0
    }
}

/// Stores figures through the writing connection.
struct FiguresLedger {
    let statements: Statements

    /// Marks a subject, where neither `RowWriter` nor a trigger does.
    func mark(_ subject: FiguresSubject, in scope: AppScope) throws(StorageError) {
        let (kind, name) = Self.key(subject)
        try statements[SQL.markFigures].run(in: scope, kind, name)
    }

    /// Removes the figures of a subject, where no trigger does.
    func remove(_ subject: FiguresSubject, in scope: AppScope) throws(StorageError) {
        let (kind, name) = Self.key(subject)
        try statements[CommonSQL.removeFigures].run(in: scope, kind, name)
        try statements[CommonSQL.removeMark].run(in: scope, kind, name)
    }

    func keep(_ update: FiguresUpdate) throws(StorageError) -> Bool {
        let scope = update.scope
        let turn = try statements.figuresTurn(in: scope)
        guard turn == update.done.turn else { return false }
        for stale in update.done.subjects {
            let (kind, name) = Self.key(stale.subject)
            let known = try statements[CommonSQL.figuresMark].first(in: scope, kind, name) {
                $0.integer(0)
            }
            guard known == stale.mark else { return false }
        }
        for (subject, form) in update.forms {
            let (kind, name) = Self.key(subject)
            if let form {
                try statements[CommonSQL.putFigures].run(
                    in: scope,
                    kind,
                    name,
                    .integer(update.stamp),
                    .bytes(form)
                )
            } else {
                try statements[CommonSQL.removeFigures].run(in: scope, kind, name)
            }
        }
        try statements[SQL.putFiguresTurn].run(in: scope, .integer(turn + 1))
        for stale in update.done.subjects {
            let (kind, name) = Self.key(stale.subject)
            try statements[CommonSQL.removeMark].run(in: scope, kind, name)
        }
        return true
    }

    func markFigures(
        in scope: AppScope,
        otherThan stamp: Int64,
        after name: String?,
        limit: Int
    ) throws(StorageError) -> String? {
        let page = try statements[CommonSQL.figuresAfter].all(
            in: scope,
            .text(FiguresSubject.Kind.lineage.rawValue),
            .text(name ?? ""),
            .integer(Int64(max(1, limit)))
        ) { ($0.text(0), $0.integer(1)) }
        for (name, known) in page where known != stamp {
            try mark(FiguresSubject(.lineage, name), in: scope)
        }
        return page.count < max(1, limit) ? nil : page.last?.0
    }

    private static func key(_ subject: FiguresSubject) -> (kind: SQLValue, name: SQLValue) {
        (.text(subject.kind.rawValue), .text(subject.name))
    }
}
