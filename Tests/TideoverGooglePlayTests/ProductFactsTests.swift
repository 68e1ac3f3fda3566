import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverJSON

struct ProductFactsTests {
    private func purchase(
        _ changes: JSONObject = [:],
        offer: JSONObject = [:]
    ) throws -> PlayPurchase {
        let reading = try FakeStore.read(FakeStore.product(changes, offer: offer), .product)
        let facts = FakeStore.facts(reading, at: FakeStore.start + .days(2))
        guard case .playPurchase(let read)? = facts.first?.assertion else {
            throw PlayRefusal.missingMember("fact")
        }
        return read
    }

    @Test func `a one-time purchase contains every field of the answer`() throws {
        let read = try purchase(
            ["obfuscatedExternalAccountId": "u_42"],
            offer: [
                "quantity": 3, "refundableQuantity": 2,
                "consumptionState": "CONSUMPTION_STATE_YET_TO_BE_CONSUMED",
            ]
        )
        #expect(
            read
                == PlayPurchase(
                    token: PlayToken("#token"),
                    askedAt: FakeStore.start + .days(1),
                    state: .purchased,
                    items: [
                        PlayPurchase.Item(
                            productId: "lifetime",
                            quantity: 3,
                            refundableQuantity: 2
                        )
                    ],
                    orderId: "GPA.9",
                    completedAt: FakeStore.start,
                    isAcknowledged: false,
                    region: "DE",
                    accountId: CustomerID("u_42")
                )
        )
    }

    @Test(
        arguments: [
            ("PURCHASED", .purchased), ("PENDING", .pending), ("CANCELLED", .cancelled),
            ("GIFTED", .unrecognised("GIFTED")),
        ] as [(String, PlayPurchase.State)]
    )
    func `every state is known`(word: String, expected: PlayPurchase.State) throws {
        let context: JSONValue = ["purchaseState": .string(word)]
        #expect(try purchase(["purchaseStateContext": context]).state == expected)
    }

    @Test func `consumed purchases and purchases of testers are marked`() throws {
        let used = try purchase(offer: ["consumptionState": "CONSUMPTION_STATE_CONSUMED"])
        #expect(used.items.map(\.isConsumed) == [true])
        let test = FakeStore.product(["testPurchaseContext": ["fopType": "TEST"]])
        #expect(try FakeStore.read(test, .product).environment == .sandbox)
    }

    @Test func `an account id that nothing can be stored under is none`() throws {
        #expect(try purchase(["obfuscatedExternalAccountId": "a\0b"]).accountId == nil)
    }

    @Test func `an answer without a state is refused`() {
        #expect(throws: PlayRefusal.missingMember("purchaseState")) {
            try purchase(["purchaseStateContext": nil])
        }
    }

    // MARK: Voided

    private func voided(_ changes: JSONObject = [:], chains: PlayChains = PlayChains()) throws
        -> [Fact]
    {
        var order: JSONObject = [
            "kind": "androidpublisher#voidedPurchase", "purchaseToken": "token",
            "orderId": "GPA.9", "purchaseTimeMillis": "1777593600000",
            "voidedTimeMillis": "1778061600000", "voidedSource": 1, "voidedReason": 7,
        ]
        for (name, value) in changes { order[name] = value.isNull ? .none : value }
        let list: JSONObject = ["voidedPurchases": [.object(order)]]
        let reading = try FakeStore.read(list, .voidedPurchases, of: nil, chains: chains)
        return FakeStore.facts(reading, at: FakeStore.end)
    }

    @Test func `a voided order is dated by when it was voided, not by the read`() throws {
        let date = Instant(millisecondsSince1970: 1_778_061_600_000)
        let facts = try voided()
        let order = PlayVoidedOrder(
            token: PlayToken("#token"),
            orderId: "GPA.9",
            date: date,
            reason: 7
        )
        #expect(facts.map(\.assertion) == [.playVoidedOrder(order)])
        #expect(facts.map(\.assertedAt) == [date])
        #expect(facts.map(\.rank) == [.store])
    }

    @Test func `a refunded quantity makes a partial refund, and an unknown value is kept`() throws {
        let facts = try voided(["voidedQuantity": 1, "voidedReason": 99])
        guard case .playVoidedOrder(let order)? = facts.first?.assertion else { return }
        #expect(order.isPartial)
        #expect(order.reason == 99)
        let word = Unrecognised(field: "voidedReason", value: "99")
        #expect(facts.last?.assertion == .unrecognised(word))
    }

    @Test func `an order is recorded under the lineage of its token`() throws {
        let lineage = Lineage(store: .googlePlay, environment: .sandbox, id: "#oldest")
        let facts = try voided(chains: PlayChains([PlayToken("#token"): lineage]))
        #expect(facts.map(\.lineage) == [lineage])
    }

    @Test(arguments: ["purchaseToken", "voidedTimeMillis"])
    func `an order without subject or date is left out of the list`(name: String) throws {
        #expect(try voided([name: nil]).isEmpty)
        var orders: [JSONObject] = ["1", "2"].map {
            [
                "purchaseToken": .string("token-\($0)"), "orderId": .string("GPA.\($0)"),
                "voidedTimeMillis": "1778061600000",
            ]
        }
        orders[0][name] = nil
        let list: JSONObject = ["voidedPurchases": .array(orders.map { .object($0) })]
        let reading = try FakeStore.read(list, .voidedPurchases, of: nil)
        let facts = FakeStore.facts(reading, at: FakeStore.end)
        let order = PlayVoidedOrder(
            token: PlayToken("#token-2"),
            orderId: "GPA.2",
            date: Instant(millisecondsSince1970: 1_778_061_600_000)
        )
        #expect(facts.map(\.assertion) == [.playVoidedOrder(order)])
    }
}
