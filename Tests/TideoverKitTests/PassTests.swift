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
        audience: String = "cards",
        until: Milliseconds = .days(20),
        notAfter: Milliseconds = .days(7),
        willRenew: Bool? = true
    ) -> Pass {
        Pass(
            issuer: "https://t.example",
            audience: audience,
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

    private func signed(
        _ pass: Pass,
        by key: Ed25519PrivateKey,
        type: String = Pass.documentType
    ) throws -> String {
        let header: JSONObject = [
            "alg": .string(JWS.edDSA), "typ": .string(type),
            "kid": .string(key.publicKey.thumbprint),
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
        published keys: [PassKey]? = nil
    ) -> EntitlementMachine {
        var settings = TestPurchases.settings(withServer: true)
        settings.catalogue = Catalogue()
        var machine = EntitlementMachine(settings: settings, kept: kept)
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
                case .readStore: events.append(.storeRead(StoreReading()))
                case .reconcile(let round, let page, _, _):
                    events.append(.reconcileFailed(round: round, page: page))
                default: break
                }
            }
        }
        return machine
    }

    @Test func `a pass grants access offline within its life`() throws {
        let compact = try signed(pass(), by: key)
        let machine = launch(kept(compact, keys: [key]), at: .days(5))
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

    @Test func `a pass for another app is refused`() throws {
        let machine = launch(
            kept(try signed(pass(audience: "chess"), by: key), keys: [key]),
            at: .days(1)
        )
        #expect(machine.passRejection == .refused(.wrongAudience(found: "chess")))
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

    @Test func `a published set of keys is read`() {
        let set = Ed25519KeySet([key.publicKey.thumbprint: key.publicKey])
        #expect(
            PassKey.keys(ofSet: set.jwkSet.encoded())
                == [PassKey(id: key.publicKey.thumbprint, bytes: key.publicKey.bytes)]
        )
    }
}
