import TideoverCore
import TideoverJSON
import TideoverSignatures

extension Fuzzer {
    static let pass = Fuzzer(
        "pass",
        promise: """
            what is believed is, byte for byte, a pass that a real key signed; whatever such a key \
            signs, claims that are believed are for this app, environment and customer, read again \
            as the same, and give no access at or after their end, also with a clock that was set back
            """,
        maximumByteCount: 4096,
        seeds: { PassSeeds.all },
        words: [
            "\"alg\":\"EdDSA\"", "\"alg\":\"none\"", "\"typ\":\"tideover-pass\"",
            "\"kid\":\"former\"",
            "\"notAfter\":\"2026-05-17T00:00:00.000Z\"", "\"state\":\"grace\"", "\"accessUntil\":",
            "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z", "\"willRenew\":true",
        ],
        mutate: CompactMutations.any,
        check: { input in
            if let claims = PassChecks.verified(input) {
                expect(PassSeeds.believable.contains(input), "accepted without a signature")
                PassChecks.hold(claims)
            }
            // Checks the claims as if they were signed, because changed ones always fail the
            // signature.
            if let jws = try? JWS(input) { PassChecks.hold(jws.payload) }
        }
    )
}

private enum PassChecks {
    private static let expected = PassExpectation(
        issuer: PassSeeds.issuer,
        audience: PassSeeds.audience,
        customer: PassSeeds.customer,
        environment: .production
    )

    static func verified(_ input: [UInt8]) -> [UInt8]? {
        do {
            let jws = try JWS(input)
            try jws.verify(with: PassSeeds.keys, type: Pass.documentType)
            return jws.payload
        } catch {
            expect(!PassSeeds.believable.contains(input), "an original is not believed: \(error)")
            return nil
        }
    }

    static func hold(_ claims: [UInt8]) {
        for clock in [PassSeeds.issued, PassSeeds.issued + .days(3)] {
            let time = DeviceTime(clock: clock)
            guard
                let pass = try? Pass(
                    believing: claims,
                    as: expected,
                    holding: nil,
                    at: time
                )
            else { continue }
            expect(
                pass.issuer == expected.issuer && pass.audience == expected.audience
                    && pass.customer == expected.customer
                    && pass.environment == expected.environment,
                "accepted for another audience"
            )
            expect(clock < pass.notAfter, "believed after its end")
            let again = unfailing("claims cannot be read again") {
                try Pass(json: JSONDocument(pass.claims, limits: .local).root)
            }
            expect(again == pass, "claims read again as something else")
            for entitlement in pass.entitlements { hold(entitlement, of: pass) }
        }
    }

    private static func hold(_ entitlement: Pass.Entitlement, of pass: Pass) {
        let end = min(pass.notAfter, entitlement.notAfter)
        let dates = [pass.issued, end, entitlement.accessUntil, entitlement.nextChange]
            .compactMap(\.self)
        let instants = dates.flatMap { [$0 - Milliseconds(1), $0, $0 + Milliseconds(1)] }
        for instant in instants {
            let answer = pass.answer(on: entitlement.name, at: DeviceTime(clock: instant))
            expect(!answer.access || instant < end, "access after the end of the pass")
            expect(!answer.access || pass.issued < end, "access from a pass that never began")
            if case .stated(let stated) = answer, stated.access, let until = stated.accessUntil {
                expect(instant < until, "stated, but its access was over")
            }
            let back = DeviceTime(clock: .distantPast, newestVerified: instant)
            let same = pass.answer(on: entitlement.name, at: back)
            expect(same == answer, "a clock set back changes the answer")
        }
    }
}

private enum PassSeeds {
    static let issuer = "tideover"
    static let audience = "cards"
    static let customer = unfailing("an id is none") { try found(CustomerID("anna")) }
    static let issued = unfailing("a time is none") {
        try found(Instant(rfc3339: "2026-05-10T00:00:00Z"))
    }

    private static let key = unfailing("a seed is no key") {
        try Ed25519PrivateKey(seed: [UInt8](repeating: 7, count: 32))
    }
    private static let former = unfailing("a seed is no key") {
        try Ed25519PrivateKey(seed: [UInt8](repeating: 8, count: 32))
    }
    private static let unknown = unfailing("a seed is no key") {
        try Ed25519PrivateKey(seed: [UInt8](repeating: 9, count: 32))
    }
    static let keys = Ed25519KeySet(["now": key.publicKey, "former": former.publicKey])

    /// The payloads that the two known keys signed as passes.
    static let believable: Set<[UInt8]> = Set(
        passes.map { document("now", Pass.documentType, key, $0) }
            + [document("former", Pass.documentType, former, pass())]
    )

    static let all: [[UInt8]] =
        believable.sorted { $0.lexicographicallyPrecedes($1) } + [
            document("now", "JWT", key, pass()),
            document("now", Pass.documentType, former, pass()),
            document("next", Pass.documentType, unknown, pass()),
            document("now", Pass.documentType, unknown, pass()),
        ]

    private static let passes: [Pass] = [
        pass(), pass(.grace), pass(.hold), pass(.expired), pass(.never),
        pass(accessUntil: issued + .days(20)), pass(accessUntil: issued - .days(1)),
        pass(audience: "chess"), pass(environment: .sandbox), pass(issued: issued - .days(8)),
        pass(issued: issued + .days(2)),
    ]

    private static func pass(
        _ state: State = .active,
        accessUntil: Instant? = issued + .days(4),
        audience: String = audience,
        environment: Environment = .production,
        issued: Instant = issued
    ) -> Pass {
        Pass(
            issuer: issuer,
            audience: audience,
            customer: customer,
            environment: environment,
            issued: issued,
            notAfter: issued + .days(7),
            version: 17,
            entitlements: [
                Pass.Entitlement(
                    name: "premium",
                    state: state,
                    reason: "paid",
                    productId: "cards.pro.monthly",
                    accessUntil: accessUntil,
                    willRenew: true,
                    nextChange: accessUntil,
                    notAfter: issued + .days(7)
                ),
                Pass.Entitlement(
                    name: "archive",
                    state: .active,
                    reason: "lifetime",
                    notAfter: issued + .days(2)
                ),
            ]
        )
    }

    private static func document(
        _ id: String,
        _ type: String,
        _ key: Ed25519PrivateKey,
        _ pass: Pass
    ) -> [UInt8] {
        unfailing("a pass is too long") {
            try JWS.sign(
                header: ["alg": "EdDSA", "typ": .string(type), "kid": .string(id)],
                payload: pass.claims,
                by: { key.sign($0) }
            )
        }
    }

    private struct Missing: Error {}

    private static func found<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Missing() }
        return value
    }
}
