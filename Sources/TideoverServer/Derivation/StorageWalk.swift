import TideoverCore
import TideoverStorage

extension Storage {
    /// Calls `body` for every lineage of a scope, or of one store in it, page by page; it blocks
    /// its thread.
    ///
    /// - Throws: `StorageError`, or an error of `body`, which ends the walk.
    func eachLineageRecord(
        in scope: AppScope,
        of store: Store? = nil,
        _ body: (LineageRecord) throws -> Void
    ) throws {
        let pageLength = 100
        // The keys of a store's lineages begin with it, so that others are not read.
        var last = store.map { "\($0.rawValue):" }
        while true {
            let page = try lineages(in: scope, after: last, limit: pageLength)
            for lineageRecord in page {
                if let store, lineageRecord.lineage.store != store { return }
                try body(lineageRecord)
            }
            guard page.count == pageLength else { return }
            last = page.last?.lineage.key
        }
    }
}
