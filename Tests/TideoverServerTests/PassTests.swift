import Testing
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSQLite
import TideoverServer
import TideoverSignatures
import TideoverStorage

@testable import TideoverTestServer

/// Passes as issued, stored and returned, and their verification on a device.
@Suite struct PassTests {
    private static let target = "/v1/apps/cards/customers/\(TestServer.anna)?environment=sandbox"
    private static let bought: Instant = "2026-05-01T10:00:05Z"

    private static func server(
        _ signing: Signing,
        folder: TestServer? = nil
    ) throws -> TestServer {
        try TestServer(
            folder: folder?.folder,
            store: folder?.store,
            passes: signing.issuer
        )
    }

    /// Verifies the pass of an answer as a device of this customer does.
    private func believed(
        _ answer: JSONValue,
        _ keys: Ed25519KeySet,
        at clock: Instant = bought,
        holding held: Pass? = nil,
        app: String = "cards",
        environment: Environment = .sandbox
    ) throws -> Pass {
        let text = try #require(answer["pass"]?.string)
        let jws = try JWS(text.utf8)
        try jws.verify(with: keys, type: Pass.documentType)
        let expectation = PassExpectation(
            issuer: "tests",
            audience: app,
            customer: try #require(CustomerID(TestServer.anna)),
            environment: environment
        )
        return try Pass(
            believing: jws.payload,
            as: expectation,
            holding: held,
            at: DeviceTime(clock: clock)
        )
    }

    // MARK: Responses

    @Test func `an answer contains a pass with the same content, signed by a published key`()
        async throws
    {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        let answer = try await server.answer()
        let published = try await server.ask("GET", "/v1/apps/cards/pass-keys")
        #expect(published.status == 200)
        let keys = Ed25519KeySet(jwkSet: try JSONDocument(published.body).root)
        #expect(keys == signing.issuer.keys)
        let pass = try believed(answer, keys)
        #expect(pass.version == answer["customerVersion"]?.int64)
        #expect(pass.issued == Self.bought)
        #expect(pass.notAfter == Self.bought + .days(7))
        let premium = try #require(pass["premium"])
        #expect(premium.state.rawValue == answer["entitlements"]?["premium"]?["state"]?.string)
        #expect(premium.access)
        #expect(premium.accessUntil == Message.end)
        await server.close()
    }

    @Test func `without a key the server issues no pass and publishes no key`() async throws {
        let server = try TestServer()
        _ = try await server.post(.purchase())
        #expect(try await server.answer()["pass"] == nil)
        let keys = try await server.ask("GET", "/v1/apps/cards/pass-keys")
        #expect(String(decoding: keys.body, as: UTF8.self) == #"{"keys":[]}"#)
        await server.close()
    }

