package import TideoverCore
package import TideoverStorage

// The readings of the machine that the doctor's caller takes.

/// The result of reading the storage without changing it.
package enum StorageReading: Hashable, Sendable {
    /// The storage does not exist.
    case missing
    /// Another process has it open; `holder` is its id, if known.
    case inUse(holder: Int32?)
    /// The whole storage was read: its faults, the newest evidence of each environment, and the
    /// bookmarks of replays that a server of this version does not resume.
    case read(
        faults: [String],
        newestEvidence: [Environment: Instant],
        setAside: [BookmarkKey] = []
    )
    /// The storage cannot be read.
    case failed(StorageError)
}

/// A PostgreSQL database that answers.
package struct DatabaseReading: Hashable, Sendable {
    /// Where it is, without secrets.
    package let place: String
    /// The number of its schema, if a newer version made it.
    package let newerSchema: Int?
    /// The servers that use it.
    package let servers: [ServerRecord]

    package init(place: String, newerSchema: Int? = nil, servers: [ServerRecord] = []) {
        self.place = place
        self.newerSchema = newerSchema
        self.servers = servers
    }
}

/// The file system's information about a folder.
package struct FolderReading: Hashable, Sendable {
    /// Whether this user may create files there.
    package let isWritable: Bool
    /// The number of bytes this user can still write; nil if unknown.
    package let freeBytes: Int64?

    /// Creates a reading.
    package init(isWritable: Bool, freeBytes: Int64?) {
        self.isWritable = isWritable
        self.freeBytes = freeBytes
    }
}

/// The file system's information about a file.
package enum FileReading: Hashable, Sendable {
    case missing
    /// This user may not read it.
    case unreadable
    /// The low nine bits of the file's mode.
    case readable(rights: Int)
}

/// The process at the address where the server is to listen.
package enum ListenReading: Hashable, Sendable {
    /// No process; the server can listen there.
    case free
    /// A Tideover of this version.
    case tideover(version: String)
    /// Another program.
    case stranger
    /// Listening there is impossible, for this reason.
    case impossible(String)
}

/// The maximum number of files a process may have open.
package struct FileLimitReading: Hashable, Sendable {
    /// The soft limit of a running server, raised as far as it needs and may; otherwise the limit a
    /// new server could reach.
    package let most: Int64
    /// The process with this limit; nil for the current process.
    package let process: Int32?

    /// Creates a reading.
    package init(most: Int64, process: Int32?) {
        self.most = most
        self.process = process
    }
}

/// The keys that sign offline passes.
package struct PassReading: Hashable, Sendable {
    /// The issuer name in passes.
    package let issuer: String
    /// The id of the signing key.
    package let keyId: String
    /// The number of other keys with valid signatures.
    package let others: Int

    /// Creates a reading.
    package init(issuer: String, keyId: String, others: Int) {
        self.issuer = issuer
        self.keyId = keyId
        self.others = others
    }
}

/// The metrics of a running server that the doctor judges. A value is nil if the server does not
/// report it.
package struct MetricsReading: Hashable, Sendable {
    /// The number of certificates that signed data, by what is known about their revocation.
    package struct Certificates: Hashable, Sendable {
        package let revoked: Int64
        /// The last request failed, and the answer before it is still current.
        package let failing: Int64
        /// The last request failed, and no answer is current.
        package let unchecked: Int64

        /// Creates counts.
        package init(revoked: Int64, failing: Int64, unchecked: Int64) {
            self.revoked = revoked
            self.failing = failing
            self.unchecked = unchecked
        }
    }

    /// The commits since the server started.
    package struct Commits: Hashable, Sendable {
        package let count: Int64
        /// Those that took at most a quarter of a second, including the wait for the writer.
        package let prompt: Int64

        /// Creates counts.
        package init(count: Int64, prompt: Int64) {
            self.count = count
            self.prompt = prompt
        }
    }

    /// Requests with `X-Forwarded-For` from a peer that is not a trusted proxy.
    package var untrustedForwarding: Int64?
    package var certificates: Certificates?
    /// The kinds of the workers that fail or are stuck.
    package var failingWorkers: Set<String>?
    package var commits: Commits?
    /// Requests of RevenueCat's SDKs that the server may not understand.
    package var unsupportedSDKRequests: Int64?

    /// Creates a reading without values.
    package init() {}
}
