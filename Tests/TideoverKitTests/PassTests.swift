import Testing
import TideoverCore
import TideoverJSON
import TideoverKit
import TideoverSignatures

/// Tests the offline pass with real signatures; only on Apple platforms a different library
/// verifies them.
@Suite struct PassTests {
    private let key = Ed25519PrivateKey.generate()
    private let start = TestPurchases.start

    private func pass(
        version: Int64 = 1,
        until: Milliseconds = .days(20),
        notAfter: Milliseconds = .days(7),
        willRenew: Bool? = true
    ) -> Pass {
        Pass(
            issuer: "https://t.example",
            audience: "cards",
            customer: TestPurchases.customer,
            environment: .production,
            issued: start,
            notAfter: start + notAfter,
            version: version,
            entitlements: [
                Pass.Entitlement(
                    name: "premium",
                    state: .active,
                    reason: "paid",
                    accessUntil: start + until,
                    willRenew: willRenew,
                    notAfter: start + notAfter
                )
            ]
        )
    }

    /// Signs a pass; its header may name another key.
    private func signed(
        _ pass: Pass,
        by key: Ed25519PrivateKey,
        named name: Ed25519PrivateKey? = nil,
        type: String = Pass.documentType
    ) throws -> String {
        let header: JSONObject = [
            "alg": .string(JWS.edDSA), "typ": .string(type),
            "kid": .string((name ?? key).publicKey.thumbprint),
        ]
        let compact = try JWS.sign(header: header, payload: pass.claims) { key.sign($0) }
        return String(decoding: compact, as: UTF8.self)
    }

    private func kept(_ compact: String, keys: [Ed25519PrivateKey]) -> KeptState {
        var kept = KeptState(customer: TestPurchases.customer)
        kept.pass = compact
        kept.keys = keys.map { PassKey(id: $0.publicKey.thumbprint, bytes: $0.publicKey.bytes) }
        return kept
    }

    private static let check: PassSignatureCheck = { signature, message, key in
        (try? Ed25519PublicKey(bytes: key))?.verify(signature: signature, of: message) ?? false
    }

    /// Launches offline and carries out the actions for passes.
    private func launch(
        _ kept: KeptState,
        at delay: Milliseconds,
        published keys: [PassKey]? = nil,
        store: StoreReading = StoreReading(),
        isReadLate: Bool = false
    ) -> EntitlementMachine {
        var settings = TestPurchases.settings(withServer: true)
        settings.catalogue = Catalogue()
        var machine = EntitlementMachine(
            settings: settings,
            kept: isReadLate ? nil : kept,
            isKeptRead: !isReadLate
        )
        let reading = ClockReading(clock: start + delay, uptime: .zero)
        var events: [EntitlementMachine.Event] = [.launched]
        while !events.isEmpty {
            for action in machine.happened(events.removeFirst(), at: reading) {
                switch action {
                case .verifyPass(let document, let key):
                    let claims = document.claims(verifiedWith: key, by: Self.check)
                    events.append(
                        claims.map { .passVerified(compact: document.compact, claims: $0) }
                            ?? .passForged(compact: document.compact)
                    )
                case .fetchKeys: events.append(keys.map { .keysReceived($0) } ?? .keysFailed)
                case .readKept: events.append(.keptRead(kept))
                case .readStore: events.append(.storeRead(store))
                case .reconcile(let round, let page, _, _):
                    events.append(.reconcileFailed(round: round, page: page))
                default: break
                }
            }
        }
        return machine
    }

    @Test(arguments: [false, true])
    func `a pass grants access offline within its life`(isReadLate: Bool) throws {
        let compact = try signed(pass(), by: key)
        let machine = launch(kept(compact, keys: [key]), at: .days(5), isReadLate: isReadLate)
        #expect(machine.published?["premium"].access == .granted)
        #expect(machine.published?["premium"].confidence == .confirmed)
        #expect(machine.published?.isAnswered == true)
    }

