import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// The App Store Server API client against the simulated store, which shares no types with it.
@Suite struct SimulatedAPITests {
    static let start: Instant = "2026-05-01T10:00:00Z"
    static let anna = "anna"

    /// The store with one customer who bought a month, and a client that knows its root.
    struct World {
        let store: SimulatedAppStore
        let api: AppStoreAPI
        let check: SignatureCheck
        let clock: TestClock
        let transaction: String

        init(key: P256PrivateKey = .generate(), signer: P256PrivateKey? = nil) async throws {
            let authority = try SandboxAuthority()
            let ids = ("57246542-96fe-1a63-e053-0824d011072a", "2X9R4HXF34")
            let start = SimulatedAPITests.start.millisecondsSince1970
            let store = SimulatedAppStore(
                AppStoreApp(bundleId: "com.example.cards", products: [.cardsMonthly]),
                seed: 11,
                now: start,
                authority: authority,
                keys: [.init(issuerId: ids.0, keyId: ids.1, publicKey: key.publicKey)],
                wait: { _ in }
            )
            try await store.register(
                StoreCustomer(name: SimulatedAPITests.anna, appAccountToken: nil)
            )
            let said = try await store.perform(
                .subscribe(product: "cards.pro.monthly", trial: .declined),
                by: SimulatedAPITests.anna
            )
            transaction = try #require(said.first?.transaction?["transactionId"]?.string)
            let identity = AppStoreIdentity(
                bundleId: "com.example.cards",
                appAppleId: 1_234_567_890,
                environments: [.simulated]
            )
            let root = try TrustAnchor(name: "simulated", der: authority.root)
            let trust = AppStoreTrust(identity: identity, authorities: [root: .simulated])
            let clock = TestClock()
            clock.now = SimulatedAPITests.start
            let signer = signer ?? key
            api = AppStoreAPI(
                app: identity,
                environment: .simulated,
                tokens: AppStoreTokens(
                    key: .init(issuerId: ids.0, keyId: ids.1, bundleId: "com.example.cards"),
                    signer: { signer.sign($0) }
                ),
                clock: { clock.now },
                handler: store.serverAPI
            )
            check = { try trust.check(at: clock.now)($0) }
            (self.store, self.clock) = (store, clock)
        }

        /// Advances the time; notifications are answered with a status.
        func pass(until instant: Instant, answering status: Int = 200) async throws {
            try await store.advance(to: instant.millisecondsSince1970) { _ in status }
            clock.now = instant
        }

        func facts(_ items: [AppStoreAnswerItem]) throws -> [Fact] {
            try items.flatMap { item in
                try item.reading.get().facts(
                    learnedAt: clock.now,
                    source: .appStoreAPI,
                    evidence: EvidenceID(hex: "00")
                )
            }
        }
    }

    // MARK: Queries

    @Test func `a status is the present state of the purchase`() async throws {
        let world = try await World()
        let answer = try await world.api.subscriptionStatuses(of: world.transaction)
        let facts = try world.facts(world.api.reader.read(answer.content, check: world.check))
        #expect(answer.exchange.dated == Self.start)
        #expect(facts.count == 3)
        guard case .term(let term)? = facts.first?.assertion else {
            Issue.record("no term")
            return
        }
        #expect(term.transactionId == world.transaction)
        #expect(term.start == Self.start)
        #expect(term.end == "2026-06-01T10:00:00Z")
        #expect(facts.allSatisfy { $0.lineage.environment == .simulated })
        let none = try await world.api.subscriptionStatuses(of: world.transaction, only: [.revoked])
        #expect(none.content.data.flatMap(\.lastTransactions).isEmpty)
    }

