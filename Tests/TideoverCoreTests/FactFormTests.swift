import Testing
import TideoverCore
import TideoverJSON
import TideoverLives

/// The JSON form of every fact that no generated App Store life contains.
@Suite struct FactFormTests {
    static let customer = CustomerID("anna")

    static let assertions: [Assertion] = {
        var all: [Assertion] = [
            .inquiry(Inquiry(askedAt: "2026-05-01", outcome: .unreachable)),
            .inquiry(Inquiry(askedAt: "2026-05-01", outcome: .unrecognised("WHIM"))),
            .pending(PendingPurchase(id: "1", productId: "monthly", until: "2026-05-02")),
            .pending(PendingPurchase(id: "1", productId: "monthly", isOver: true)),
            .playVoidedOrder(
                PlayVoidedOrder(
                    token: PlayToken("a"),
                    orderId: "GPA.1",
                    date: "2026-05-01",
                    isPartial: true,
                    reason: 7
                )
            ),
            .playVoidedOrder(PlayVoidedOrder(token: PlayToken("a"), date: "2026-05-01")),
            .playReplacement(
                PlayReplacement(token: PlayToken("a"), by: PlayToken("b"), from: "2026-05-01")
            ),
            .playNotice(PlayNotice(token: PlayToken("a"), kind: .renewed, productId: "pro")),
            .playNotice(PlayNotice(token: PlayToken("a"), kind: .unrecognised("99"))),
            .playSubscription(subscription),
            .playSubscription(
                PlaySubscription(
                    token: PlayToken("b"),
                    askedAt: "2026-05-01",
                    state: .unrecognised("SPLENDID")
                )
            ),
            .playPurchase(purchase),
            .playPurchase(
                PlayPurchase(
                    token: PlayToken("c"),
                    askedAt: "2026-05-01",
                    state: .pending,
                    items: []
                )
            ),
            .term(committed), .outlook(committedOutlook),
            .revocation(Revocation(term: TermKey("t:1"), date: "2026-05-02", cause: .withdrawn)),
        ]
        if let customer {
            let expired = PlayToken("a")
            all.append(
                .inferredOwner(
                    InferredOwner(customer: customer, from: "2026-05-01", expired: expired)
                )
            )
        }
        for former in [[], ["anna", "phone"]] {
            guard let customer else { continue }
            all.append(
                .move(
                    OwnershipMove(
                        customer: customer,
                        former: former.compactMap { CustomerID($0) },
                        from: "2026-05-01",
                        why: "another account",
                        by: former.isEmpty ? nil : "support"
                    )
                )
            )
        }
        for end: Instant? in ["2026-06-01", nil] {
            guard let customer else { continue }
            all.append(
                .grant(
                    Grant(
                        id: "g1",
                        customer: customer,
                        entitlement: "premium",
                        start: "2026-05-01",
                        end: end,
                        why: "a week of trouble"
                    )
                )
            )
        }
        return all
    }()

    private static let subscription = PlaySubscription(
        token: PlayToken("b"),
        askedAt: "2026-05-01",
        state: .cancelled,
        items: [
            PlayItem(
                productId: "pro",
                basePlan: "monthly",
                offerId: "spring",
                expiresAt: "2026-06-01",
                plan: .autoRenewing(isOn: true),
                phase: .freeTrial,
                promotionCode: PlayItem.PromotionCode(text: "SPRING"),
                orderId: "GPA.1..0",
                price: Money(milliunits: 9990, currency: "USD"),
                replacement: "basic",
                isRemovedAtExpiry: true,
                priceChange: PlayItem.PriceChange(
                    state: .awaitsConsent,
                    price: Money(milliunits: 12_990, currency: "USD"),
                    chargedFrom: "2026-07-01",
                    consentBy: "2026-06-30"
                ),
                installments: PlayItem.Installments(
                    remainingPayments: 3,
                    isCancellationPending: true
                )
            ),
            PlayItem(productId: "extra", expiresAt: nil, plan: .prepaid(extendableFrom: nil)),
            PlayItem(
                productId: "other",
                expiresAt: "2026-06-01",
                plan: .prepaid(extendableFrom: "2026-05-20"),
                phase: .unrecognised("newPhase")
            ),
            PlayItem(productId: "odd", expiresAt: "2026-06-01", plan: .unstated),
        ],
        startedAt: "2026-04-01",
        replaces: PlayToken("a"),
        follows: PlayToken("c"),
        resumesAt: "2026-07-01",
        cancellation: .customer,
        cancelledAt: "2026-04-20",
        isAcknowledged: false,
        isTest: true,
        region: "DE",
        accountId: customer
    )