    @Test func `after the stated access a renewal is presumed, then nothing is answered`() throws {
        let compact = try signed(pass(until: .days(2), notAfter: .days(5)), by: key)
        let within = launch(kept(compact, keys: [key]), at: .days(3))
        #expect(within.published?["premium"].access == .granted)
        #expect(within.published?["premium"].confidence == .presumed)
        let beyond = launch(kept(compact, keys: [key]), at: .days(6))
        #expect(beyond.published?["premium"].access == .unknown)
        #expect(
            beyond.passRejection
                == .refused(.expired(notAfter: start + .days(5), now: start + .days(6)))
        )
    }

    @Test func `a tampered pass is refused`() throws {
        let compact = try signed(pass(), by: key)
        let parts = compact.split(separator: ".").map(String.init)
        var other = pass()
        other.entitlements[0].accessUntil = nil
        let claims = Base64.encodeString(other.claims, .urlSafe)
        let tampered = [parts[0], claims, parts[2]].joined(separator: ".")
        let machine = launch(kept(tampered, keys: [key]), at: .days(1))
        #expect(machine.passRejection == .forged)
        #expect(machine.published?["premium"].access == .unknown)
        #expect(machine.kept.pass == nil)
    }

    /// Access and confidence on each day offline: stated for 3 days, presumed for 2 more, then
    /// unknown.
    @Test(arguments: 0...7)
    func `a pass gives access offline for its days, not longer`(day: Int64) throws {
        let compact = try signed(pass(until: .days(3), notAfter: .days(5)), by: key)
        let machine = launch(kept(compact, keys: [key]), at: .days(day))
        let premium = machine.published?["premium"]
        #expect(premium?.access == (day < 5 ? .granted : .unknown))
        #expect(premium?.confidence == (day < 3 ? .confirmed : day < 5 ? .presumed : .unknown))
    }

    @Test func `a stranger's signature under the name of a known key is refused`() throws {
        let stranger = Ed25519PrivateKey.generate()
        let compact = try signed(pass(), by: stranger, named: key)
        let machine = launch(kept(compact, keys: [key]), at: .days(1))
        #expect(machine.passRejection == .forged)
        #expect(machine.published?["premium"].access == .unknown)
    }

    @Test func `a pass of a withdrawn key is refused`() throws {
        let withdrawn = Ed25519PrivateKey.generate()
        let compact = try signed(pass(), by: withdrawn)
        let current = PassKey(id: key.publicKey.thumbprint, bytes: key.publicKey.bytes)
        let machine = launch(kept(compact, keys: []), at: .days(1), published: [current])
        #expect(machine.passRejection == .unknownKey(withdrawn.publicKey.thumbprint))
        #expect(machine.kept.keys == [current])
        #expect(machine.kept.pass == nil)
        #expect(machine.published?["premium"].access == .unknown)
    }

    @Test @MainActor func `an app that is launched offline shows what its pass grants`()
        async throws
    {
        let kept = kept(try signed(pass(), by: key), keys: [key])
        let reading = ClockReading(clock: start + .days(1), uptime: .zero)
        let store = EntitlementStore(
            TestPurchases.settings(withServer: true),
            KitEffects(
                source: TestPurchases.emptyStore,
                file: KeptFile(read: { kept.json }, write: { _ in }),
                network: { _ in throw CancellationError() },
                verify: Self.check,
                clock: { reading },
                sleep: { _ in throw CancellationError() }
            )
        )
        await store.start()
        await store.settled()
        #expect(store["premium"].access == .granted)
        #expect(store.state.isAnswered)
    }

    @Test func `a device without a server needs no pass`() throws {
        var world = SimulatedWorld(withServer: false)
        world.disk = kept(try signed(pass(), by: key), keys: [key]).json
        world.launch()
        #expect(world.machine.pass == nil)
        #expect(world.shown.last?["premium"].access == .denied)
        world.statuses = [TestPurchases.status(TestPurchases.subscription(7), renews: false)]
        for day in Int64(0)...40 {
            world.now = start + .days(day)
            world.launch()
            let premium = world.shown.last?["premium"]
            #expect(premium?.access == (day < 30 ? .granted : .denied), "day \(day)")
            #expect(premium?.confidence == .confirmed, "day \(day)")
        }
    }

    @Test func `a pass for another app, customer, environment or issuer is refused`() throws {
        let stranger = try #require(CustomerID("u_43"))
        let cases: [(PassRefusal, (inout Pass) -> Void)] = [
            (.wrongAudience(found: "chess"), { $0.audience = "chess" }),
            (.wrongCustomer, { $0.customer = stranger }),
            (.wrongEnvironment(found: .sandbox), { $0.environment = .sandbox }),
            (.wrongIssuer(found: "https://u.example"), { $0.issuer = "https://u.example" }),
        ]
        for (refusal, change) in cases {
            var other = pass()
            change(&other)
            let machine = launch(
                kept(try signed(other, by: key), keys: [key]),
                at: .days(1),
                store: StoreReading(environment: .production)
            )
            #expect(machine.passRejection == .refused(refusal))
            #expect(machine.published?["premium"].access == .unknown)
            #expect(machine.kept.pass == nil)
        }
    }

    @Test func `a pass is for the environment that the store names`() throws {
        var sandboxed = pass()
        sandboxed.environment = .sandbox
        let compact = try signed(sandboxed, by: key)
        let bought = TestPurchases.subscription(7, environment: "Sandbox")
        let store = StoreReading(
            statuses: [SignedStatus(transaction: bought, renewalInfo: nil, state: .subscribed)]
        )
        let machine = launch(kept(compact, keys: [key]), at: .days(1), store: store)
        #expect(machine.pass?.environment == .sandbox)
        #expect(machine.passRejection == nil)
        #expect(machine.kept.pass == compact)
        let production = StoreReading(environment: .production)
        let other = launch(kept(compact, keys: [key]), at: .days(1), store: production)
        #expect(other.kept.pass == nil)
        let former = launch(
            kept(try signed(pass(), by: key), keys: [key]),
            at: .days(1),
            store: StoreReading(environment: .sandbox)
        )
        #expect(former.pass == nil)
        #expect(former.kept.pass == nil)
        #expect(former.published?["premium"].access == .unknown)
    }

    /// StoreKit may need longer than the reading waits.
    @Test func `a pass for another environment is kept until the store names one`() throws {
        var sandboxed = pass()
        sandboxed.environment = .sandbox
        let compact = try signed(sandboxed, by: key)
        var machine = launch(kept(compact, keys: [key]), at: .days(1))
        #expect(machine.pass == nil)
        #expect(machine.kept.pass == compact)
        let reading = ClockReading(clock: start + .days(1), uptime: .zero)
        func read(_ store: StoreReading) {
            _ = machine.happened(.foregrounded, at: reading)
            var events: [EntitlementMachine.Event] = [.storeRead(store)]
            while !events.isEmpty {
                for action in machine.happened(events.removeFirst(), at: reading) {
                    switch action {
                    case .verifyPass(let document, let key):
                        let claims = document.claims(verifiedWith: key, by: Self.check)
                        events += claims.map { [.passVerified(compact: compact, claims: $0)] } ?? []
                    case .reconcile(let round, let page, _, let environment):
                        #expect(environment == .sandbox)
                        events.append(.reconcileFailed(round: round, page: page))
                    default: break
                    }
                }
            }
        }
        // A later reading that cannot name it changes nothing.
        for environment in [TideoverCore.Environment.sandbox, nil] {
            read(StoreReading(environment: environment))
            #expect(machine.pass?.environment == .sandbox)
            #expect(machine.published?["premium"].access == .granted)
        }
    }

    @Test func `a clock that stays set back does not keep a pass valid`() throws {
        var kept = kept(try signed(pass(), by: key), keys: [key])
        kept.lastSeen = start + .days(6)
        var machine = launch(kept, at: .days(1))
        #expect(machine.published?["premium"].access == .granted)
        let later = ClockReading(clock: start + .days(2), uptime: .days(1))
        _ = machine.happened(.clockSeen, at: later)
        #expect(machine.published?["premium"].access == .unknown)
    }

    @Test func `a document of another kind is not a pass`() throws {
        let compact = try signed(pass(), by: key, type: "JWT")
        #expect(launch(kept(compact, keys: [key]), at: .days(1)).passRejection == .notAPass)
    }

    @Test func `a clock that is set back does not extend a pass`() throws {
        var kept = kept(try signed(pass(), by: key), keys: [key])
        kept.lastSeen = start + .days(8)
        let machine = launch(kept, at: .days(1))
        #expect(machine.published?["premium"].access == .unknown)
        #expect(machine.published?.isClockSetBack == true)
    }

    @Test func `the keys are fetched once if none of them signed the pass`() throws {
        let next = Ed25519PrivateKey.generate()
        let compact = try signed(pass(), by: next)
        let published = [
            PassKey(id: next.publicKey.thumbprint, bytes: next.publicKey.bytes)
        ]
        let rotated = launch(kept(compact, keys: [key]), at: .days(1), published: published)
        #expect(rotated.published?["premium"].access == .granted)
        #expect(rotated.kept.keys == published)
        let unknown = launch(kept(compact, keys: [key]), at: .days(1))
        #expect(unknown.passRejection == .unknownKey(next.publicKey.thumbprint))
        #expect(unknown.published?["premium"].access == .unknown)
        #expect(unknown.kept.pass == compact)
    }

    private func reply(with compact: String) throws -> ServerReply {
        let body: JSONObject = [
            "environment": "production", "asOf": .string(start.rfc3339),
            "customerVersion": 1, "entitlements": [:], "prompt": .object(["kind": "none"]),
            "items": [], "pass": .string(compact),
        ]
        return try ServerReply(JSONValue.object(body).encoded(), to: EvidencePage())
    }

    /// The keys cannot be fetched, or the response is an old copy that lacks the new key.
    @Test(arguments: [false, true])
    func `a pass of an unknown key replaces the former pass once it is verified`(
        isFetched: Bool
    ) throws {
        let next = Ed25519PrivateKey.generate()
        let former = try signed(pass(), by: key)
        let newer = try signed(pass(version: 2), by: next)
        let known = PassKey(id: key.publicKey.thumbprint, bytes: key.publicKey.bytes)
        var machine = launch(kept(former, keys: [key]), at: .zero)
        for round in 2...3 {
            let at = TestPurchases.reading()
            _ = machine.happened(.foregrounded, at: at)
            _ = machine.happened(.storeRead(StoreReading()), at: at)
            let actions = machine.happened(
                .reconcileAccepted(round: round, page: 0, try reply(with: newer)),
                at: at
            )
            #expect(actions.contains(.fetchKeys), "round \(round)")
            _ = machine.happened(isFetched ? .keysReceived([known]) : .keysFailed, at: at)
            #expect(machine.kept.pass == former)
        }
        let kept = try #require(KeptState(json: machine.kept.json))
        #expect(kept.candidate == newer)
        let offline = launch(kept, at: .days(1))
        #expect(offline.published?["premium"].access == .granted)
        #expect(offline.kept.pass == former)
        let rotated = PassKey(id: next.publicKey.thumbprint, bytes: next.publicKey.bytes)
        let online = launch(kept, at: .days(1), published: [rotated])
        #expect(online.pass?.version == 2)
        #expect(online.kept.pass == newer)
        #expect(online.kept.candidate == nil)
    }

    @Test func `after a failed fetch the next pass fetches the keys again`() throws {
        let compact = try signed(pass(), by: key)
        var settings = TestPurchases.settings(withServer: true)
        settings.catalogue = Catalogue()
        var machine = EntitlementMachine(settings: settings)
        func actions(_ event: EntitlementMachine.Event) -> [EntitlementMachine.Action] {
            machine.happened(event, at: TestPurchases.reading())
        }
        /// Whether a round that ends with the pass fetches the keys.
        func fetches(inRound round: Int) throws -> Bool {
            _ = actions(.foregrounded)
            _ = actions(.storeRead(StoreReading()))
            let reply = try reply(with: compact)
            return actions(.reconcileAccepted(round: round, page: 0, reply)).contains(.fetchKeys)
        }
        #expect(try fetches(inRound: 1))
        #expect(try !fetches(inRound: 2))
        #expect(!actions(.keysFailed).contains(.fetchKeys))
        #expect(try fetches(inRound: 3))
    }

    @Test func `a published set of keys is read`() {
        let set = Ed25519KeySet([key.publicKey.thumbprint: key.publicKey])
        #expect(
            PassKey.keys(ofSet: set.jwkSet.encoded())
                == [PassKey(id: key.publicKey.thumbprint, bytes: key.publicKey.bytes)]
        )
    }
}
