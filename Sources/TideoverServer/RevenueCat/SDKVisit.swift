import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverSignatures
import TideoverStorage

/// One request of an SDK, with the app and the store of its key.
struct SDKVisit: Sendable {
    let service: Service
    let call: Call
    let context: AppContext
    let sdk: RevenueCatSDK
    let store: Store
    /// Whether the caller has a secret or a viewer key instead of an SDK key, and reads attributes.
    var isBackEnd = false

    var app: App { context.app }
    var now: Instant { context.clock() }
    var request: Request { call.request }
    private var response: SDKResponse { SDKResponse(at: now) }

    /// Returns a response, signed if the app has a key for it.
    func signed(_ respond: (SDKVisit) async throws -> Response) async throws -> Response {
        let response = try await respond(self)
        return app.sdkSigner?.signed(response, to: request, at: now, random: context.random)
            ?? response
    }

    // MARK: Customer info

    func customerInfo() async throws -> Response {
        // A back end reads whatever is stored.
        let user = try SDKUserID(call["id"], mayBeReserved: isBackEnd)
        let answer = try await answer(about: user)
        let response = SDKResponse(at: answer.now)
        guard let tag = answer.tag else { return response.json(answer.write) }
        return response.tagged(request, tag: tag, answer.write)
    }

    /// A customer info at one instant.
    struct Answer: Sendable {
        let info: SDKCustomerInfo
        let now: Instant

        /// The tag; nil for an unknown customer.
        var tag: String? {
            info.tagged.map { Hexadecimal.text(SHA256.hash($0).prefix(8)) }
        }

        func write(to writer: inout JSONWriter) {
            info.writeMembers(to: &writer, requestDate: now)
        }
    }

    /// Reads the customer info, off the threads that read sockets. No store is asked.
    func answer(about user: SDKUserID) async throws -> Answer {
        try await onPool { try read(user.customer) }
    }

    /// Returns the answer of production, or of the sandbox if policy lets it answer.
    private func read(_ customer: CustomerID) throws -> Answer {
        let key = key(of: customer, in: app.usualEnvironment)
        let own = try Reading(key, self)
        let ids = [customer, own.record.identity.primary]
        guard let sandboxKey = app.sandboxKey(for: key, ids) else { return own.answer }
        let sandbox = try Reading(sandboxKey, self)
        let ruling = SandboxRuling(
            app.policy,
            for: ids,
            production: AnswerGist(own.snapshot),
            sandbox: AnswerGist(sandbox.snapshot)
        )
        guard ruling.sandboxAnswers else { return own.answer }
        context.metrics.count(.sandboxAnswers, app.id, ruling.rawValue)
        return sandbox.answer
    }

    struct Reading {
        let record: CustomerRecord
        let history: CustomerHistory
        let origin: SDKCustomerInfo.Origin?
        let attributes: SDKAttributes?
        let now: Instant

        init(_ key: CustomerKey, _ visit: SDKVisit) throws {
            let now = visit.now
            let projector = Projector(app: visit.app, issuesPasses: false)
            let storage = visit.context.storage
            record = projector.record(of: try storage.knownLineages(of: key, now: now))
            history = record.history
            let origins = visit.origins(in: key.environment)
            origin = try origins.origin(of: record.identity.all)
            attributes =
                visit.isBackEnd ? try visit.app.attributes(of: record.identity, in: storage) : nil
            self.now = projector.instant(of: record, now: now)
        }

        var snapshot: Snapshot { history.snapshot(at: now) }

        var answer: Answer {
            var info = SDKProjection(record, history, at: now).customerInfo
            info.origin = origin
            info.attributes = attributes
            return Answer(info: info, now: now)
        }
    }

    func key(of customer: CustomerID, in environment: Environment) -> CustomerKey {
        CustomerKey(app: app.id, environment: environment, customer: customer)
    }

    // MARK: Products

    func offerings() -> Response {
        response.json { sdk.offered.writeMembers(to: &$0, in: store, of: app.catalogue) }
    }

    func mapping() -> Response {
        response.json(SDKCatalogue(app.catalogue, in: store).writeMapping)
    }

