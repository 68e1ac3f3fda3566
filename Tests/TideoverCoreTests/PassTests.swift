import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// The claims of a pass, its validity, and the device's answers from it.
@Suite struct PassTests {
    private static func pass(
        _ lives: [Life],
        at issued: Instant,
        version: Int64 = 1,
        environment: Environment = .production
    ) -> Pass {
        let history = SnapshotTests.history(lives, environment: environment)
        return history.pass(
            on: history.snapshot(at: issued),
            version: version,
            issuer: "tideover",
            audience: "cards"
        )
    }

    private static func cancelled() -> Life {
        var life = StandingTests.monthly()
        life.outlook(end: "2026-06-01", signed: "2026-05-02", renews: false)
        return life
    }

    private static func lifetime() -> Life {
        var life = Life("2000")
        life.term(
            "9",
            "lifetime",
            from: "2026-01-01",
            to: nil,
            plan: .nonConsumable,
            origin: .purchase
        )
        return life
    }

    private static let expectation = PassExpectation(
        issuer: "tideover",
        audience: "cards",
        customer: SnapshotTests.anna,
        environment: .production
    )

    // MARK: Validity

    /// Access until 1 June. A pass lasts a week or until access ends, plus three days if it renews.
    @Test(arguments: Self.lengths)
    func `a pass ends a week after it was issued or with its access`(
        lives: @Sendable () -> [Life],
        issued: Instant,
        notAfter: Instant
    ) {
        #expect(Self.pass(lives(), at: issued).notAfter == notAfter)
    }

    private typealias Length = (@Sendable () -> [Life], issued: Instant, notAfter: Instant)

    private static let lengths: [Length] = [
        (monthly, "2026-05-10", "2026-05-17"), (monthly, "2026-05-27", "2026-06-03"),
        (monthly, "2026-05-28", "2026-06-04"), (monthly, "2026-05-28T00:00:00.001Z", "2026-06-04"),
        (monthly, "2026-05-31", "2026-06-04"), (cancelled, "2026-05-10", "2026-05-17"),
        (cancelled, "2026-05-25", "2026-06-01"),
        (cancelled, "2026-05-25T00:00:00.001Z", "2026-06-01"),
        (cancelled, "2026-05-31", "2026-06-01"), (lifetime, "2026-05-10", "2026-05-17"),
        (grace, "2026-06-02", "2026-06-09"), (grace, "2026-06-16", "2026-06-20"),
        (hold, "2026-06-20", "2026-06-27"), (nobody, "2026-05-10", "2026-05-17"),
    ]

    @Sendable private static func monthly() -> [Life] { [StandingTests.monthly()] }
    @Sendable private static func cancelled() -> [Life] { [cancelled()] }
    @Sendable private static func lifetime() -> [Life] { [lifetime()] }
    @Sendable private static func grace() -> [Life] { [StandingTests.failing()] }
    @Sendable private static func hold() -> [Life] { [StandingTests.failing()] }
    @Sendable private static func nobody() -> [Life] { [] }

    @Test func `each entitlement ends separately, and the pass with the last of them`() throws {
        var yearly = Life("3000")
        yearly.term("7", "yearly", from: "2025-05-12", to: "2026-05-12", origin: .purchase)
        yearly.outlook(end: "2026-05-12", signed: "2025-05-13", renews: false, product: "yearly")
        let pass = Self.pass([yearly, Self.lifetime()], at: "2026-05-10")
        #expect(pass.notAfter == "2026-05-17")
        #expect(pass["premium"]?.notAfter == "2026-05-17")
        #expect(pass["archive"]?.notAfter == "2026-05-12")
        let end: Instant = "2026-05-12"
        #expect(pass.answer(on: "archive", at: DeviceTime(clock: end.justBefore)).access)
        #expect(pass.answer(on: "archive", at: DeviceTime(clock: end)) == .nothing)
        #expect(pass.answer(on: "premium", at: DeviceTime(clock: end)).access)
    }

    @Test func `in a sandbox the three days shrink with the period`() {
        var life = Life(environment: .sandbox)
        life.term(
            "1",
            from: "2026-05-01T10:00:00Z",
            to: "2026-05-01T10:05:00Z",
            origin: .purchase
        )
        life.outlook(end: "2026-05-01T10:05:00Z", signed: "2026-05-01T10:00:00Z")
        let pass = Self.pass([life], at: "2026-05-01T10:01:00Z", environment: .sandbox)
        // Five minutes for a month of thirty or thirty-one days: three days are thirty seconds.
        #expect(pass.notAfter > "2026-05-01T10:05:25Z")
        #expect(pass.notAfter <= "2026-05-01T10:05:30Z")
    }

