import TideoverStorage

/// What the writing session remembers between jobs. Its changes are rolled back with the database.
struct SessionMemory {
    var leases = Leases()
    /// The latest event of each app that had one since the file was opened.
    var latestEvents: [String: EventID] = [:]
    /// Headers that are stored. None is ever removed from the database.
    private var headers: Set<HeaderFingerprint> = []

    /// More headers than an app's stores use at one time.
    private static let mostHeaders = 256

    func contains(_ header: HeaderFingerprint) -> Bool { headers.contains(header) }

    mutating func add(_ header: HeaderFingerprint) {
        if headers.count >= Self.mostHeaders { headers = [] }
        headers.insert(header)
    }
}
