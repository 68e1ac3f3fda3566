/// A storage operation failed and had no effect. The caller may try it again later.
package struct StorageError: Error, Hashable, Sendable {
    /// The reason; each case allows a different reaction.
    package enum Reason: Hashable, Sendable {
        /// Too many operations were waiting, or another program locked the file for too long.
        case busy
        /// The database server cannot be reached, is shutting down, or ended the connection.
        case unavailable
        /// The disk, or the allowed size, is used up.
        case full
        /// The operating system permits reading but not writing.
        case readOnly
        /// The operating system denies access.
        case notPermitted
        /// The folder of the file does not exist.
        case missingFolder
        /// The content is inconsistent.
        case corrupt
        /// The file exists, but it is not a storage of this program.
        case notAStorage
        /// Another process has it open; its process id, if known.
        case locked(holder: Int32?)
        /// The open file was removed or replaced by another one.
        case replaced
        /// A newer version of this program wrote it.
        case newerSchema(found: Int, known: Int)
        /// An older version of this program wrote it, and it was opened read-only.
        case olderSchema(found: Int, known: Int)
        /// A device failed to read or write.
        case io
        /// A device failed to confirm a write. No write is accepted until the storage is opened
        /// again.
        case unconfirmed
        /// The database rejected the data, by a rule of the schema.
        case refused
        /// The storage was closed before.
        case closed
        /// Any other error, with the engine's own code.
        case engine(code: Int32)
    }

    package let reason: Reason
    /// The file or server concerned.
    package let place: String
    /// The message of the engine or the operating system; never a stored value.
    package let detail: String

    package init(_ reason: Reason, place: String, detail: String = "") {
        self.reason = reason
        self.place = place
        self.detail = detail
    }
}

extension StorageError: CustomStringConvertible {
    /// The error and its remedy, in two sentences.
    package var description: String {
        "\(what)\(detail.isEmpty ? "" : " (\(detail))"). \(advice)"
    }

    private var what: String {
        switch reason {
        case .busy: "\(place) is too busy"
        case .unavailable: "\(place) cannot be reached"
        case .full: "No space is left for \(place)"
        case .readOnly: "\(place) cannot be written to"
        case .notPermitted: "\(place) may not be opened"
        case .missingFolder: "The folder of \(place) does not exist"
        case .corrupt: "\(place) is damaged"
        case .notAStorage: "\(place) is not a storage of Tideover"
        case .locked(let holder?): "\(place) is in use by process \(holder)"
        case .locked(nil): "\(place) is in use by another process"
        case .replaced: "\(place) was moved, deleted or replaced while it was open"
        case .newerSchema(let found, let known):
            "\(place) has schema \(found), this version knows schemas up to \(known)"
        case .olderSchema(let found, let known):
            "\(place) has schema \(found), and is read only once it has schema \(known)"
        case .io: "Reading or writing \(place) failed"
        case .unconfirmed: "The disk did not confirm a write to \(place)"
        case .refused: "\(place) refused a row"
        case .closed: "\(place) is closed"
        case .engine(let code): "\(place) failed with code \(code)"
        }
    }

    /// The remedy.
    package var advice: String {
        switch reason {
        case .busy: "Try again in a moment; if it lasts, look for a program that holds it open."
        case .unavailable: "Check the address, the network and the database server; then try again."
        case .full: "Free some space or allow a greater size; reading goes on, nothing is lost."
        case .readOnly:
            "Give this user the right to write to the file and its folder, or name the database "
                + "that can be written to."
        case .notPermitted:
            "Give this user the right to read and write the file and its folder, or to create and "
                + "use tables in the database."
        case .missingFolder: "Create the folder, or name another one in the configuration."
        case .corrupt: "Stop the server, keep a copy, check the disk, and restore a backup."
        case .notAStorage: "Name another file or database in the configuration."
        case .locked: "Stop that process, or ask the running server instead."
        case .replaced: "Put the file back, or restart the server with the file that is there."
        case .newerSchema: "Run the newer version, or restore a backup made before the upgrade."
        case .olderSchema: "Start this version's server once: it brings the schema up to date."
        case .io: "Check the disk and the system's log; the store will deliver again."
        case .unconfirmed: "Check the disk, then restart; what was acknowledged is safe."
        case .refused: "This is a fault of the program; please report it."
        case .closed: "Open it again."
        case .engine: "Check the system's log; please report it if it persists."
        }
    }
}
