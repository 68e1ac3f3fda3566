import TideoverCore
import TideoverStorage

/// Reads figures through one connection.
final class FiguresQueries {
    private let rows: StoredRowReader
    private let page: Statement
    private let stale: Statement
    private let turn: Statement

    init(_ connection: Connection) throws(StorageError) {
        rows = connection.rows
        page = try Statement(CommonSQL.figures, on: connection)
        stale = try Statement(CommonSQL.staleFigures, on: connection)
        turn = try Statement(CommonSQL.figuresTurn, on: connection)
    }

    func figures(
        in scope: AppScope,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow] {
        try page.all(in: scope, .text(kind.rawValue), .text(after ?? ""), .limit(limit)) {
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
        let turn = try turn(in: scope)
        let subjects = try stale.all(in: scope, .limit(limit), read: rows.staleFigures)
        return StaleFiguresPage(turn: turn, subjects: subjects)
    }

    /// Returns how often figures were stored.
    func turn(in scope: AppScope) throws(StorageError) -> Int64 {
        try turn.first(in: scope) { $0.integer(0) } ?? 0
    }
}

/// Stores figures through the writing connection.
final class FiguresLedger {
    private let queries: FiguresQueries
    private let putTurn: Statement
    private let mark: Statement
    private let put: Statement
    private let remove: Statement
    private let after: Statement
    private let addMark: Statement
    private let removeMark: Statement

    init(_ connection: Connection) throws(StorageError) {
        queries = try FiguresQueries(connection)
        putTurn = try Statement(SQL.putFiguresTurn, on: connection)
        mark = try Statement(CommonSQL.figuresMark, on: connection)
        put = try Statement(CommonSQL.putFigures, on: connection)
        remove = try Statement(CommonSQL.removeFigures, on: connection)
        after = try Statement(CommonSQL.figuresAfter, on: connection)
        addMark = try Statement(SQL.markFigures, on: connection)
        removeMark = try Statement(CommonSQL.removeMark, on: connection)
    }

    /// Marks a subject, where neither `RowWriter` nor a trigger does.
    func mark(_ subject: FiguresSubject, in scope: AppScope) throws(StorageError) {
        let (kind, name) = Self.key(subject)
        try addMark.run(in: scope, kind, name)
    }

    /// Removes the figures of a subject, where no trigger does.
    func remove(_ subject: FiguresSubject, in scope: AppScope) throws(StorageError) {
        let (kind, name) = Self.key(subject)
        try remove.run(in: scope, kind, name)
        try removeMark.run(in: scope, kind, name)
    }

    func keep(_ update: FiguresUpdate) throws(StorageError) -> Bool {
        let scope = update.scope
        let turn = try queries.turn(in: scope)
        guard turn == update.done.turn else { return false }
        for stale in update.done.subjects {
            let (kind, name) = Self.key(stale.subject)
            let known = try mark.first(in: scope, kind, name) { $0.integer(0) }
            guard known == stale.mark else { return false }
        }
        for (subject, form) in update.forms {
            let (kind, name) = Self.key(subject)
            if let form {
                try put.run(in: scope, kind, name, .integer(update.stamp), .bytes(form))
            } else {
                try remove.run(in: scope, kind, name)
            }
        }
        try putTurn.run(in: scope, .integer(turn + 1))
        for stale in update.done.subjects {
            let (kind, name) = Self.key(stale.subject)
            try removeMark.run(in: scope, kind, name)
        }
        return true
    }

    func markFigures(
        in scope: AppScope,
        otherThan stamp: Int64,
        after name: String?,
        limit: Int
    ) throws(StorageError) -> String? {
        let page = try after.all(
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
