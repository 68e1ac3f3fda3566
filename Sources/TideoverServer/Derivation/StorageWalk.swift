import TideoverCore
import TideoverStorage

extension Storage {
    /// Calls `body` for every lineage of a scope, page by page; it blocks its
    /// thread.
    ///
    /// - Throws: `StorageError`, or an error of `body`, which ends the walk.
    func eachLineageRecord(
        in scope: AppScope,
        _ body: (LineageRecord) throws -> Void
    ) throws {
        let pageLength = 100
        var last: String?
        while true {
            let page = try lineages(in: scope, after: last, limit: pageLength)
            for lineageRecord in page { try body(lineageRecord) }
            guard page.count == pageLength else { return }
            last = page.last?.lineage.key
        }
    }
}
