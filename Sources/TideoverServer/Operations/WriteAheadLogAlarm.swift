/// Decides when the size of the write-ahead log deserves a warning: at a limit, and each time it
/// has doubled since.
///
/// The log is copied into the database at 16 MiB and restarted at 64 MiB. It grows beyond that
/// while a reader holds it open or copying fails. It then uses disk space and slows reads.
package struct WriteAheadLogAlarm {
    package static let boundBytes: Int64 = 256 << 20

    private var nextWarning = boundBytes

    package init() {}

    /// Records the size, and returns whether to warn.
    package mutating func observed(bytes: Int64) -> Bool {
        if bytes < Self.boundBytes { nextWarning = Self.boundBytes }
        guard bytes >= nextWarning else { return false }
        nextWarning = bytes * 2
        return true
    }
}
