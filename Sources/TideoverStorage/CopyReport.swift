/// The progress of a database copy that a server makes while it runs.
package struct CopyReport: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case copying
        /// Every page is copied. The copy is not verified, and may not be on the disk yet.
        case copied
        /// The copy failed and its file was removed.
        case failed(StorageError)
    }

    /// The file of the copy, in the folder of the database.
    package let file: String
    package var state = State.copying
    package var bytes: Int64 = 0
    package var bytesInAll: Int64 = 0

    package init(file: String) {
        self.file = file
    }
}

/// Makes copies of the database while the server runs, one at a time.
package struct DatabaseCopier: Sendable {
    /// Starts a copy.
    ///
    /// - Throws: `busy` while another copy runs, or the reason why a copy is impossible.
    package let begin: @Sendable () throws(StorageError) -> CopyReport
    /// The latest copy since the server started; nil if there is none.
    package let latest: @Sendable () -> CopyReport?

    package init(
        begin: @escaping @Sendable () throws(StorageError) -> CopyReport,
        latest: @escaping @Sendable () -> CopyReport?
    ) {
        self.begin = begin
        self.latest = latest
    }
}