    @Test func `a pass is renewed at half of its life if that extends it`() {
        let pass = Self.pass([StandingTests.monthly()], at: "2026-05-10")
        #expect(pass.renewAt == "2026-05-13T12:00:00Z")
        #expect(Self.pass([StandingTests.monthly()], at: "2026-05-29").renewAt == nil)
        #expect(Self.pass([Self.cancelled()], at: "2026-05-31").renewAt == nil)
    }

    // MARK: Answers of a device

    private static let end: Instant = "2026-06-01"
    private static let last: Instant = "2026-06-04"

    @Test func `a device answers as stated, then presumes, then is unsure, exactly in time`()
        throws
    {
        let pass = Self.pass([StandingTests.monthly()], at: "2026-05-31")
        let premium = try #require(pass["premium"])
        let answers: [(Instant, Pass.Answer)] = [
            ("2026-05-31", .stated(premium)), (Self.end.justBefore, .stated(premium)),
            (Self.end, .presumed(premium)), (Self.end + .seconds(1), .presumed(premium)),
            (Self.last.justBefore, .presumed(premium)), (Self.last, .nothing),
            (Self.last + Instant.millisecond, .nothing), ("2036-01-01", .nothing),
        ]
        for (instant, answer) in answers {
            let found = pass.answer(on: "premium", at: DeviceTime(clock: instant))
            #expect(found == answer, "\(instant.rfc3339)")
        }
        #expect(Pass.Answer.stated(premium).confidence == .confirmed)
        #expect(Pass.Answer.presumed(premium).confidence == .presumed)
        #expect(Pass.Answer.presumed(premium).access)
        #expect(Pass.Answer.nothing.confidence == .unknown)
        #expect(!Pass.Answer.nothing.access)
    }

    @Test func `access that does not renew ends to the millisecond`() {
        let pass = Self.pass([Self.cancelled()], at: "2026-05-31")
        #expect(pass.answer(on: "premium", at: DeviceTime(clock: Self.end.justBefore)).access)
        #expect(pass.answer(on: "premium", at: DeviceTime(clock: Self.end)) == .nothing)
    }

