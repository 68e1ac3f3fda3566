import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// Answers `GET /v1/apps/{app}/customers/{customer}`.
///
/// The usual answer is one point read of a derived row, without suspending. A row is derived again
/// in a commit if it has expired, was derived under another catalogue, or is dated ahead of our
/// clock. The same applies if its pass is to be returned and past half of its life: this route
/// never signs.
struct SnapshotRoute: Sendable {
    let context: AppContext
    /// Nil if all reads are from the storage.
    var replica: ReplicaReading?

    private var app: App { context.app }

    func respond(to request: Request, customer: String) async throws -> Response {
        let customer = try CustomerID.storable(customer)
        let key = CustomerKey(
            app: app.id,
            environment: try app.environment(askedIn: request),
            customer: customer
        )
        let now = context.clock()
        let choice = app.languages.choice(for: request)
        guard let store = try request.askedStore(), app.stores != [store] else {
            // A client that already has the answer receives no pass.
            let answer = try await answered(key, now, isRepeated: request.isConditional) { tag in
                request.holds(.weak(tag + (choice?.suffix ?? "")))
            }
            return respond(to: request, key, answer, choice, now)
        }
        let usual = try await answered(key, now, isRepeated: request.isConditional) { _ in false }
        return respond(to: request, key, try await offering(store, usual, now), choice, now)
    }

    /// Returns the same answer with the offers of one store. Only the usual answer is stored, so
    /// the tag of this one is a digest of its bytes. Where the app is sold in that store alone, the
    /// usual answer has these offers already.
    private func offering(_ store: Store, _ answer: Answer, _ now: Instant) async throws -> Answer {
        let key = CustomerKey(
            app: app.id,
            environment: answer.environment,
            customer: answer.customer
        )
        var answer = answer
        answer.bytes = try await onPool {
            let lineages = try context.storage.knownLineages(of: key, now: now)
            return Projector(app: app, issuesPasses: false).answer(for: lineages, in: store)
        }
        answer.digest = Hexadecimal.text(SHA256.hash(answer.bytes).prefix(8))
        return answer
    }

    /// Returns the response body in a language, without comparing a tag.
    func body(
        of key: CustomerKey,
        in choice: AnswerLanguages.Choice?,
        at now: Instant,
        in store: Store? = nil
    ) async throws -> [UInt8] {
        var answer = try await answered(key, now, isRepeated: false) { _ in false }
        if let store, app.stores != [store] { answer = try await offering(store, answer, now) }
        return Self.body(key, answer, now, choice)
    }

    /// Returns the answer of the requested environment, or of the sandbox if policy lets it answer
    /// for production. `isRepeated` is whether the client has an earlier answer, and `isHeld`
    /// returns whether it has the answer of a tag.
    private func answered(
        _ key: CustomerKey,
        _ now: Instant,
        isRepeated: Bool,
        isHeld: (String) -> Bool
    ) async throws -> Answer {
        let own = try await answer(for: key, now, isRepeated: isRepeated) {
            isHeld(tag(of: $0.version, $0.answer, key, key))
        }
        let ids = [key.customer, own.customer]
        guard let sandboxKey = app.sandboxKey(for: key, ids),
            try context.storage.row(of: sandboxKey) != nil
        else { return own }
        let sandbox = try await answer(for: sandboxKey, now, isRepeated: isRepeated) {
            isHeld(tag(of: $0.version, $0.answer, sandboxKey, key))
        }
        let ruling = SandboxRuling(
            app.policy,
            for: ids,
            production: AnswerGist(own.bytes),
            sandbox: AnswerGist(sandbox.bytes)
        )
        guard ruling.sandboxAnswers else { return own }
        context.metrics.count(.sandboxAnswers, app.id, ruling.rawValue)
        return sandbox
    }

    /// Returns the current answer; `isHeld` returns whether the client has the answer of a row.
    private func answer(
        for key: CustomerKey,
        _ now: Instant,
        isRepeated: Bool,
        isHeld: (CustomerRow) -> Bool
    ) async throws -> Answer {
        if let answer = replicaAnswer(for: key, now, isRepeated, isHeld) { return answer }
        guard let row = try context.storage.row(of: key) else {
            return Answer(
                environment: key.environment,
                customer: key.customer,
                version: 0,
                bytes: unknownAnswer(key, now)
            )
        }
        return isCurrent(row, now, isHeld) ? answer(row) : try await derivedAgain(row, now)
    }

    private func isCurrent(
        _ row: CustomerRow,
        _ now: Instant,
        _ isHeld: (CustomerRow) -> Bool
    ) -> Bool {
        let isDue = row.validUntil.map { $0 <= now } ?? false
        // A clock was ahead: what ended then may not have ended now.
        let isAhead = row.derivedAt > now + .clockTolerance
        let needsPass = app.passes.map { !$0.isFresh(row.pass, at: now) } ?? false
        let isOfNow = !isDue && !isAhead && row.fingerprint == app.fingerprint
        return isOfNow && (!needsPass || isHeld(row))
    }

    /// Returns the answer of the replica; nil if the storage must be read.
    ///
    /// That is so for a customer that the replica lacks, and if the client has another answer: the
    /// client's may be the newer one.
    private func replicaAnswer(
        for key: CustomerKey,
        _ now: Instant,
        _ isRepeated: Bool,
        _ isHeld: (CustomerRow) -> Bool
    ) -> Answer? {
        guard let replica else { return nil }
        guard let found = replica(key), let row = found.row,
            isCurrent(row, now, isHeld), !isRepeated || isHeld(row)
        else {
            context.metrics.count(.replicaReads, "database")
            return nil
        }
        context.metrics.count(.replicaReads, "replica")
        var answer = answer(row)
        answer.asKnownAt = now - found.staleness
        return answer
    }

