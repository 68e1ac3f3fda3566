import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverStorage

/// Answers `GET /v1/apps/{app}/customers/{customer}`.
///
/// The usual answer is one point read of a derived row and suspends nowhere. A row past its time or
/// derived under another catalogue goes through the one door first.
struct SnapshotRoute: Sendable {
    let app: App
    let storage: any Storage
    let clock: Clock

    func respond(to request: Request, customer: String) async throws -> Response {
        guard let customer = CustomerID(customer) else { throw Problem.badCustomer }
        let key = CustomerKey(
            app: app.id,
            environment: try app.environment(askedIn: request),
            customer: customer
        )
        let now = clock()
        guard let row = try storage.row(of: key) else {
            return respond(to: request, key: key, version: 0, answer: unknownAnswer(key, now), now)
        }
        let fresh = try await upToDate(row, now)
        return respond(to: request, key: key, version: fresh.version, answer: fresh.answer, now)
    }

    private func upToDate(_ row: CustomerRow, _ now: Instant) async throws -> CustomerRow {
        let isDue = row.validUntil.map { $0 <= now } ?? false
        guard isDue || row.fingerprint != app.fingerprint else { return row }
        let intake = Intake(
            app: app.id,
            environment: row.key.environment,
            customers: [row.key],
            now: now
        )
        let outcome = try await storage.commit(intake, derive: Deriver(app: app).derive)
        guard case .committed(_, let rows) = outcome,
            let fresh = rows.first(where: { $0.key == row.key })
        else { return row }
        return fresh
    }

    private func unknownAnswer(_ key: CustomerKey, _ now: Instant) -> [UInt8] {
        let nobody = CustomerLineages(key: key, answer: nil, holdings: [], now: now)
        return Deriver(app: app).derive(nobody).answer
    }

    private func respond(
        to request: Request,
        key: CustomerKey,
        version: Int64,
        answer: [UInt8],
        _ now: Instant
    ) -> Response {
        let tag = ETag.weak("\(version)-\(app.fingerprint)")
        guard !request.holds(tag) else { return .notModified(tag) }
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("app", key.app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            writer.field("asOf", now.rfc3339)
            writer.field("customerVersion", version)
        }
        // The stored answer is an object of its own; its members are set behind ours.
        let body = writer.bytes.dropLast() + [UInt8(ascii: ",")] + answer.dropFirst()
        return .json(
            bytes: Array(body),
            headers: ["ETag": tag.description, "Cache-Control": "private, no-cache"]
        )
    }
}

extension App {
    /// The environment a request asks about: production unless it says otherwise.
    func environment(askedIn request: Request) throws -> Environment {
        let asked = request.queryValue("environment") ?? Environment.production.rawValue
        guard let environment = Environment(rawValue: asked) else {
            throw Problem.unknownEnvironment(asked)
        }
        guard environments.contains(environment) else {
            throw Problem.environmentNotServed(environment, app: self)
        }
        return environment
    }
}