    @Test func `a hold is stated until its change, then presumed, and never gives access`() throws {
        let pass = Self.pass([StandingTests.failing()], at: "2026-07-29")
        let premium = try #require(pass["premium"])
        let change: Instant = "2026-07-31"
        #expect(premium.nextChange == change)
        let before = pass.answer(on: "premium", at: DeviceTime(clock: change.justBefore))
        #expect(before == .stated(premium))
        #expect(
            pass.answer(on: "premium", at: DeviceTime(clock: change)) == .presumed(premium)
        )
        #expect(!Pass.Answer.presumed(premium).access)
    }

    @Test func `an entitlement outside of the pass is unknown`() {
        let pass = Self.pass([StandingTests.monthly()], at: "2026-05-10")
        #expect(pass.answer(on: "gold", at: DeviceTime(clock: "2026-05-10")) == .nothing)
    }

    @Test func `a clock that is set back restores no access`() {
        let pass = Self.pass([StandingTests.monthly()], at: "2026-05-31")
        for clock: Instant in ["2026-05-31", "2026-01-01", "1970-01-01"] {
            func answer(_ verified: Instant?) -> Pass.Answer {
                pass.answer(
                    on: "premium",
                    at: DeviceTime(clock: clock, newestVerified: verified)
                )
            }
            #expect(answer(Self.end.justBefore).confidence == .confirmed)
            #expect(answer(Self.end).confidence == .presumed)
            #expect(answer(Self.last) == .nothing)
            // With nothing else verified, the pass's own date is the newest.
            #expect(answer(nil).confidence == .confirmed)
        }
        let ahead = DeviceTime(clock: Self.last, newestVerified: "2026-05-31")
        #expect(pass.answer(on: "premium", at: ahead) == .nothing)
    }

    // MARK: Acceptance

    private func refusal(
        _ claims: [UInt8],
        as expected: PassExpectation = expectation,
        holding held: Pass? = nil,
        at clock: Instant = "2026-05-10",
        verified: Instant? = nil
    ) throws -> PassRefusal? {
        do throws(PassRefusal) {
            _ = try Pass(
                believing: claims,
                as: expected,
                holding: held,
                at: DeviceTime(clock: clock, newestVerified: verified)
            )
            return nil
        } catch {
            return error
        }
    }

    @Test func `claims survive their JSON form`() throws {
        for lives in [[StandingTests.monthly()], [StandingTests.failing(), Self.lifetime()], []] {
            let pass = Self.pass(lives, at: "2026-06-02", version: 17)
            #expect(try Pass(json: JSONDocument(pass.claims).root) == pass)
        }
    }

    @Test func `the claims have these names and values`() throws {
        let pass = Self.pass([StandingTests.failing()], at: "2026-06-02", version: 17)
        let json = JSONValue(try JSONDocument(pass.claims).root)
        let premium: JSONValue = [
            "state": "grace", "reason": "billingIssue", "access": true, "confidence": "confirmed",
            "productId": "monthly", "accessUntil": "2026-06-17T00:00:00.000Z",
            "graceUntil": "2026-06-17T00:00:00.000Z", "willRenew": true,
            "nextChange": "2026-06-17T00:00:00.000Z", "notAfter": "2026-06-09T00:00:00.000Z",
        ]
        #expect(json["entitlements"]?["premium"] == premium)
        var head = try #require(json.object)
        head["entitlements"] = nil
        #expect(
            head == [
                "iss": "tideover", "aud": "cards", "sub": "anna", "environment": "production",
                "issued": "2026-06-02T00:00:00.000Z", "notAfter": "2026-06-09T00:00:00.000Z",
                "version": 17,
            ]
        )
    }

    @Test func `another issuer, app, environment or customer is refused`() throws {
        let claims = Self.pass([StandingTests.monthly()], at: "2026-05-10").claims
        #expect(try self.refusal(claims) == nil)
        func refusal(_ change: (inout PassExpectation) -> Void) throws -> PassRefusal? {
            var expected = Self.expectation
            change(&expected)
            return try self.refusal(claims, as: expected)
        }
        #expect(try refusal { $0.issuer = "other" } == .wrongIssuer(found: "tideover"))
        #expect(try refusal { $0.audience = "chess" } == .wrongAudience(found: "cards"))
        #expect(
            try refusal { $0.environment = .sandbox } == .wrongEnvironment(found: .production)
        )
        #expect(try refusal { $0.customer = SnapshotTests.ben } == .wrongCustomer)
    }

    @Test func `a pass is valid to the millisecond it ends, whatever the clock`() throws {
        let claims = Self.pass([StandingTests.monthly()], at: "2026-05-31").claims
        #expect(try refusal(claims, at: Self.last.justBefore) == nil)
        let expired = PassRefusal.expired(notAfter: Self.last, now: Self.last)
        #expect(try refusal(claims, at: Self.last) == expired)
        #expect(try refusal(claims, at: "2026-05-31", verified: Self.last) == expired)
    }

    @Test func `a pass from the future is refused beyond the clock tolerance`() throws {
        let claims = Self.pass([StandingTests.monthly()], at: "2026-05-10").claims
        let lagging: Instant = "2026-05-09"
        #expect(try refusal(claims, at: lagging) == nil)
        #expect(
            try refusal(claims, at: lagging.justBefore)
                == .issuedInFuture(issued: "2026-05-10", now: lagging.justBefore)
        )
        #expect(try refusal(claims, at: "2020-01-01", verified: lagging) == nil)
    }

    @Test func `an older pass is refused, except one of another customer`()
        throws
    {
        let lives = [StandingTests.monthly()]
        let held = Self.pass(lives, at: "2026-05-10", version: 5)
        #expect(try refusal(held.claims, holding: held) == nil)
        let cases: [(Int64, Instant, PassRefusal?)] = [
            (6, "2026-05-10", nil), (6, "2026-05-09", nil), (5, "2026-05-11", nil),
            (5, "2026-05-09", .older(version: 5, held: 5)),
            (4, "2026-05-10", .older(version: 4, held: 5)),
            (4, "2026-05-11", .older(version: 4, held: 5)),
        ]
        for (version, issued, reason) in cases {
            let claims = Self.pass(lives, at: issued, version: version).claims
            let found = try refusal(claims, holding: held, at: "2026-05-11")
            #expect(found == reason, "\(version) \(issued.rfc3339)")
        }
        var other = held
        other.customer = SnapshotTests.ben
        let claims = Self.pass(lives, at: "2026-05-10", version: 4).claims
        #expect(try refusal(claims, holding: other) == nil)
    }

    @Test func `claims of another form are refused`() throws {
        let claims = Self.pass([StandingTests.monthly()], at: "2026-05-10").claims
        let text = String(decoding: claims, as: UTF8.self)
        let document = try #require(JSONValue(JSONDocument(claims).root).object)
        for name in document.map(\.key) {
            var cut = document
            cut[name] = nil
            let reason = try refusal(JSONValue.object(cut).encoded())
            #expect(reason == .malformed(.missing(field: name)))
        }
        let twice = text.dropFirst()
        let doubled = try refusal(Array("{\"iss\":\"tideover\",\(twice)".utf8))
        guard case .notJSON = doubled else {
            Issue.record("a name given twice was answered \(String(describing: doubled))")
            return
        }
        let strange = Array(text.replacing("\"active\"", with: "\"lively\"").utf8)
        #expect(
            try refusal(strange) == .malformed(.unknownWord(field: "state", value: "lively"))
        )
        let later = Array(text.replacing("\"paid\"", with: "\"gifted\"").utf8)
        #expect(try refusal(later) == nil)
    }
}