    @Test func `an unknown customer gets an answer without a pass`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        #expect(try await server.answer()["pass"] == nil)
        #expect(signing.count == 0)
        await server.close()
    }

    @Test func `a pass is invalid in another app or environment`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        let answer = try await server.answer()
        #expect(throws: PassRefusal.wrongAudience(found: "cards")) {
            try believed(answer, signing.issuer.keys, app: "rehearsal")
        }
        #expect(throws: PassRefusal.wrongEnvironment(found: .sandbox)) {
            try believed(answer, signing.issuer.keys, environment: .simulated)
        }
        await server.close()
    }

    @Test func `a change of any bit invalidates a pass`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        let text = Array(try #require(try await server.answer()["pass"]?.string).utf8)
        try JWS(text).verify(with: signing.issuer.keys, type: Pass.documentType)
        for place in text.indices {
            for bit in 0..<8 {
                var other = text
                other[place] ^= 1 << bit
                #expect(throws: SignatureRefusal.self, "byte \(place), bit \(bit)") {
                    try JWS(other).verify(with: signing.issuer.keys, type: Pass.documentType)
                }
            }
        }
        await server.close()
    }

    // MARK: Signing

    @Test func `repeated reads of a fresh row sign nothing`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        #expect(signing.count == 1)
        for _ in 0..<100 { _ = try await server.answer() }
        #expect(signing.count == 1)
        await server.close()
    }

    @Test func `many reads after a change of the answer sign once`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        server.set(Message.end + .days(30))
        try await withThrowingTaskGroup(of: Int64?.self) { reads in
            for _ in 0..<20 {
                reads.addTask { try await server.answer()["customerVersion"]?.int64 }
            }
            for try await version in reads { #expect(version == 2) }
        }
        #expect(signing.count == 2)
        await server.close()
    }

    @Test func `only a read renews a pass, once, after half of its life`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        let first = try await server.answer()
        let half = Self.bought + .hours(84)
        server.set(half - Milliseconds(1))
        #expect(try await server.answer()["pass"] == first["pass"])
        server.set(half)
        #expect(await server.service.meetDueDeadlines())
        #expect(signing.count == 1)
        let renewed = try await server.answer()
        #expect(signing.count == 2)
        #expect(renewed["pass"] != first["pass"])
        let pass = try believed(renewed, signing.issuer.keys, at: half)
        #expect(pass.issued == half)
        #expect(pass.notAfter == half + .days(7))
        server.set(half + Milliseconds(1))
        #expect(try await server.answer()["pass"] == renewed["pass"])
        #expect(signing.count == 2)
        await server.close()
    }

    @Test func `a renewal changes only the pass and raises no event`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        let before = try await server.get(Self.target)
        let told = try server.storage.outbox(app: "cards", after: nil, limit: 100)
        server.set(Self.bought + .days(4))
        let after = try await server.get(Self.target)
        #expect(signing.count == 2)
        #expect(after.headers["ETag"] == before.headers["ETag"])
        var (old, new) = (
            JSONValue(try JSONDocument(before.body).root).object,
            JSONValue(try JSONDocument(after.body).root).object
        )
        for name in ["pass", "asOf"] {
            #expect(old?[name] != new?[name])
            old?[name] = nil
            new?[name] = nil
        }
        #expect(old == new)
        #expect(try server.storage.outbox(app: "cards", after: nil, limit: 100) == told)
        await server.close()
    }

    @Test func `an HTTP cache may not store an answer with a pass`() async throws {
        let server = try Self.server(Signing())
        _ = try await server.post(.purchase())
        let response = try await server.get(Self.target)
        #expect(JSONValue(try JSONDocument(response.body).root)["pass"] != nil)
        #expect(response.headers["ETag"] != nil)
        #expect(response.headers["Cache-Control"] == "private, no-store")
        await server.close()
    }

    @Test
    func `a client with a current answer gets 304, and no pass is signed`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        let tag = try #require(try await server.get(Self.target).headers["ETag"])
        server.set(Self.bought + .days(6))
        let again = try await server.get(Self.target, headers: ["If-None-Match": tag])
        #expect(again.status == 304)
        #expect(signing.count == 1)
        await server.close()
    }

    @Test func `a pass that ends with its access is not renewed by reads`() async throws {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        // If issued less than four days before the end, a pass always ends three days after it.
        let issued = Message.end - .days(3)
        server.set(issued)
        let pass = try believed(
            try await server.answer(),
            signing.issuer.keys,
            at: server.now
        )
        #expect(pass.notAfter == Message.end + .days(3))
        let count = signing.count
        for hours: Int64 in [36, 54, 63, 71] {
            server.set(issued + .hours(hours))
            _ = try await server.answer()
        }
        #expect(signing.count == count)
        await server.close()
    }

    @Test func `a refund removes the access from the next pass, which replaces the old one`()
        async throws
    {
        let signing = Signing()
        let server = try Self.server(signing)
        _ = try await server.post(.purchase())
        let old = try await server.answer()
        let held = try believed(old, signing.issuer.keys)
        var refund = Message.purchase("n-refund", signed: "2026-05-02T10:00:00Z")
        refund.refund(at: refund.signed)
        server.set(refund.signed + .seconds(5))
        #expect(try await server.post(refund).status == 200)
        let pass = try believed(
            try await server.answer(),
            signing.issuer.keys,
            at: server.now,
            holding: held
        )
        #expect(pass.answer(on: "premium", at: DeviceTime(clock: server.now)).access == false)
        #expect(throws: PassRefusal.older(version: 1, held: 2)) {
            try believed(old, signing.issuer.keys, at: server.now, holding: pass)
        }
        await server.close()
    }

    @Test func `a pass dated by a fast clock is replaced after the clock is corrected`()
        async throws
    {
        let signing = Signing()
        let server = try Self.server(signing)
        server.set(Self.bought + .days(10))
        _ = try await server.post(.purchase())
        server.set(Self.bought)
        let pass = try believed(try await server.answer(), signing.issuer.keys)
        #expect(pass.issued == Self.bought)
        #expect(signing.count == 2)
        await server.close()
    }

    @Test func `a full disk prevents passes that are not stored`() async throws {
        let isFull = Locked(false)
        let signing = Signing()
        let server = try TestServer(
            faults: SQLiteFaults { _ throws(StorageError) in
                guard isFull.withLock({ $0 }) else { return }
                throw StorageError(.full, place: "the disk")
            },
            passes: signing.issuer
        )
        _ = try await server.post(.purchase())
        let kept = try await server.answer()["pass"]
        isFull.withLock { $0 = true }
        server.set(Self.bought + .days(4))
        #expect(try await server.answer()["pass"] == kept)
        server.set(Message.end + .days(30))
        let changed = try await server.answer()
        #expect(changed["entitlements"]?["premium"]?["access"]?.bool == false)
        #expect(changed["pass"] == nil)
        isFull.withLock { $0 = false }
        #expect(try await server.answer()["pass"] != nil)
        await server.close()
    }

    // MARK: Rotation

    @Test func `keys rotate without a gap, and a removed key is invalid at once`() async throws {
        let (one, two) = (Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate())
        let before = Signing(one)
        var server = try Self.server(before)
        _ = try await server.post(.purchase())
        let first = try await server.answer()
        await server.storage.close()

        let rotated = Signing(two, others: [one.publicKey])
        server = try Self.server(rotated, folder: server)
        server.set(Self.bought + .days(3))
        #expect(try await server.answer()["pass"] == first["pass"])
        #expect(rotated.count == 0)
        _ = try believed(first, rotated.issuer.keys)
        server.set(Self.bought + .days(4))
        let second = try await server.answer()
        #expect(rotated.count == 1)
        #expect(try keyId(of: second) == two.publicKey.thumbprint)
        #expect(throws: SignatureRefusal.unknownKey(found: two.publicKey.thumbprint)) {
            try believed(second, before.issuer.keys)
        }
        await server.storage.close()

        let back = Signing(one)
        server = try Self.server(back, folder: server)
        server.set(Self.bought + .days(4))
        let third = try await server.answer()
        #expect(try keyId(of: third) == one.publicKey.thumbprint)
        #expect(back.count == 1)
        #expect(throws: SignatureRefusal.unknownKey(found: two.publicKey.thumbprint)) {
            try believed(second, back.issuer.keys)
        }
        await server.close()
    }

    @Test func `a read adds a pass to a row without one or with another issuer`() async throws {
        var server = try TestServer()
        _ = try await server.post(.purchase())
        await server.storage.close()
        let key = Ed25519PrivateKey.generate()
        let signing = Signing(key)
        server = try Self.server(signing, folder: server)
        #expect(try await server.answer()["customerVersion"]?.int64 == 1)
        #expect(signing.count == 1)
        await server.storage.close()
        let renamed = Signing(key, issuer: "other")
        server = try Self.server(renamed, folder: server)
        let text = try #require(try await server.answer()["pass"]?.string)
        let claims = try JSONDocument(JWS(text.utf8).payload).root
        #expect(claims["iss"]?.string == "other")
        #expect(renamed.count == 1)
        await server.close()
    }

    private func keyId(of answer: JSONValue) throws -> String? {
        let text = try #require(answer["pass"]?.string)
        return try JWS(text.utf8).header.root["kid"]?.string
    }
}

/// An issuer that counts its signatures.
private struct Signing {
    let issuer: PassIssuer
    private let counter = Counter()

    private final class Counter: Sendable {
        let count = Locked(0)
    }

    var count: Int { counter.count.withLock { $0 } }

    init(
        _ key: Ed25519PrivateKey = .generate(),
        others: [Ed25519PublicKey] = [],
        issuer: String = "tests"
    ) {
        let counter = counter
        self.issuer = PassIssuer(issuer: issuer, key: key.publicKey, others: others) {
            counter.count.withLock { $0 += 1 }
            return key.sign($0)
        }
    }
}
