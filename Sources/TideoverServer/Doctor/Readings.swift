public import TideoverCore
public import TideoverStorage

// What the doctor is told of the machine; whoever runs it looks.

/// What became of a look at the storage, by somebody who changes nothing.
public enum StorageReading: Hashable, Sendable {
    /// There is none yet.
    case missing
    /// Another process has it open; its id where it is known.
    case inUse(holder: Int32?)
    /// All of it was read: what is wrong with it, the newest evidence of each environment, and the
    /// bookmarks of replays.
    case read(
        faults: [String],
        newestEvidence: [Environment: Instant],
        replays: [BookmarkKey: [UInt8]] = [:]
    )
    /// It cannot be read.
    case failed(StorageError)
}

/// What the system says of a folder.
public struct FolderReading: Hashable, Sendable {
    /// Whether this user may make files there.
    public let isWritable: Bool
    /// How many bytes this user may still write; nil if unknown.
    public let freeBytes: Int64?

    /// What the system said.
    public init(isWritable: Bool, freeBytes: Int64?) {
        self.isWritable = isWritable
        self.freeBytes = freeBytes
    }
}

/// What the system says of a file.
public enum FileReading: Hashable, Sendable {
    case missing
    /// This user may not read it.
    case unreadable
    /// Who may do what with it: the low nine bits of its mode.
    case readable(rights: Int)
}

/// Who is at the address where the server is to listen.
public enum ListenReading: Hashable, Sendable {
    /// Nobody; the server can listen there.
    case free
    /// A Tideover of this version.
    case tideover(version: String)
    /// Something else.
    case stranger
    /// Nobody can listen there, for a reason in words.
    case impossible(String)
}

/// How many files a process may have open.
public struct FileLimitReading: Hashable, Sendable {
    /// The soft limit of a running server, which it has raised as far as it needs and may; else how
    /// far one could.
    public let most: Int64
    /// The process that it is the limit of; nil for the one that asks.
    public let process: Int32?

    /// A limit of a process.
    public init(most: Int64, process: Int32?) {
        self.most = most
        self.process = process
    }
}
