import TideoverCore
import TideoverStorage

/// Who was given which due customer, and until when.
///
/// It is kept in memory: one process at a time has the file open, and what it had claimed is free when
/// it is gone.
struct Leases {
    private struct Lease {
        let fence: Int64
        let until: Instant
    }

    private var byCustomer: [CustomerKey: Lease] = [:]
    private var latestFence: Int64 = 0

    var count: Int { byCustomer.count }

    func contain(_ customer: CustomerKey) -> Bool { byCustomer[customer] != nil }

    /// Whether nobody else was given the customer since.
    func hold(_ claim: DueClaim) -> Bool { byCustomer[claim.customer]?.fence == claim.fence }

    mutating func give(_ customer: CustomerKey, dueAt: Instant, until: Instant) -> DueClaim {
        latestFence += 1
        byCustomer[customer] = Lease(fence: latestFence, until: until)
        return DueClaim(customer: customer, dueAt: dueAt, fence: latestFence)
    }

    /// Forgets the claims that ran out.
    mutating func expire(_ now: Instant) {
        guard !byCustomer.isEmpty else { return }
        byCustomer = byCustomer.filter { $0.value.until > now }
    }

    mutating func release(_ customers: [CustomerKey]) {
        guard !byCustomer.isEmpty else { return }
        for customer in customers { byCustomer[customer] = nil }
    }
}
