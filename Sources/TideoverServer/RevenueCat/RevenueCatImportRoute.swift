import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverStorage

/// Answers `POST /v1/apps/{app}/imports/revenuecat`, which imports lines of a file of RevenueCat's
/// responses, and `GET`, which reports the progress of such a file.
///
/// Each line is accepted or rejected separately. Accepted lines are stored before the response is
/// sent, and a line that was already stored changes nothing.
struct RevenueCatImportRoute: Sendable {
    let context: AppContext

    private var app: App { context.app }

    /// The maximum number of concurrent commits.
    private static let mostAtOnce = 32
    private static let bookmark = "revenuecat-import"

    private var cursors: Cursors {
        context.cursors(in: app.answeredEnvironment)
    }

    func tell() throws -> Response {
        guard app.revenueCat != nil else { throw Problem.revenueCatNotConfigured(app.id) }
        let place = try cursors.text(Self.bookmark).flatMap { ImportPlace($0) }
        return .json(headers: ["Cache-Control": "private, no-store"]) { writer in
            writer.field("mark", place?.mark)
            writer.field("lines", place?.lines ?? 0)
        }
    }

    func take(_ request: Request) async throws -> Response {
        guard let trust = app.revenueCat else { throw Problem.revenueCatNotConfigured(app.id) }
        let wish = try ImportWish(request)
        let now = context.clock()
        let lines = try await onPool {
            Self.read(request.body, from: wish.linesBefore, trust.reader, at: now)
        }
        var sum = ImportSum(lines)
        let answers = lines.compactMap { RelayedAnswer($0) }
        if wish.isDryRun {
            let (told, app, storage) = (sum, app, context.storage)
            sum = try await onPool { try told.weighing(answers, in: app, storage) }
        } else {
            try await keep(answers, at: now, &sum)
            let place = wish.mark.map { ImportPlace(mark: $0, lines: sum.lastLine) }
            try await cursors.keep(place?.text ?? "", Self.bookmark)
        }
        return .json(headers: ["Cache-Control": "private, no-store"]) { sum.writeFields(to: &$0) }
    }

    private static func read(
        _ body: [UInt8],
        from linesBefore: Int64,
        _ reader: RevenueCatReader,
        at now: Instant
    ) -> [ImportedLine] {
        let start = ImportPosition(bytes: 0, line: linesBefore)
        var reading = RevenueCatImport(reader: reader, from: start, now: now)
        let lines = reading.take(body[...])
        return lines + [reading.finish()].compactMap(\.self)
    }

    /// Commits many responses concurrently, but those of one purchase or customer in order. Which
    /// claim to a purchase comes first then does not depend on chance.
    private func keep(
        _ answers: [RelayedAnswer],
        at now: Instant,
        _ sum: inout ImportSum
    ) async throws {
        var rest = answers[...]
        while !rest.isEmpty {
            let wave = rest.prefix(rest.apart(most: Self.mostAtOnce))
            rest = rest.dropFirst(wave.count)
            let outcomes = try await withThrowingTaskGroup(of: RelayedAnswer.Outcome.self) {
                group in
                for answer in wave { group.addTask { try await answer.keep(by: context, at: now) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for outcome in outcomes { sum.add(outcome) }
        }
    }
}

/// The progress of a file: a digest of all imported content, and its number of lines.
private struct ImportPlace {
    let mark: String
    let lines: Int64

    init(mark: String, lines: Int64) {
        self.mark = mark
        self.lines = lines
    }

    /// Returns nil for an empty or invalid text.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let lines = Int64(parts[0]) else { return nil }
        self.init(mark: String(parts[1]), lines: lines)
    }

    var text: String { "\(lines) \(mark)" }
}

/// The parameters of an import request.
private struct ImportWish {
    /// The number of preceding lines in the file.
    let linesBefore: Int64
    /// The digest that identifies the place after these lines; nil to remove the place.
    let mark: String?
    let isDryRun: Bool

    init(_ request: Request) throws(Problem) {
        let lines = request.queryValue("linesBefore") ?? "0"
        guard let linesBefore = Int64(lines), (0...(1 << 53)).contains(linesBefore) else {
            throw .badImport("`linesBefore` must be the number of lines of the file before these.")
        }
        self.linesBefore = linesBefore
        mark = request.queryValue("mark")
        if let mark, mark.utf8.count != 64 || !mark.utf8.allSatisfy(Self.isHexadecimal) {
            throw .badImport("`mark` must be a SHA-256 digest in hexadecimal.")
        }
        switch request.queryValue("dryRun") {
        case nil, "false": isDryRun = false
        case "true": isDryRun = true
        default: throw .badImport("`dryRun` must be `true` or `false`.")
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || byte &- UInt8(ascii: "a") < 6
    }
}

/// The results of a request's lines.
private struct ImportSum: Sendable {
    /// The lines with a message, in order.
    private let told: [ImportedLine]
    private let read: Int
    private let refused: Int
    /// The number of the last line that is not blank.
    let lastLine: Int64
    private var known = 0
    private var facts = 0

    init(_ lines: [ImportedLine]) {
        told = lines.filter { $0.sentence != nil }
        refused = lines.filter { if case .refused = $0.verdict { true } else { false } }.count
        read = lines.count - refused
        lastLine = lines.last?.number ?? 0
    }

    mutating func add(_ outcome: RelayedAnswer.Outcome) {
        if outcome.isKnown { known += 1 }
        facts += outcome.newFacts
    }

    /// Returns the results that importing the responses would have.
    func weighing(
        _ answers: [RelayedAnswer],
        in app: App,
        _ storage: any Storage
    ) throws(StorageError) -> ImportSum {
        var sum = self
        for answer in answers {
            if try answer.isKnown(in: app.answeredEnvironment, of: app, storage) {
                sum.known += 1
            } else {
                let facts = answer.reading.facts(learnedAt: .distantPast, evidence: answer.id)
                sum.facts += facts.count
            }
        }
        return sum
    }

    func writeFields(to writer: inout JSONWriter) {
        writer.field("read", read)
        writer.field("known", known)
        writer.field("refused", refused)
        writer.field("newFacts", facts)
        writer.field("lines", objects: told) { line, writer in
            writer.field("line", line.number)
            if case .refused(let refusal) = line.verdict {
                writer.field("verdict", "refused")
                writer.field("reason", refusal.code)
            } else {
                writer.field("verdict", "noted")
            }
            writer.field("detail", line.sentence)
        }
    }
}

extension RelayedAnswer {
    /// Returns nil for a rejected line.
    fileprivate init?(_ line: ImportedLine) {
        guard case .read(let reading) = line.verdict else { return nil }
        self.init(reading: reading, bytes: line.text, source: .imported)
    }
}

extension ArraySlice<RelayedAnswer> {
    /// Returns how many of the first responses concern distinct purchases and customers, at least
    /// one.
    fileprivate func apart(most: Int) -> Int {
        var lineages: Set<Lineage> = []
        var customers: Set<CustomerID> = []
        for (count, answer) in prefix(most).enumerated() {
            let isApart =
                lineages.isDisjoint(with: answer.reading.lineages)
                && answer.reading.customer.map { !customers.contains($0) } ?? true
            guard isApart || count == 0 else { return count }
            lineages.formUnion(answer.reading.lineages)
            if let customer = answer.reading.customer { customers.insert(customer) }
        }
        return Swift.min(most, count)
    }
}

extension Problem {
    fileprivate static func badImport(_ detail: String) -> Problem {
        Problem("bad-import", detail: detail)
    }
}