    /// Answers with the address of the app's support: a customer center without screens of its own.
    func customerCenter() throws -> Response {
        _ = try SDKUserID(call["id"])
        guard let email = sdk.supportEmail else {
            throw SDKError.notOffered("No customer center is offered.")
        }
        let tag = Hexadecimal.text(SHA256.hash("customer center \(email)".utf8).prefix(8))
        return response.tagged(request, tag: tag) {
            SDKCustomerCenter(supportEmail: email).writeMembers(to: &$0)
        }
    }

    // MARK: Identity

    /// Answers a log-in: the customer info of the new id. An anonymous customer's purchases become
    /// the new customer's.
    func identify() async throws -> Response {
        let identification = try SDKIdentification(request.body)
        let isKnown = try await isKnown(identification.new.customer)
        _ = try await merge(identification.former, into: identification.new)
        let answer = try await answer(about: identification.new)
        return SDKResponse(at: answer.now).json(status: isKnown ? 200 : 201, answer.write)
    }

    func alias() async throws -> Response {
        let former = try SDKUserID(call["id"])
        guard try await merge(former, into: try SDKAlias(request.body).new) else {
            throw SDKError.aliasRefused
        }
        return response.json { _ in }
    }

    private func isKnown(_ customer: CustomerID) async throws -> Bool {
        try await onPool {
            try app.environments.contains {
                try context.storage.row(of: key(of: customer, in: $0)) != nil
            }
        }
    }

    private func hasPurchases(_ customer: CustomerID) async throws -> Bool {
        let now = now
        return try await onPool {
            try app.environments.contains {
                let key = key(of: customer, in: $0)
                return try !context.storage.knownLineages(of: key, now: now).lineageRecords.isEmpty
            }
        }
    }

    /// Joins an anonymous id with another customer, if it or the account that the SDK names for it
    /// on Google Play has or had purchases. Ids that cannot be joined stay two customers: the
    /// purchases of ids that the SDK made up become the other customer's, and after a switch of
    /// accounts nothing does. Returns false if purchases stay with another customer.
    ///
    /// An id without purchases is not joined, because anybody can make one up. On Google Play the
    /// log-in is remembered for a purchase that arrives later.
    private func merge(_ former: SDKUserID, into new: SDKUserID) async throws -> Bool {
        guard former != new else { return true }
        guard former.isAnonymous else { return false }
        guard new.customer.isStorable else { throw SDKError.invalidUserID }
        var accounts: [CustomerID] = []
        for account in former.customer.sdkAccounts where try await hasPurchases(account) {
            accounts.append(account)
        }
        let hasOwn = try await hasPurchases(former.customer)
        guard hasOwn || !accounts.isEmpty else {
            if store == .googlePlay {
                try await noteLogIn(from: former.customer, to: new.customer)
            }
            return true
        }
        let changer = context.rateLimiter.sender(of: request, to: app.id, for: .change)
        if let objection = context.rateLimiter.objection(to: changer) { throw objection }
        context.rateLimiter.charge(changer)
        for id in [former.customer] + accounts {
            if try await join(id, to: new.customer, why: "log-in") { continue }
            let isMoved = try await takePurchases(
                of: id,
                for: new.customer,
                from: former.customer
            )
            guard isMoved else { return false }
        }
        return true
    }

    /// Declares for a device that two ids are one customer, in each environment. Returns whether
    /// they are.
    func join(_ alias: CustomerID, to customer: CustomerID, why: String) async throws -> Bool {
        var isJoined = true
        for environment in app.environments {
            let now = now
            switch try await ruling(alias, customer, environment, now, why) {
            case .known: continue
            case .refused: isJoined = false
            case .granted(let alias):
                let commitRequest = CommitRequest(
                    app: app.id,
                    environment: environment,
                    alias: alias,
                    now: now
                )
                _ = try await context.commit(commitRequest)
            }
        }
        return isJoined
    }

    private func ruling(
        _ alias: CustomerID,
        _ customer: CustomerID,
        _ environment: Environment,
        _ now: Instant,
        _ why: String
    ) async throws -> AliasRuling {
        try await onPool {
            let (former, new) = try context.storage.read { reader throws(StorageError) in
                (
                    try reader.identity(of: key(of: alias, in: environment)),
                    try reader.identity(of: key(of: customer, in: environment))
                )
            }
            return AliasRuling(former, as: new, at: now, why: why, by: CustomerAlias.device)
        }
    }
}