    /// An answer, and whether it is stored; a client may keep only a stored one.
    private struct Answer {
        var environment: Environment
        /// The primary id of the requested customer, which may be an alias.
        var customer: CustomerID
        var version: Int64
        var bytes: [UInt8]
        /// The signed pass of the answer; empty for none.
        var pass: [UInt8] = []
        var isStored = true
        /// When everything stored was known to the replica that answered; nil for the storage.
        var asKnownAt: Instant?
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

    /// Derives the current answer. If the storage cannot write, the answer is computed without
    /// storing it: a full disk must not lock customers out.
    private func derivedAgain(_ row: CustomerRow, _ now: Instant) async throws -> Answer {
        do {
            return answer(try await commit(row, now))
        } catch let error as StorageError {
            guard let lineages = try context.storage.lineages(of: row.key, now: now) else {
                throw error
            }
            var answer = answer(row)
            answer.bytes = Projector(app: app, issuesPasses: false).derive(lineages).answer
            // A pass is valid only for the answer it was issued with.
            if answer.bytes != row.answer { answer.pass = [] }
            answer.isStored = false
            return answer
        }
    }

    private func commit(_ row: CustomerRow, _ now: Instant) async throws -> CustomerRow {
        let commitRequest = CommitRequest(
            app: app.id,
            environment: row.key.environment,
            customers: [row.key],
            now: now
        )
        let outcome = try await context.commit(commitRequest)
        guard case .committed(_, let rows, _) = outcome,
            let fresh = rows.first(where: { $0.key == row.key })
        else { return row }
        return fresh
    }

    private func unknownAnswer(_ key: CustomerKey, _ now: Instant) -> [UInt8] {
        let nobody = CustomerLineages(key: key, answer: nil, lineageRecords: [], now: now)
        return Projector(app: app, issuesPasses: false).derive(nobody).answer
    }

    /// Returns the text of the tag, which covers entitlements and prompt, not the pass. The versions
    /// of two environments are unrelated, so it names the environment if another one answers. A
    /// version repeats after an erasure and after the restore of a backup, so it contains a digest
    /// of the answer.
    private func tag(
        of version: Int64,
        _ answer: [UInt8],
        _ found: CustomerKey,
        _ asked: CustomerKey,
        digest: String? = nil
    ) -> String {
        let origin = found.environment == asked.environment ? "" : "\(found.environment.rawValue)-"
        let content = digest ?? String(StableDigest.number(of: answer), radix: 16)
        return "\(origin)\(version)-\(app.fingerprint)-\(content)"
    }

    private func respond(
        to request: Request,
        _ key: CustomerKey,
        _ answer: Answer,
        _ choice: AnswerLanguages.Choice?,
        _ now: Instant
    ) -> Response {
        let found = CustomerKey(
            app: key.app,
            environment: answer.environment,
            customer: answer.customer
        )
        let tag = ETag.weak(
            tag(of: answer.version, answer.bytes, found, key, digest: answer.digest)
                + (choice?.suffix ?? "")
        )
        // The tag does not cover the pass: an HTTP cache that asks with the tag by itself would keep
        // returning the pass of the body that it has.
        var headers: Headers = ["Cache-Control": "private, no-store", "Vary": "Accept-Language"]
        guard !answer.isStored || !request.holds(tag) else {
            return .notModified(tag, headers: headers)
        }
        if answer.isStored { headers["ETag"] = tag.description }
        if let choice { headers["Content-Language"] = choice.language.tag }
        return .json(bytes: Self.body(key, answer, now, choice), headers: headers)
    }

    private static func body(
        _ key: CustomerKey,
        _ answer: Answer,
        _ now: Instant,
        _ choice: AnswerLanguages.Choice?
    ) -> [UInt8] {
        let bytes = choice?.translate(answer: answer.bytes) ?? answer.bytes
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("app", key.app)
            writer.field("customer", answer.customer.text)
            writer.field("environment", answer.environment.rawValue)
            writer.field("asOf", now.rfc3339)
            if let instant = answer.asKnownAt { writer.field("asKnownAt", instant.rfc3339) }
            writer.field("customerVersion", answer.version)
        }
        // The stored answer is an object of its own; its members follow these.
        var body = writer.bytes
        body.reserveCapacity(body.count + bytes.count + answer.pass.count + 16)
        body[body.count - 1] = UInt8(ascii: ",")
        body += bytes.dropFirst()
        if !answer.pass.isEmpty {
            // A pass contains only base64url and dots, which need no escaping in JSON.
            body.removeLast()
            body += #","pass":""#.utf8
            body += answer.pass
            body += #""}"#.utf8
        }
        return body
    }
}

extension Request {
    /// Whether the client states what it already has.
    fileprivate var isConditional: Bool { headers["If-None-Match"] != nil }

    /// Returns the store that `?store=` names; nil without it.
    ///
    /// - Throws: `unknown-store`.
    func askedStore() throws(Problem) -> Store? {
        guard let text = queryValue("store") else { return nil }
        guard let store = Store.selling.first(where: { $0.rawValue == text }) else {
            throw .unknownStore(text)
        }
        return store
    }
}

extension App {
    /// Returns the environment that a request selects; the default is production.
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
