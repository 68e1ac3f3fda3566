import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// Answers `GET /v1/apps/{app}/customers/{customer}`.
///
/// The usual answer is one point read of a derived row and suspends nowhere. A row past its time or
/// derived under another catalogue goes through the one door first, and so does one whose pass is to be
/// handed out and past half of its life: nothing is ever signed here.
struct SnapshotRoute: Sendable {
    let app: App
    let storage: any Storage
    let clock: Clock
    let metrics: Metrics

    func respond(to request: Request, customer: String) async throws -> Response {
        guard let customer = CustomerID(customer) else { throw Problem.badCustomer }
        let key = CustomerKey(
            app: app.id,
            environment: try app.environment(askedIn: request),
            customer: customer
        )
        let now = clock()
        guard let store = try request.deviceStore() else {
            // Who holds the answer already is given no pass with it.
            let answer = try await answered(key, now) { request.holds($0) }
            return respond(to: request, key, answer, now)
        }
        let usual = try await answered(key, now) { _ in false }
        return respond(to: request, key, try await offering(store, usual, now), now)
    }

    /// The same answer with the offers of one store. Only the usual one is stored, so the tag of this
    /// one is made from its bytes.
    private func offering(_ store: Store, _ answer: Answer, _ now: Instant) async throws -> Answer {
        let key = CustomerKey(
            app: app.id,
            environment: answer.environment,
            customer: answer.customer
        )
        var answer = answer
        answer.bytes = try await onPool {
            let lineages = try storage.knownLineages(of: key, now: now)
            return Deriver(app: app, issuesPasses: false).answer(for: lineages, in: store)
        }
        answer.digest = Hexadecimal.text(SHA256.hash(answer.bytes).prefix(8))
        return answer
    }

    /// What is answered without a tag to compare: the body alone.
    func body(
        of key: CustomerKey,
        at now: Instant,
        in store: Store? = nil
    ) async throws -> [UInt8] {
        var answer = try await answered(key, now) { _ in false }
        if let store { answer = try await offering(store, answer, now) }
        return Self.body(key, answer, now)
    }

    /// The answer of the environment asked about, or of the sandbox where policy lets it answer for
    /// production. `isHeld` tells of an answer's tag whether the client has it.
    private func answered(
        _ key: CustomerKey,
        _ now: Instant,
        isHeld: (ETag) -> Bool
    ) async throws -> Answer {
        let own = try await answer(for: key, now) { isHeld(tag(of: $0, key, key)) }
        let ids = [key.customer, own.customer]
        guard let sandboxKey = app.sandboxKey(for: key, ids),
            try storage.row(of: sandboxKey) != nil
        else { return own }
        let sandbox = try await answer(for: sandboxKey, now) {
            isHeld(tag(of: $0, sandboxKey, key))
        }
        let ruling = SandboxRuling(
            app.policy,
            for: ids,
            production: AnswerGist(own.bytes),
            sandbox: AnswerGist(sandbox.bytes)
        )
        guard ruling.sandboxAnswers else { return own }
        metrics.count(.sandboxAnswers, app.id, ruling.rawValue)
        return sandbox
    }

    /// `isHeld` tells of a version of the answer whether the client has it.
    private func answer(
        for key: CustomerKey,
        _ now: Instant,
        isHeld: (Int64) -> Bool
    ) async throws -> Answer {
        guard let row = try storage.row(of: key) else {
            return Answer(
                environment: key.environment,
                customer: key.customer,
                version: 0,
                bytes: unknownAnswer(key, now)
            )
        }
        let isDue = row.validUntil.map { $0 <= now } ?? false
        let needsPass = app.passes.map { !$0.isFresh(row.pass, at: now) } ?? false
        guard isDue || row.fingerprint != app.fingerprint || needsPass && !isHeld(row.version)
        else {
            return answer(row)
        }
        return try await derivedAgain(row, now)
    }

    /// What is answered, and whether it is stored: only then may a client keep it by its tag.
    private struct Answer {
        var environment: Environment
        /// The id that the one asked about stands for, where it is an alias.
        var customer: CustomerID
        var version: Int64
        var bytes: [UInt8]
        /// The signed pass that goes with it; empty for none.
        var pass: [UInt8] = []
        var isStored = true
        /// Distinguishes the answer for one store in its tag; nil for the usual answer.
        var digest: String?
    }

    private func answer(_ row: CustomerRow) -> Answer {
        let pass = row.pass.flatMap { app.passes?.counts($0) == true ? $0.compact : nil }
        return Answer(
            environment: row.key.environment,
            customer: row.key.customer,
            version: row.version,
            bytes: row.answer,
            pass: pass ?? []
        )
    }

    /// The answer as of now. While nothing can be written it is worked out from what is stored: a
    /// full disk must not lock anybody out.
    private func derivedAgain(_ row: CustomerRow, _ now: Instant) async throws -> Answer {
        do {
            return answer(try await commit(row, now))
        } catch let error as StorageError {
            guard let lineages = try storage.lineages(of: row.key, now: now) else { throw error }
            var answer = answer(row)
            answer.bytes = Deriver(app: app, issuesPasses: false).derive(lineages).answer
            // A pass speaks for the answer it was issued with, and for no other.
            if answer.bytes != row.answer { answer.pass = [] }
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
        return Deriver(app: app, issuesPasses: false).derive(nobody).answer
    }

    /// The tag covers entitlements and prompt, not the pass. Versions of two environments have nothing
    /// to do with each other: where one answers for the other, the tag says so.
    private func tag(
        of version: Int64,
        _ found: CustomerKey,
        _ asked: CustomerKey,
        digest: String? = nil
    ) -> ETag {
        let origin = found.environment == asked.environment ? "" : "\(found.environment.rawValue)-"
        let offers = digest.map { "-\($0)" } ?? ""
        return .weak("\(origin)\(version)-\(app.fingerprint)\(offers)")
    }

    private func respond(
        to request: Request,
        _ key: CustomerKey,
        _ answer: Answer,
        _ now: Instant
    ) -> Response {
        let found = CustomerKey(
            app: key.app,
            environment: answer.environment,
            customer: answer.customer
        )
        let tag = tag(of: answer.version, found, key, digest: answer.digest)
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
            writer.field("customer", answer.customer.text)
            writer.field("environment", answer.environment.rawValue)
            writer.field("asOf", now.rfc3339)
            writer.field("customerVersion", answer.version)
        }
        // The stored answer is an object of its own; its members are set behind ours.
        var body = writer.bytes.dropLast() + [UInt8(ascii: ",")] + answer.bytes.dropFirst()
        if !answer.pass.isEmpty {
            // Of base64url and dots, which JSON writes as they are.
            body.removeLast()
            body += Array(#","pass":""#.utf8) + answer.pass + Array(#""}"#.utf8)
        }
        return Array(body)
    }
}

extension Request {
    /// The store of the device that a request is for; nil if it does not say.
    func deviceStore() throws(Problem) -> Store? {
        guard let text = queryValue("store") else { return nil }
        let stores: [Store] = [.appStore, .googlePlay]
        guard let store = stores.first(where: { $0.rawValue == text }) else {
            throw .unknownStore(text)
        }
        return store
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