    private static let purchase = PlayPurchase(
        token: PlayToken("c"),
        askedAt: "2026-05-01",
        state: .purchased,
        items: [
            PlayPurchase.Item(
                productId: "coins",
                isConsumed: true,
                quantity: 5,
                refundableQuantity: 2
            ), PlayPurchase.Item(productId: "lifetime"),
        ],
        orderId: "GPA.2",
        completedAt: "2026-04-01",
        isAcknowledged: true,
        isTest: true,
        region: "DE",
        accountId: customer
    )

    private static let committed = Term(
        transactionId: "t1",
        productId: "yearly",
        start: "2026-05-01",
        end: "2026-06-01",
        billing: .monthly,
        commitment: Term.Commitment(
            payment: 2,
            payments: 12,
            end: "2027-04-01",
            price: Money(milliunits: 119_880, currency: "EUR")
        )
    )

    private static let committedOutlook = Outlook(
        renewalDate: "2026-06-01",
        billing: .unrecognised("WEEKLY"),
        commitment: Outlook.Commitment(
            willRenew: false,
            renewsInto: "monthly",
            billing: .upfront,
            date: "2027-04-01",
            price: Money(milliunits: 99_000, currency: "EUR")
        )
    )

    private func fact(_ assertion: Assertion) -> Fact {
        Fact(
            lineage: Lineage(store: .googlePlay, environment: .sandbox, id: "chain"),
            assertion: assertion,
            effectiveAt: "2026-05-01",
            assertedAt: "2026-05-02",
            learnedAt: "2026-05-03",
            source: .operator,
            evidence: EvidenceID(hex: "ab")
        )
    }

    @Test(arguments: assertions.indices)
    func `a fact survives its JSON form`(index: Int) throws {
        let fact = fact(Self.assertions[index])
        var writer = JSONWriter()
        fact.write(to: &writer)
        #expect(try Fact(json: JSONDocument(writer.bytes).root) == fact)
        #expect(FormTests.writtenFact(writer.bytes) == fact)
    }

    @Test(arguments: assertions.indices)
    func `a fact has a summary for tables`(index: Int) {
        #expect(!Self.assertions[index].summary.isEmpty)
    }

    @Test func `an item that is no object, or items without an array, are refused`() throws {
        var writer = JSONWriter()
        fact(.playPurchase(Self.purchase)).write(to: &writer)
        let text = String(decoding: writer.bytes, as: UTF8.self)
        let damaged = text.replacing("\"items\":[", with: "\"other\":[1],\"items\":7,\"more\":[")
        let root = try JSONDocument(Array(damaged.utf8)).root
        #expect(throws: FormError.wrongType(field: "items")) { try Fact(json: root) }
    }

    @Test func `an answer is dated by its request on the store's clock`() {
        let asked = Inquiry.instant(
            asked: "2026-05-01T10:00:00Z",
            answered: "2026-05-01T10:00:30Z",
            dated: "2026-05-01T12:00:31Z"
        )
        #expect(asked == "2026-05-01T12:00:01Z")
        // A clock that was set back between the two never makes a request later than its response.
        let odd = Inquiry.instant(asked: "2026-05-02", answered: "2026-05-01", dated: "2026-05-01")
        #expect(odd == "2026-05-01")
        // A clock that moved by thousands of years still gives a writable instant.
        let wild = Inquiry.instant(asked: "2026-05-01", answered: "9045-05-01", dated: "2026-05-01")
        #expect(wild == Instant.writable.lowerBound)
    }

    @Test func `a read and a grant name their owner from the start`() throws {
        let read = try #require(fact(.playSubscription(Self.subscription)).claim)
        #expect(read.customer == Self.customer && read.from == "2026-04-01")
        #expect(read.why == .accountToken)
        let bought = try #require(fact(.playPurchase(Self.purchase)).claim)
        #expect(bought.from == "2026-04-01")
        let grants = Self.assertions.compactMap { assertion -> OwnershipEntry? in
            guard case .grant = assertion else { return nil }
            return fact(assertion).claim
        }
        #expect(grants.map(\.why) == [.granted, .granted])
    }
}
