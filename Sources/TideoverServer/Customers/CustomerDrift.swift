import TideoverCore
import TideoverJSON
import TideoverStorage

/// A customer's current and recent drifts, and how long the customer was locked out.
struct CustomerDrift: Sendable {
    /// Open drifts, and those healed within the last thirty days; newest first.
    let drift: [Drift]
    /// The customer's lockouts by entitlement; entitlements without purchases are absent.
    let lockouts: [(entitlement: String, of: LockoutSum)]

    private static let recent = Milliseconds.days(30)

    /// How many of a customer's latest drifts to read.
    static let mostDrift = 200

    /// Selects those of a customer's stored drifts, newest first, that the reading is about.
    init(_ reading: CustomerReading, _ stored: [Drift]) {
        let (asOf, asKnownAt) = (reading.asOf, reading.asKnownAt)
        drift =
            stored.filter { $0.openedAt <= min(asOf, asKnownAt ?? asOf) }
            .map { $0.asKnown(at: min(asOf, asKnownAt ?? asOf)) }
            .filter { $0.healing.map { $0.at >= asOf - Self.recent } ?? true }
        lockouts = reading.lockouts.compactMap { entitlement, lockouts in
            var sum = LockoutSum()
            for lockouts in lockouts { sum.add([lockouts]) }
            return sum.total.purchases == 0 ? nil : (entitlement, sum)
        }
    }

    /// Returns the sentences about drifts and lockouts for a reply to the customer.
    func reply(on entitlement: String) -> [String] {
        let newest =
            drift.first { $0.entitlement == entitlement && $0.isOpen }
            ?? drift.first { $0.entitlement == entitlement }
        let sum = lockouts.first { $0.entitlement == entitlement }?.of
        return (newest?.reply ?? []) + (sum?.reply.map { [$0] } ?? [])
    }

    /// Writes `drift` and `lockouts`.
    func writeFields(to writer: inout JSONWriter) {
        writer.field("drift", each: drift) { $0.write(to: &$1) }
        writer.field(
            "lockouts",
            object: { writer in
                for (entitlement, sum) in lockouts {
                    writer.field(entitlement, object: { sum.total.writeFields(to: &$0) })
                }
            }
        )
    }
}

extension CustomerReading {
    /// The customer's lockouts for each entitlement, by the purchase that entitled the customer.
    var lockouts: [(entitlement: String, of: [Lockouts])] {
        record.catalogue.entitlements.map { entitlement in
            (entitlement, record.lockouts(of: entitlement, until: asOf).map(\.lockouts))
        }
    }
}

extension Drift {
    /// Returns the drift as known at an instant, open if it ended later.
    fileprivate func asKnown(at instant: Instant) -> Drift {
        guard let healing, healing.at > instant else { return self }
        var drift = self
        drift.healing = nil
        return drift
    }
}
