import TideoverCore
import TideoverJSON
import TideoverStorage

/// An operator's grant, and whether it was revoked.
struct GivenGrant: Hashable, Sendable {
    let lineage: Lineage
    let grant: TideoverCore.Grant
    let grantedAt: Instant
    /// The first revocation.
    let revocation: Revocation?

    /// Returns nil for a lineage that is not a grant.
    init?(_ lineageRecord: LineageRecord) {
        guard lineageRecord.lineage.store == .tideover else { return nil }
        var found: (grant: TideoverCore.Grant, at: Instant)?
        var revocation: Revocation?
        for fact in lineageRecord.facts {
            switch fact.assertion {
            case .grant(let grant): found = (grant, found?.at ?? fact.assertedAt)
            case .revocation(let word): revocation = revocation ?? word
            default: break
            }
        }
        guard let found else { return nil }
        lineage = lineageRecord.lineage
        grant = found.grant
        grantedAt = found.at
        self.revocation = revocation
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("id", grant.id)
            writer.field("customer", grant.customer.text)
            writer.field("entitlement", grant.entitlement)
            writer.field("start", grant.start.rfc3339)
            writer.field("end", grant.end?.rfc3339)
            writer.field("why", grant.why)
            writer.field("by", grant.by)
            writer.field("grantedAt", grantedAt.rfc3339)
            guard let revocation else {
                writer.field("revoked", String?.none)
                return
            }
            writer.field(
                "revoked",
                object: { writer in
                    writer.field("at", revocation.date.rfc3339)
                    writer.field("why", revocation.why)
                    writer.field("by", revocation.by)
                }
            )
        }
    }
}
