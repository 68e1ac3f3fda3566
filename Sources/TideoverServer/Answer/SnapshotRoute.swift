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
        return respond(to: request, key, try await answer(for: key, now), now)
    }

    /// What is answered without a tag to compare: the body alone.
    func body(of key: CustomerKey, at now: Instant) async throws -> [UInt8] {
        Self.body(key, try await answer(for: key, now), now)
    }

    private func answer(for key: CustomerKey, _ now: Instant) async throws -> Answer {
        guard let row = try storage.row(of: key) else {
            return Answer(version: 0, bytes: unknownAnswer(key, now))
        }
        let isDue = row.validUntil.map { $0 <= now } ?? false
        guard isDue || row.fingerprint != app.fingerprint else { return Answer(row) }
        return try await derivedAgain(row, now)
    }

    /// What is answered, and whether it is stored: only then may a client keep it by its tag.
    private struct Answer {
        var version: Int64
        var bytes: [UInt8]
        var isStored = true

        init(version: Int64, bytes: [UInt8]) {
            self.version = version
            self.bytes = bytes
        }

        init(_ row: CustomerRow) {
            self.init(version: row.version, bytes: row.answer)
        }
    }

    /// The answer as of now. While nothing can be written it is worked out from what is stored: a
    /// full disk must not lock anybody out.
    private func derivedAgain(_ row: CustomerRow, _ now: Instant) async throws -> Answer {
        do {
            return Answer(try await commit(row, now))
        } catch let error as StorageError {
            guard let lineages = try storage.lineages(of: row.key, now: now) else { throw error }
            var answer = Answer(row)
            answer.bytes = Deriver(app: app).derive(lineages).answer
            answer.isStored = false
            return answer
        }
    }

    private func commit(_ row: CustomerRow, _ now: Instant) async throws -> CustomerRow {
        let intake = Intake(
            app: app.id,
            environment: row.key.environment,
            customers: [row.key],
            now: now
        )
        let outcome = try await storage.commit(intake, derive: Deriver(app: app).derive)
        guard case .committed(_, let rows, _) = outcome,
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
        _ key: CustomerKey,
        _ answer: Answer,
        _ now: Instant
    ) -> Response {
        let tag = ETag.weak("\(answer.version)-\(app.fingerprint)")
        guard !answer.isStored || !request.holds(tag) else { return .notModified(tag) }
        let headers: Headers =
            answer.isStored
            ? ["ETag": tag.description, "Cache-Control": "private, no-cache"]
            : ["Cache-Control": "private, no-store"]
        return .json(bytes: Self.body(key, answer, now), headers: headers)
    }

    private static func body(_ key: CustomerKey, _ answer: Answer, _ now: Instant) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("app", key.app)
            writer.field("customer", key.customer.text)
            writer.field("environment", key.environment.rawValue)
            writer.field("asOf", now.rfc3339)
            writer.field("customerVersion", answer.version)
        }
        // The stored answer is an object of its own; its members are set behind ours.
        return writer.bytes.dropLast() + [UInt8(ascii: ",")] + answer.bytes.dropFirst()
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
