/// The progress of a database copy that a server makes while it runs.
public struct CopyReport: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        case copying
        /// Every page is copied. The copy is not verified, and may not be on the disk yet.
        case copied
        /// The copy failed and its file was removed.
        case failed(StorageError)
    }

    /// The file of the copy, in the folder of the database.
    public let file: String
    public var state = State.copying
    public var bytes: Int64 = 0
    public var bytesInAll: Int64 = 0

    public init(file: String) {
        self.file = file
    }
}

/// Makes copies of the database while the server runs, one at a time.
public struct DatabaseCopier: Sendable {
    /// Starts a copy.
    ///
    /// - Throws: `busy` while another copy runs, or the reason why a copy is impossible.
    public let begin: @Sendable () throws(StorageError) -> CopyReport
    /// The latest copy since the server started; nil if there is none.
    public let latest: @Sendable () -> CopyReport?

    public init(
        begin: @escaping @Sendable () throws(StorageError) -> CopyReport,
        latest: @escaping @Sendable () -> CopyReport?
    ) {
        self.begin = begin
        self.latest = latest
    }
}
