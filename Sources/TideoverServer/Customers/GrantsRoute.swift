import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// Answers `GET` and `POST /v1/apps/{app}/customers/{customer}/grants`, and the revocation of a
/// grant.
///
/// A grant is a fact with its own evidence, and is committed like any other fact.
struct GrantsRoute: Sendable {
    let context: AppContext
    /// The name of the request's key.
    let presenter: String

    private var app: App { context.app }

    /// The maximum number of grants of a customer, including ended ones.
    static let most = 100

    private static let headers: Headers = ["Cache-Control": "private, no-store"]

    func list(_ request: Request, customer: String) async throws -> Response {
        let key = try customerKey(request, customer)
        let known = try await onPool { try lineages(of: key, at: context.clock()) }
        return respond(key, known, known.grants, status: 200)
    }

    func give(_ request: Request, customer: String) async throws -> Response {
        let key = try customerKey(request, customer)
        let now = context.clock()
        let createRequest = try CreateGrantRequest(request.body, app.catalogue)
        let name = try IdempotencyKey.read(request)
        let id = name.map { grantID(of: $0, key) } ?? newID()
        let known = try await onPool { try lineages(of: key, at: now) }
        if let repeated = try repeated(createRequest, id, among: known.grants) {
            return respond(key, known, repeated, beside: repeated, status: 200)
        }
        try createRequest.requireEnd(after: now)
        guard known.grants.count + createRequest.entitlements.count <= Self.most else {
            throw Problem.tooManyGrants
        }
        try await commit(record(of: createRequest, id, key, at: now), "grant:\(id)", key, at: now)
        // A concurrent request with the same key may have been first.
        let after = try await onPool { try lineages(of: key, at: now) }
        guard let mine = try repeated(createRequest, id, among: after.grants) else {
            throw Problem.idempotencyKeyReused
        }
        return respond(key, after, mine, beside: mine, status: 201)
    }

    func revoke(_ request: Request, customer: String, grant id: String) async throws -> Response {
        let key = try customerKey(request, customer)
        let now = context.clock()
        let why = try CreateGrantRequest.why(
            try CreateGrantRequest.object(request.body, known: ["why"])
        )
        let known = try await onPool { try lineages(of: key, at: now) }
        guard let found = known.grants.first(where: { $0.grant.id == id }) else {
            throw Problem.unknownGrant
        }
        if found.revocation != nil { return respond(key, known, [found], status: 200) }
        if let end = found.grant.end, end <= now { throw Problem.grantEnded }
        let word = Revocation(
            term: found.grant.key,
            date: now,
            cause: .withdrawn,
            why: why,
            by: presenter
        )
        let record = OperatorRecord([(found.lineage, .revocation(word))], at: now)
        try await commit(record, "grant-revocation:\(id)", key, at: now)
        let after = try await onPool { try lineages(of: key, at: now) }
        let revoked = after.grants.filter { $0.grant.id == id }
        return respond(key, after, revoked, status: 200)
    }

    // MARK: Reading

    private func customerKey(_ request: Request, _ customer: String) throws -> CustomerKey {
        let customer = try CustomerID.storable(customer)
        return CustomerKey(
            app: app.id,
            environment: try app.environment(askedIn: request),
            customer: customer
        )
    }

    private func lineages(of key: CustomerKey, at now: Instant) throws -> CustomerLineages {
        try context.storage.knownLineages(of: key, now: now)
    }

    /// Returns the grants of an id if it was used before; throws if it was used for a different
    /// request.
    private func repeated(
        _ createRequest: CreateGrantRequest,
        _ id: String,
        among known: [GivenGrant]
    ) throws(Problem) -> [GivenGrant]? {
        let found = known.filter { $0.grant.id == id || $0.grant.id.hasPrefix("\(id)-") }
        guard !found.isEmpty else { return nil }
        let isSame =
            Set(found.map(\.grant.entitlement)) == Set(createRequest.entitlements)
            && found.allSatisfy { given in
                given.grant.why == createRequest.why
                    && given.grant.end == createRequest.length.end(from: given.grant.start)
            }
        guard isSame else { throw .idempotencyKeyReused }
        return found
    }

    // MARK: Creation

    private func grantID(of name: IdempotencyKey, _ key: CustomerKey) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for part in [key.app, key.environment.rawValue, key.customer.text, name.text] {
                writer.value(part)
            }
        }
        return Hexadecimal.text(SHA256.hash(writer.bytes).prefix(12))
    }

    private func newID() -> String {
        Hexadecimal.text(randomBytes(12, context.random))
    }

    private func record(
        of createRequest: CreateGrantRequest,
        _ id: String,
        _ key: CustomerKey,
        at now: Instant
    ) -> OperatorRecord {
        let several = createRequest.entitlements.count > 1
        let said = createRequest.entitlements.enumerated().map { index, entitlement in
            let id = several ? "\(id)-\(index + 1)" : id
            let grant = TideoverCore.Grant(
                id: id,
                customer: key.customer,
                entitlement: entitlement,
                start: now,
                end: createRequest.length.end(from: now),
                why: createRequest.why,
                by: presenter
            )
            let lineage = Lineage(store: .tideover, environment: key.environment, id: id)
            return (lineage, Assertion.grant(grant))
        }
        return OperatorRecord(said, at: now)
    }

    private func commit(
        _ record: OperatorRecord,
        _ name: String,
        _ key: CustomerKey,
        at now: Instant
    ) async throws {
        let commitRequest = CommitRequest(
            app: app.id,
            environment: key.environment,
            evidence: record.evidence(dedupeKey: name),
            facts: record.facts,
            customers: [key],
            transfer: app.policy.transfer,
            now: now
        )
        _ = try await context.commit(commitRequest)
    }

    // MARK: Response

    private func respond(
        _ key: CustomerKey,
        _ known: CustomerLineages,
        _ grants: [GivenGrant],
        beside own: [GivenGrant] = [],
        status: Int
    ) -> Response {
        .json(status: status, headers: Self.headers) { writer in
            writer.field("app", key.app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            writer.field("customerKnown", known.isKnown(beside: own))
            writer.field("grants", each: grants) { $0.write(to: &$1) }
        }
    }
}

extension CustomerLineages {
    /// The customer's grants, oldest first.
    fileprivate var grants: [GivenGrant] {
        lineageRecords.compactMap(GivenGrant.init).sorted {
            ($0.grantedAt, $0.grant.id) < ($1.grantedAt, $1.grant.id)
        }
    }

    /// Returns whether anything except these grants is stored about the customer; an unknown id may
    /// be a typing error.
    fileprivate func isKnown(beside grants: [GivenGrant]) -> Bool {
        let own = Set(grants.map(\.lineage))
        return lineageRecords.contains { !own.contains($0.lineage) } || leftOut != nil
            || reconciledAt != nil || !identity.aliases.isEmpty
    }
}
