/// Decides when the write-ahead log is copied into the database file.
///
/// SQLite would do it inside a commit, every 1,000 pages, while callers wait. Here it is done
/// between groups, after the callers have their answers, and in quiet moments; only a log that
/// readers kept from beginning anew until it is large makes the writer wait for them.
package struct CheckpointPlan: Equatable {
    /// 16 MiB: on a slow disk a copy of that size stalls for some tens of milliseconds.
    package static let softPageCount = 4_096
    /// 64 MiB.
    package static let hardPageCount = 16_384

    /// How long the log is.
    package private(set) var pageCount = 0
    /// Whether something in the log is not in the file yet.
    package private(set) var isDirty = false
    private var nextAttempt = softPageCount
    private var nextInsistence = hardPageCount

    package init() {}

    /// A commit left the log with so many pages.
    package mutating func committed(pagesInLog: Int) {
        if pagesInLog < pageCount { self = CheckpointPlan() }
        pageCount = pagesInLog
        isDirty = true
    }

    /// What to do now; nil for nothing.
    package func due(isIdle: Bool) -> CheckpointMode? {
        guard isDirty else { return nil }
        if pageCount >= nextInsistence { return .restart }
        return isIdle || pageCount >= nextAttempt ? .passive : nil
    }

    /// A checkpoint was made, or failed: whatever is left is tried again only after more was written,
    /// since a reader that was in the way may stay there.
    package mutating func attempted(_ mode: CheckpointMode, pagesLeft: Int) {
        isDirty = pagesLeft > 0
        nextAttempt = pageCount + Self.softPageCount
        if mode != .passive { nextInsistence = pageCount + Self.softPageCount }
    }
}
