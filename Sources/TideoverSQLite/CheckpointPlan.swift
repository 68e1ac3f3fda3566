/// Decides when the write-ahead log is copied into the database file.
///
/// SQLite would do it inside a commit, every 1,000 pages, while callers wait. Here it happens
/// between groups, after the callers have their results, and when the writer is idle. The writer
/// waits for readers only if they kept the log from restarting until it is large.
package struct CheckpointPlan: Equatable {
    /// 16 MiB: on a slow disk a copy of that size stalls for some tens of milliseconds.
    package static let softPageCount = 4_096
    /// 64 MiB.
    package static let hardPageCount = 16_384

    /// The length of the log, in pages.
    package private(set) var pageCount = 0
    /// Whether the log has content that is not in the file yet.
    package private(set) var isDirty = false
    private var nextAttempt = softPageCount
    private var nextInsistence = hardPageCount

    package init() {}

    /// Records the length of the log after a commit.
    package mutating func committed(pagesInLog: Int) {
        if pagesInLog < pageCount { self = CheckpointPlan() }
        pageCount = pagesInLog
        isDirty = true
    }

    /// Returns the checkpoint to run now; nil for none.
    package func due(isIdle: Bool) -> CheckpointMode? {
        guard isDirty else { return nil }
        if pageCount >= nextInsistence { return .restart }
        return isIdle || pageCount >= nextAttempt ? .passive : nil
    }

    /// Records a checkpoint that ran or failed. The rest is tried again only after more was
    /// written, since a blocking reader may stay.
    package mutating func attempted(_ mode: CheckpointMode, pagesLeft: Int) {
        isDirty = pagesLeft > 0
        nextAttempt = pageCount + Self.softPageCount
        if mode != .passive { nextInsistence = pageCount + Self.softPageCount }
    }
}
