package import TideoverSignatures

/// The file of a pass key cannot be read or has invalid content.
package struct UnusablePassKey: Error, Hashable, Sendable {
    /// The reason.
    package enum Cause: Hashable, Sendable {
        /// The file cannot be read; the text is the reader's error.
        case unreadable(String)
        case noKey(KeyError)
    }

    /// The file.
    package let path: String
    package let cause: Cause

    /// Creates the error for a file.
    package init(path: String, cause: Cause) {
        self.path = path
        self.cause = cause
    }
}
