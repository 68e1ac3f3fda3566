package import TideoverCore
import TideoverSignatures
package import TideoverStorage

/// Makes the data of an app in an environment the same in one storage as in another, and compares
/// them.
///
/// The records are those of an export. Their signatures are not verified again, because the source
/// is the operator's own storage. Only differences are written: a copy that was interrupted, or one
/// of a source that changed since, can be run again.
package struct StorageCopy: Sendable {
    private static let pageLength = 500
    private let app: String
    private let environment: Environment

    package init(app: String, environment: Environment) {
        self.app = app
        self.environment = environment
    }

    // MARK: Copying

    /// The number of records that a copy wrote. A changed record counts as removed and added.
    package struct Changes: Hashable, Sendable {
        package fileprivate(set) var added = 0
        package fileprivate(set) var removed = 0
        /// Records that the target did not take, because it had others in their places.
        fileprivate var refused = 0

        package init() {}

        package static func + (first: Changes, second: Changes) -> Changes {
            var sum = first
            sum.added += second.added
            sum.removed += second.removed
            return sum
        }
    }

    /// Adds to the target the records that only the source has, removes those that only the target
    /// has, and replaces those that differ. Calls `progress` for every record of the source.
    ///
    /// Both are read once, in the order of the records' keys. The source can change meanwhile; then
    /// the target has each page as of another instant. No server uses the target.
    package func run(
        from source: any Storage,
        to target: any Storage,
        now: Instant,
        progress: (Int) -> Void
    ) async throws(StorageError) -> Changes {
        var changes = Changes()
        for kind in StoredRecord.Kind.allCases {
            let merge = RecordMerge(
                scope: AppScope(app, environment),
                kind: kind,
                now: now
            )
            let first = try await merge.run(from: source, to: target, progress: progress)
            changes = changes + first
            // A record can be refused because of one with a later key that was removed afterwards.
            guard first.refused > 0 else { continue }
            changes = try await changes + merge.run(from: source, to: target) { _ in }
        }
        return changes
    }

    /// Whether a storage has any record of the app in the environment.
    package func hasRecords(in storage: any Storage) throws(StorageError) -> Bool {
        var next: RecordPlace? = .start
        while let place = next {
            let page = try page(of: storage, from: place, limit: 1)
            if !page.records.isEmpty { return true }
            next = page.next
        }
        return false
    }

    // MARK: Comparing

    /// The number of records, and digests of them in any order.
    package struct Summary: Hashable, Sendable {
        package private(set) var records = 0
        package private(set) var customers = 0
        /// Of every line of an export.
        package private(set) var digest = DigestSum()
        /// Of the lines of customers alone, which have their answers.
        package private(set) var answerDigest = DigestSum()

        fileprivate mutating func add(_ page: [StoredRecord], _ environment: Environment) {
            let lines = page.map { ExportLine.record($0, environment).json }
            records += page.count
            for line in lines { digest.add(line) }
            // A page has records of one kind.
            guard page.first?.kind == .customer else { return }
            customers += page.count
            for line in lines { answerDigest.add(line) }
        }
    }

    /// The sum of digests of lines, in four parts without carries. Facts that an earlier version
    /// stored can be read in another order than their copies.
    package struct DigestSum: Hashable, Sendable {
        private var parts: [UInt64] = [0, 0, 0, 0]

        package init() {}

        package mutating func add(_ line: [UInt8]) {
            let digest = SHA256.hash(line)
            for index in parts.indices {
                let bytes = digest[
                    digest.startIndex + 8 * index..<digest.startIndex + 8 * index + 8
                ]
                parts[index] &+= bytes.reduce(0) { $0 << 8 | UInt64($1) }
            }
        }

        /// 64 digits.
        package var hex: String {
            parts.map { part in
                let digits = String(part, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }
    }

    /// Reads all records of a storage, and reports the number of each page to `progress`.
    package func summary(
        of storage: any Storage,
        progress: (Int) -> Void
    ) throws(StorageError) -> Summary {
        var summary = Summary()
        var next: RecordPlace? = .start
        while let place = next {
            let page = try page(of: storage, from: place)
            summary.add(page.records, environment)
            progress(page.records.count)
            next = page.next
        }
        return summary
    }

    private func page(
        of storage: any Storage,
        from place: RecordPlace,
        limit: Int = pageLength
    ) throws(StorageError) -> RecordPage {
        try storage.records(in: AppScope(app, environment), from: place, limit: limit)
    }
}

/// Makes the records of one kind the same in the target as in the source.
private struct RecordMerge {
    let scope: AppScope
    let kind: StoredRecord.Kind
    let now: Instant

    func run(
        from source: any Storage,
        to target: any Storage,
        progress: (Int) -> Void
    ) async throws(StorageError) -> StorageCopy.Changes {
        var here = RecordCursor(source, scope, kind)
        var there = RecordCursor(target, scope, kind)
        var changes = StorageCopy.Changes()
        var difference = RecordDifference()
        // A page of the target is read before anything after the former page is written.
        while let pair = RecordPair(source: try here.record(), target: try there.record()) {
            difference.add(pair)
            if pair.source != nil {
                here.advance()
                progress(1)
            }
            if pair.target != nil { there.advance() }
            guard difference.count >= RecordCursor.pageLength(of: kind) else { continue }
            changes = changes.adding(try await write(difference, to: target), of: difference)
            difference.clear()
        }
        guard difference.count > 0 else { return changes }
        return changes.adding(try await write(difference, to: target), of: difference)
    }

    /// Removes and adds records in one transaction.
    private func write(
        _ difference: RecordDifference,
        to target: any Storage
    ) async throws(StorageError) -> [Restored] {
        let (scope, now, removed) = (scope, now, difference.removed)
        let rows = difference.added.map { RestoredRow($0, keepsMarks: true) }
        return try await target.write(app: scope.app) { writer throws(StorageError) in
            try writer.remove(removed, in: scope, now: now)
            return try writer.restore(rows, in: scope, now: now)
        }
    }
}

extension StorageCopy.Changes {
    fileprivate func adding(_ outcomes: [Restored], of difference: RecordDifference) -> Self {
        var sum = self
        sum.added += outcomes.count { $0 == .added }
        sum.refused += outcomes.count { $0 != .added }
        sum.removed += difference.removed.count
        return sum
    }
}

/// The next record of the source, of the target, or of both if their keys are equal.
private struct RecordPair {
    let source: StoredRecord?
    let target: StoredRecord?

    /// Returns nil without any record.
    init?(source: StoredRecord?, target: StoredRecord?) {
        guard let source, let target else {
            guard source != nil || target != nil else { return nil }
            self.source = source
            self.target = target
            return
        }
        // Most records are equal, and a key can cost a digest.
        if source != target {
            let (first, second) = (RecordKey(of: source), RecordKey(of: target))
            if first != second {
                self.source = first < second ? source : nil
                self.target = first < second ? nil : target
                return
            }
        }
        self.source = source
        self.target = target
    }
}

/// What to write to the target.
private struct RecordDifference {
    private(set) var removed: [StoredRecord] = []
    private(set) var added: [StoredRecord] = []
    /// The lineage with owners that are removed together with an earlier one.
    private var endedLineage: String?

    var count: Int { removed.count + added.count }

    mutating func add(_ pair: RecordPair) {
        if pair.source == pair.target {
            guard case .owner(let entry, _)? = pair.source, entry.lineage.key == endedLineage else {
                return
            }
        }
        if let target = pair.target {
            removed.append(target)
            if case .owner(let entry, _) = target { endedLineage = entry.lineage.key }
        }
        if let source = pair.source { added.append(source) }
    }

    mutating func clear() {
        removed = []
        added = []
    }
}

/// Reads the records of one kind in the order of their keys, page by page.
private struct RecordCursor {
    private let storage: any Storage
    private let scope: AppScope
    private let kind: StoredRecord.Kind
    private var page: ArraySlice<StoredRecord> = []
    private var next: RecordPlace?

    init(_ storage: any Storage, _ scope: AppScope, _ kind: StoredRecord.Kind) {
        self.storage = storage
        self.scope = scope
        self.kind = kind
        next = RecordPlace(kind)
    }

    /// Evidence can have megabytes.
    static func pageLength(of kind: StoredRecord.Kind) -> Int { kind == .evidence ? 32 : 500 }

    /// Returns the current record; nil after the last one.
    mutating func record() throws(StorageError) -> StoredRecord? {
        while page.isEmpty, let place = next {
            let read = try storage.records(
                in: scope,
                from: place,
                limit: Self.pageLength(of: kind)
            )
            // After the last record of a kind comes a page of another one.
            let isOfKind = read.records.first?.kind == kind
            page = isOfKind ? read.records[...] : []
            next = isOfKind ? read.next : nil
        }
        return page.first
    }

    mutating func advance() { _ = page.popFirst() }
}

/// What the mark says that a copy leaves in its target.
package enum CopyState: String, Sendable {
    /// The target has a part of the source, or a copy of a source that changed since.
    case begun
    /// The copy was compared. The target is a storage of its own from then on.
    case done

    private static let key = BookmarkKey(app: "", environment: .production, name: "migration")

    /// Reads the mark of a storage; nil without one.
    package init?(of storage: any StorageReader) throws(StorageError) {
        let form = try storage.bookmark(Self.key)
        guard let state = [Self.begun, .done].first(where: { $0.form == form }) else { return nil }
        self = state
    }

    package func keep(in storage: any Storage) async throws(StorageError) {
        try await storage.keep(form, as: Self.key)
    }

    private var form: [UInt8] { Array(#"{"state":"\#(rawValue)"}"#.utf8) }
}