    @Test func `one request extends all renewals, and the store reports its completion`()
        async throws
    {
        let world = try await World()
        let order = RenewalExtension(days: 7, reason: .serviceIssue, requestIdentifier: "a-1")
        let product = "cards.pro.monthly"
        func status() async throws -> MassExtensionStatus {
            try await world.api.massExtensionStatus(of: product, requestIdentifier: "a-1").content
        }
        let ordered = try await world.api.extendRenewalDates(ofAllSubscribersTo: product, order)
        #expect(ordered.content.requestIdentifier == "a-1")
        #expect(try await status().complete == false)
        #expect(try await status().completeDate == nil)
        try await world.pass(until: Self.start + .hours(1))
        let done = try await status()
        #expect(done.complete == true)
        #expect(done.succeededCount == 1)
        #expect(done.failedCount == 0)
        let filter = NotificationHistoryFilter(from: Self.start, to: world.clock.now)
        let page = try await world.api.notificationHistory(filter).content
        let items = world.api.reader.read(page, check: world.check)
        let readings = try items.map { try $0.reading.get() }
        #expect(
            readings.map(\.notificationType) == [
                "SUBSCRIBED", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION",
            ]
        )
        let ends = try world.facts(items).compactMap { fact -> Instant? in
            guard case .term(let term) = fact.assertion else { return nil }
            return term.end
        }
        #expect(ends == ["2026-06-01T10:00:00Z", "2026-06-08T10:00:00Z"])
    }

    @Test func `histories are read page by page and contain every period once`() async throws {
        let world = try await World()
        try await world.pass(until: Self.start + .days(800))
        let api = world.api
        var terms: [String] = []
        let end = try await walkPages(atMost: 10) {
            try await api.transactionHistory(of: world.transaction, revision: $0)
        } each: { page in
            let facts = try world.facts(api.reader.read(page.content, check: world.check))
            for case .term(let term) in facts.map(\.assertion) { terms.append(term.transactionId) }
            return true
        }
        #expect(end.isComplete)
        #expect(end.pages == 2)
        #expect(terms.count == 27)
        #expect(Set(terms).count == terms.count)
        let one = try await api.transactionInfo(of: terms[3]).content
        let item = api.reader.read(one, check: world.check)
        #expect(try item.reading.get().transaction?.transactionId == terms[3])
    }

    @Test func `the failure history contains only undelivered notifications`() async throws {
        let world = try await World()
        try await world.pass(until: Self.start + .days(40))
        try await world.pass(until: Self.start + .days(70), answering: 503)
        let filter = NotificationHistoryFilter(
            from: Self.start,
            to: world.clock.now,
            onlyFailures: true
        )
        let page = try await world.api.notificationHistory(filter).content
        let items = world.api.reader.read(page, check: world.check)
        let types = try items.map { try $0.reading.get().notificationType }
        #expect(types == ["DID_RENEW"])
        #expect(items.first?.sendAttempts.last?.sendAttemptResult?.known == .unsuccessfulStatus)
        let all = try await world.api.notificationHistory(
            NotificationHistoryFilter(from: Self.start, to: world.clock.now)
        ).content
        #expect(all.notificationHistory.count == 3)
    }

    @Test func `the refund history contains a refund, also after a revision`() async throws {
        let world = try await World()
        let before = try await world.api.refundHistory(of: world.transaction).content
        #expect(before.signedTransactions.isEmpty)
        try await world.pass(until: Self.start + .days(3))
        try await world.store.perform(.refund(product: nil, reason: .other), by: Self.anna)
        let page = try await world.api.refundHistory(
            of: world.transaction,
            revision: before.revision
        ).content
        let facts = try world.facts(world.api.reader.read(page, check: world.check))
        #expect(facts.contains { if case .revocation = $0.assertion { true } else { false } })
    }

    @Test func `a test notification is requested, sent and received`() async throws {
        let world = try await World()
        let token = try await world.api.requestTestNotification().content.testNotificationToken
        let early = await refused { try await world.api.testNotificationStatus(token) }
        #expect(early == .testNotificationNotFound)
        try await world.pass(until: Self.start + .minutes(5))
        let sent = try await world.api.testNotificationStatus(token).content
        let item = try #require(world.api.reader.read(sent, check: world.check))
        #expect(try item.reading.get().isTest)
        #expect(item.sendAttempts.map(\.sendAttemptResult?.known) == [.success])
    }

    @Test func `the simulated store performs requests of a back end`() async throws {
        let world = try await World()
        let id = world.transaction
        _ = try await world.api.finish(id)
        #expect(await world.store.isFinished(id))
        let token = "11111111-2222-4333-8444-555555555555"
        _ = try await world.api.setAppAccountToken(of: id, to: token)
        let info = try await world.api.transactionInfo(of: id).content
        let reading = try world.api.reader.read(info, check: world.check).reading.get()
        #expect(reading.transaction?.appAccountToken?.lowercased() == token)
        let longer = try await world.api.extendRenewalDate(
            of: id,
            RenewalExtension(days: 10, reason: .serviceIssue, requestIdentifier: token)
        ).content
        #expect(longer.success == true)
        #expect(longer.effectiveDate == "2026-06-11T10:00:00Z")
        let app = try await world.api.appTransactionInfo(of: id).content
        let own = try world.api.reader.read(app, check: world.check).reading.get()
        #expect(own.kind == .appTransaction)
        let order = try #require(await world.store.order(of: id))
        let found = try await world.api.lookUp(orderId: order).content
        #expect(found.status?.known == .valid)
        #expect(try world.facts(world.api.reader.read(found, check: world.check)).count == 1)
        #expect(try await world.api.lookUp(orderId: "NONE").content.status?.known == .invalid)
    }

    // MARK: Failures

    @Test func `an unknown key and a wrong clock are distinguished`() async throws {
        let stranger = try await World(signer: .generate())
        let unknown = try #require(
            await failed { try await stranger.api.subscriptionStatuses(of: "1") }
        )
        guard case .unauthorised(let skew) = unknown.reason else {
            Issue.record("\(unknown.reason)")
            return
        }
        #expect(!skew.explainsRefusal)
        let late = try await World()
        late.clock.now = Self.start - .hours(2)
        let slow = try #require(await failed { try await late.api.subscriptionStatuses(of: "1") })
        guard case .unauthorised(let skew) = slow.reason else {
            Issue.record("\(slow.reason)")
            return
        }
        #expect(skew.explainsRefusal)
        #expect(skew.ahead == .hours(2))
    }

    static let faults: [(AppStoreFault, code: String, isRetryable: Bool)] = [
        (.rateLimited(for: 90_000), "throttled", true), (.truncated, "malformed-json", true),
        (.unavailable(status: 503), "http-503", true), (.unauthorized, "unauthorised", false),
        (.refused(.internalError), "store-5000000", false),
    ]

    @Test(arguments: faults)
    func `each fault of the store is reported with its kind`(
        fault: AppStoreFault,
        code: String,
        isRetryable: Bool
    ) async throws {
        let world = try await World()
        await world.store.add(AppStoreFaultRule(fault))
        let failed = try #require(
            await failed { try await world.api.subscriptionStatuses(of: world.transaction) }
        )
        #expect(failed.code == code)
        #expect(failed.isRetryable == isRetryable)
        if case .rateLimited(let wait) = fault {
            #expect(failed.retryAt == Self.start + Milliseconds(wait))
        }
        // The fault occurs once.
        _ = try await world.api.subscriptionStatuses(of: world.transaction)
    }

    /// The client knows every error number of the store, and treats it as documented.
    @Test(arguments: AppStoreAPIError.allCases)
    func `the client knows every error of the store`(error: AppStoreAPIError) async throws {
        let world = try await World()
        await world.store.add(AppStoreFaultRule(.refused(error)))
        let failed = try #require(
            await failed { try await world.api.subscriptionStatuses(of: world.transaction) }
        )
        switch failed.reason {
        case .refused(let code, _): #expect(code.raw == error.rawValue && code.known != nil)
        case .throttled: #expect(error.rawValue == 4_290_000)
        default: Issue.record("\(failed.reason)")
        }
    }

    private func failed<Answer: Sendable>(
        _ ask: () async throws -> Answer
    ) async -> AppStoreAPIFailure? {
        do {
            _ = try await ask()
            return nil
        } catch {
            return error as? AppStoreAPIFailure
        }
    }

    private func refused<Answer: Sendable>(
        _ ask: () async throws -> Answer
    ) async -> AppStoreErrorCode? {
        guard case .refused(let code, _)? = await failed(ask)?.reason else { return nil }
        return code.known
    }
}

extension AppStoreProduct {
    fileprivate static let cardsMonthly = AppStoreProduct(
        id: "cards.pro.monthly",
        group: "pro",
        period: .oneMonth,
        price: StorePrice(milliunits: 9990, currency: "USD")
    )
}

extension StorePeriod {
    fileprivate static var oneMonth: StorePeriod {
        guard let month = StorePeriod(iso: "P1M") else {
            preconditionFailure("P1M is a period")
        }
        return month
    }
}
