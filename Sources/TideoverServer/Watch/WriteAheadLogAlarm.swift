/// Decides when the size of the write-ahead log is worth a warning: at a bound, and again each time
/// it has doubled since.
///
/// A log is copied into the database at 16 MiB, and made to begin anew at 64 MiB; it grows beyond that
/// while a reader holds it open or copying fails. It then takes disk space and slows reads down.
package struct WriteAheadLogAlarm {
    package static let boundBytes: Int64 = 256 << 20

    private var nextWarning = boundBytes

    package init() {}

    /// Whether to warn of a log of this size.
    package mutating func observed(bytes: Int64) -> Bool {
        if bytes < Self.boundBytes { nextWarning = Self.boundBytes }
        guard bytes >= nextWarning else { return false }
        nextWarning = bytes * 2
        return true
    }
}
