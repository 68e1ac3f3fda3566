import TideoverCore
import TideoverStorage

/// Reads figures through one connection.
final class FiguresQueries {
    private let place: String
    private let page: Statement
    private let stale: Statement
    private let turn: Statement

    init(_ connection: Connection) throws(StorageError) {
        place = connection.place
        page = try Statement(SQL.figures, on: connection)
        stale = try Statement(SQL.staleFigures, on: connection)
        turn = try Statement(SQL.figuresTurn, on: connection)
    }

    func figures(
        in scope: AppScope,
        kind: FiguresSubject.Kind,
        after: String?,
        limit: Int
    ) throws(StorageError) -> [FiguresRow] {
        try page.all(
            .text(scope.app),
            .text(scope.environment.rawValue),
            .text(kind.rawValue),
            .text(after ?? ""),
            .integer(Int64(max(0, limit)))
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
        let turn = try turn(scope.app, scope.environment)
        let subjects = try stale.all(
            .text(scope.app),
            .text(scope.environment.rawValue),
            .integer(Int64(max(0, limit)))
        ) { row throws(StorageError) in
            guard let kind = FiguresSubject.Kind(rawValue: row.text(0)) else {
                throw StorageError(.corrupt, place: place, detail: "stale figures have no kind")
            }
            return StaleFigures(
                subject: FiguresSubject(kind, row.text(1)),
                mark: row.integer(2),
                form: row.isNull(3) ? nil : row.bytes(3)
            )
        }
        return StaleFiguresPage(turn: turn, subjects: subjects)
    }

    /// Returns how often figures were stored.
    func turn(_ app: String, _ environment: Environment) throws(StorageError) -> Int64 {
        try turn.first(.text(app), .text(environment.rawValue)) { $0.integer(0) } ?? 0
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
        mark = try Statement(SQL.figuresMark, on: connection)
        put = try Statement(SQL.putFigures, on: connection)
        remove = try Statement(SQL.removeFigures, on: connection)
        after = try Statement(SQL.figuresAfter, on: connection)
        addMark = try Statement(SQL.markFigures, on: connection)
        removeMark = try Statement(SQL.removeMark, on: connection)
    }

    /// Marks a subject, where neither `RowWriter` nor a trigger does.
    func mark(_ subject: FiguresSubject, in scope: AppScope) throws(StorageError) {
        let key = Self.key(scope.app, scope.environment, subject)
        try addMark.run(key[0], key[1], key[2], key[3])
    }

    /// Removes the figures of a subject, where no trigger does.
    func remove(_ subject: FiguresSubject, in scope: AppScope) throws(StorageError) {
        let key = Self.key(scope.app, scope.environment, subject)
        try remove.run(key[0], key[1], key[2], key[3])
        try removeMark.run(key[0], key[1], key[2], key[3])
    }

    func keep(_ update: FiguresUpdate) throws(StorageError) -> Bool {
        let (app, environment) = (update.app, update.environment)
        let turn = try queries.turn(app, environment)
        guard turn == update.done.turn else { return false }
        for stale in update.done.subjects {
            let key = Self.key(app, environment, stale.subject)
            let known = try mark.first(key[0], key[1], key[2], key[3]) { $0.integer(0) }
            guard known == stale.mark else { return false }
        }
        for (subject, form) in update.forms {
            let key = Self.key(app, environment, subject)
            if let form {
                try put.run(key[0], key[1], key[2], key[3], .integer(update.stamp), .bytes(form))
            } else {
                try remove.run(key[0], key[1], key[2], key[3])
            }
        }
        try putTurn.run(.text(app), .text(environment.rawValue), .integer(turn + 1))
        for stale in update.done.subjects {
            let key = Self.key(app, environment, stale.subject)
            try removeMark.run(key[0], key[1], key[2], key[3])
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
            .text(scope.app),
            .text(scope.environment.rawValue),
            .text(FiguresSubject.Kind.lineage.rawValue),
            .text(name ?? ""),
            .integer(Int64(max(1, limit)))
        ) { ($0.text(0), $0.integer(1)) }
        for (name, known) in page where known != stamp {
            try mark(FiguresSubject(.lineage, name), in: scope)
        }
        return page.count < max(1, limit) ? nil : page.last?.0
    }

    private static func key(
        _ app: String,
        _ environment: Environment,
        _ subject: FiguresSubject
    ) -> [SQLValue] {
        [
            .text(app), .text(environment.rawValue), .text(subject.kind.rawValue),
            .text(subject.name),
        ]
    }
}
