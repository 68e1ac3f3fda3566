import TideoverStorage

/// What the writing session remembers between jobs. Its changes are rolled back with the database.
struct SessionMemory {
    var leases = Leases()
}
