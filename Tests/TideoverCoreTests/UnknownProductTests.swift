import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// A purchase of a product that the catalogue lacks.
@Suite struct UnknownProductTests {
    private static let now: Instant = "2026-05-10"

    private static func subscription(_ id: String = "1000", until end: Instant = "2026-06-01")
        -> Life
    {
        var life = Life(id)
        life.term("1", "gold", from: "2026-05-01", to: end, origin: .purchase)
        life.outlook(end: end, signed: "2026-05-01", product: "gold")
        return life
    }

    private static func oneTime() -> Life {
        var life = Life("2000")
        life.term("9", "forever", from: "2026-05-01", to: nil, plan: .nonConsumable)
        return life
    }

    private static func play() -> Life {
        var life = Life.play()
        life.read(.active, until: "2026-06-01", at: "2026-05-01", product: "gold")
        return life
    }

    private func standing(
        _ lives: [Life],
        of entitlement: String = "premium",
        policy: Policy = Policy()
    ) throws -> Standing {
        let history = SnapshotTests.history(lives, policy: policy)
        return try #require(history.snapshot(at: Self.now)[entitlement]).standing
    }

    @Test func `only a relay names a product of Google Play without its base plan`() {
        let plan = Product(entitlements: ["premium"])
        let catalogue = Catalogue(products: ["gold:monthly": plan])
        func listed(_ life: Life) -> Set<String> {
            Set(life.facts.map { catalogue.listedID(of: "gold", by: $0) })
        }
        var relayed = Life.play()
        relayed.term("1", "gold", from: "2026-05-01", to: "2026-06-01", rank: .relayed)
        #expect(listed(relayed) == ["gold:monthly"])
        #expect(listed(Self.play()) == ["gold"])
        #expect(listed(Self.subscription()) == ["gold"])
    }

    private static let lives = [
        ("gold", subscription()), ("forever", oneTime()), ("gold", play()),
    ]

    @Test(arguments: lives)
    func `a running unknown product has confidence unknown and advises no purchase`(
        product: String,
        life: Life
    ) throws {
        let history = SnapshotTests.history([life])
        let premium = try #require(history.snapshot(at: Self.now)["premium"])
        #expect(premium.standing.told == "never unknownProduct in-term unknown")
        #expect(premium.standing.productId == product)
        #expect(premium.guidance.advice?.kind == .wait)
        let why = try ExplanationTests.explain(life, at: Self.now)
        #expect(why.why.contains { $0.contains("`\(product)`") })
        #expect(
            why.reply.last
                == "This is our mistake, and we correct it. There is no need to buy again."
        )
    }

    @Test(arguments: lives)
    func `the policy can let it unlock every entitlement or the named ones`(
        product: String,
        life: Life
    ) throws {
        let all = Policy(unknownProduct: .allowAll)
        let some = Policy(unknownProduct: .allow(["premium"]))
        for policy in [all, some] {
            let opened = try standing([life], policy: policy)
            #expect(opened.told == "active unknownProduct in-term presumed")
            #expect(opened.productId == product)
        }
        #expect(try standing([life], of: "archive", policy: all).access)
        #expect(try standing([life], of: "archive", policy: some).reason == .unknownProduct)
        #expect(try !standing([life], of: "archive", policy: some).access)
    }

    @Test func `a policy grants nothing for one that ended or is consumed`() throws {
        let open = Policy(unknownProduct: .allowAll)
        let ended = Self.subscription(until: "2026-05-05")
        var known = ended
        known.condition(.expired, end: "2026-05-05", signed: "2026-05-05T00:01:00Z")
        #expect(try standing([known], policy: open).told.hasPrefix("never unknownProduct"))
        var coins = Life("3000")
        coins.term("8", "gems", from: "2026-05-01", to: nil, plan: .consumable)
        #expect(try standing([coins], policy: open).told == "never notEntitled ended confirmed")
    }

    @Test func `it ranks above ended products and below running ones`() throws {
        var ended = Life("4000")
        ended.term("1", from: "2026-03-01", to: "2026-04-01")
        ended.condition(.expired, end: "2026-04-01", signed: "2026-04-01T00:01:00Z")
        var other = Life("5000")
        other.term("1", "basic", from: "2026-05-01", to: "2026-06-01")
        let unlisted = try standing([ended, other, Self.subscription()])
        #expect(unlisted.told == "never unknownProduct in-term unknown")
        var running = Life("6000")
        running.term("1", from: "2026-05-01", to: "2026-06-01")
        #expect(
            try standing([running, Self.subscription()]).told == "active paid in-term confirmed"
        )
    }

    @Test func `a change to an unknown product gives never, not expired`() throws {
        var life = Life()
        life.term("1", from: "2026-04-01", to: "2026-05-01")
        life.term("2", "gold", from: "2026-05-01", to: "2026-06-01")
        #expect(try standing([life]).told == "never unknownProduct in-term unknown")
    }

    @Test func `the policy survives its JSON form`() throws {
        for choice in [Policy.UnknownProduct.deny, .allowAll, .allow(["a", "b"])] {
            let policy = Policy(unknownProduct: choice)
            var writer = JSONWriter()
            policy.write(to: &writer)
            #expect(try Policy(json: try JSONDocument(writer.bytes).root) == policy)
        }
        let other = try JSONDocument(Array(#"{"unknownProduct":"allow"}"#.utf8)).root
        #expect(throws: FormError.self) { try Policy(json: other) }
    }
}
