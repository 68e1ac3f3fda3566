import TideoverCore
import TideoverStorage

/// The leases of due customers, with their expiry.
///
/// They are kept in memory: one process at a time has the file open, and its leases end with it.
struct Leases {
    private struct Lease {
        let fence: Int64
        let until: Instant
    }

    private var byCustomer: [CustomerKey: Lease] = [:]
    private var latestFence: Int64 = 0

    var count: Int { byCustomer.count }

    func contain(_ customer: CustomerKey) -> Bool { byCustomer[customer] != nil }

    /// Whether no other claim on the customer was issued since.
    func hold(_ claim: DueClaim) -> Bool { byCustomer[claim.customer]?.fence == claim.fence }

    mutating func give(_ customer: CustomerKey, dueAt: Instant, until: Instant) -> DueClaim {
        latestFence += 1
        byCustomer[customer] = Lease(fence: latestFence, until: until)
        return DueClaim(customer: customer, dueAt: dueAt, fence: latestFence)
    }

    /// Removes expired claims.
    mutating func expire(_ now: Instant) {
        guard !byCustomer.isEmpty else { return }
        byCustomer = byCustomer.filter { $0.value.until > now }
    }

    mutating func release(_ customers: [CustomerKey]) {
        guard !byCustomer.isEmpty else { return }
        for customer in customers { byCustomer[customer] = nil }
    }
}
