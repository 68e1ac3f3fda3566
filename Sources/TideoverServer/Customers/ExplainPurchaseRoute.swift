import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/explain`: explains the entitlements of a purchase's owner at the
/// instant of the question. The purchase is found as `lookup` finds it.
struct ExplainPurchaseRoute: Sendable {
    let lookup: LookupRoute

    func respond(to request: Request) async throws -> Response {
        let app = lookup.context.app
        let environment = try request.queryValue("environment").map { _ in
            try app.environment(askedIn: request)
        }
        let found = try await lookup.search(request).found.filter {
            environment == nil || $0.lineage.environment == environment
        }
        guard !found.isEmpty else { throw Problem.purchaseNotFound }
        let times = Times(
            at: try request.instant("at"),
            asKnownAt: try request.instant("asKnownAt"),
            now: lookup.context.clock()
        )
        let held = found.compactMap { lineageRecord in
            lineageRecord.owner(at: times).map { (lineageRecord.lineage, $0) }
        }
        guard let (lineage, holder) = held.first else { throw Problem.purchaseUnclaimed }
        guard Set(held.map(\.1)).count == 1 else { throw Problem.severalHolders(held.map(\.1)) }
        var question = request
        question.query = request.query.filter { ["at", "asKnownAt"].contains($0.name) }
        question.query.append(
            QueryItem(name: "environment", value: lineage.environment.rawValue)
        )
        return try await ExplainRoute(context: lookup.context)
            .respond(to: question, customer: holder.text)
    }
}

/// The instants of a question about a purchase.
private struct Times {
    let at: Instant?
    let asKnownAt: Instant?
    let now: Instant
}

extension LineageRecord {
    /// Returns the owner at the instant asked about, as known then; the present owner if it had
    /// none yet.
    fileprivate func owner(at times: Times) -> CustomerID? {
        let record = CustomerRecord.LineageRecord(lineage: lineage, facts: facts, owners: owners)
        let known = times.asKnownAt.map { record.asKnown(at: $0)?.owners ?? [] } ?? owners
        return known.owner(at: times.at ?? times.asKnownAt ?? times.now)
            ?? owners.owner(at: times.now)
    }
}

extension Problem {
    fileprivate static let purchaseNotFound = Problem(
        "purchase-not-found",
        detail: "Check the number. A purchase is known once its store or a device has "
            + "reported it."
    )

    fileprivate static let purchaseUnclaimed = Problem(
        "purchase-unclaimed",
        detail: "Send the same parameter to `lookup`, which states how to claim the purchase."
    )

    fileprivate static func severalHolders(_ holders: [CustomerID]) -> Problem {
        let ids = Set(holders.map(\.text)).sorted()
        return Problem(
            "several-holders",
            detail: "Ask about one of `customers`, or name an `environment`.",
            members: ["customers": .array(ids.map { .string($0) })]
        )
    }
}
