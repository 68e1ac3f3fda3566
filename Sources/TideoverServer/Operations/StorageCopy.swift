package import TideoverCore
package import TideoverStorage

/// Copies the data of an app in an environment from one storage to another, and compares them.
///
/// The records are those of an export. Their signatures are not verified again, because the source
/// is the operator's own storage. Existing records stay, so an interrupted copy can be run again.
package struct StorageCopy: Sendable {
    private static let pageLength = 500
    private let app: String
    private let environment: Environment

    package init(app: String, environment: Environment) {
        self.app = app
        self.environment = environment
    }

    /// Copies all records, and reports the number of each page to `progress`.
    ///
    /// - Throws: `refused` if the target has a different record in the place of one.
    package func run(
        from source: any Storage,
        to target: any Storage,
        now: Instant,
        progress: (Int) -> Void
    ) async throws(StorageError) {
        var next: RecordPlace? = .start
        while let place = next {
            let page = try page(of: source, from: place)
            let outcomes = try await target.restore(
                page.records,
                in: AppScope(app, environment),
                now: now
            )
            guard !outcomes.contains(.contradicted) else {
                throw StorageError(
                    .refused,
                    place: "the target",
                    detail: "it has other data of the app \(app) than the source"
                )
            }
            progress(page.records.count)
            next = page.next
        }
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

    /// The number of records, and digests of them in their order.
    package struct Summary: Hashable, Sendable {
        package private(set) var records = 0
        package private(set) var customers = 0
        /// Of every line of an export.
        package private(set) var digest = ""
        /// Of the lines of customers alone, which have their answers.
        package private(set) var answerDigest = ""

        fileprivate mutating func add(_ page: [StoredRecord], _ environment: Environment) {
            let lines = page.map { ExportLine.record($0, environment).json }
            records += page.count
            digest = Self.chained(digest, lines)
            // A page has records of one kind.
            guard page.first?.kind == .customer else { return }
            customers += page.count
            answerDigest = Self.chained(answerDigest, lines)
        }

        private static func chained(_ digest: String, _ lines: [[UInt8]]) -> String {
            lines.reduce(digest) { EvidenceID(of: Array($0.utf8) + $1).hex }
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
