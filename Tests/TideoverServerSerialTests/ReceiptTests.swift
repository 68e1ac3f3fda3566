import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverSandbox
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// Receipts of StoreKit 1 and responses of verifyReceipt, as the simulated store writes them.
struct ReceiptTests {
    // MARK: Facts

    @Test(arguments: ReceiptForm.allCases)
    func `a receipt and the answer about it state the same facts`(form: ReceiptForm) throws {
        let store = try ReceiptStore.nine()
        #expect(try store.receipt().purchaseCount == 9)
        let receipt = try store.read(store.container(form))
        let answer = try AppStoreReader(app: store.trust().identity).readReceiptAnswer(
            store.answer(),
            askedOf: .simulated
        )
        // Nine terms and a refund; only a response states whether it renews.
        #expect(receipt.allFacts.count == 10)
        #expect(answer.allFacts.count == 11)
        #expect(Set(answer.allFacts.compactMap(\.asReceiptsTell)) == Set(receipt.allFacts))
    }

    @Test func `an answer from a client states the facts of its receipt`() throws {
        let store = try ReceiptStore.nine()
        let receipt = try store.read(store.container())
        let answer = try store.read(store.answer())
        #expect(answer.allFacts == receipt.allFacts)
        #expect(answer.kind == .receipt)
        #expect(answer.notes.contains(.answerNotSigned))
        #expect(answer.dedupeKey == receipt.dedupeKey)
    }

    @Test func `content of an answer outside its receipt is ignored`() throws {
        let store = try ReceiptStore.nine()
        let text = String(decoding: try store.answer(), as: UTF8.self)
        let forged = text.replacing("\"expires_date_ms\":\"17", with: "\"expires_date_ms\":\"97")
        #expect(forged != text)
        #expect(
            try store.read(Array(forged.utf8)).allFacts == store.read(store.container()).allFacts
        )
        let bare = try store.receipt().answer(carrying: nil)
        #expect(throws: Refused.unsignedAnswer) { try store.read(bare) }
    }

    @Test func `all forms of a receipt decode alike, in binary and in base64`() throws {
        let store = try ReceiptStore.nine()
        let der = try store.read(store.container(.der))
        let ber = try store.read(store.container(.ber))
        #expect(try store.container(.der) != store.container(.ber))
        #expect(ber.receipt == der.receipt)
        #expect(ber.dedupeKey == der.dedupeKey)
        let text = Base64.encodeString(try store.container(.der), .standard)
        let lines = stride(from: 0, to: text.utf8.count, by: 76).map { start in
            String(text.dropFirst(start).prefix(76))
        }
        #expect(try store.read(Array(text.utf8)).receipt == der.receipt)
        #expect(
            try store.read(Array((lines.joined(separator: "\r\n") + "\n").utf8)).receipt
                == der.receipt
        )
    }

    @Test func `each purchase is a term, and a cancelled one is refunded or replaced`() throws {
        let store = try ReceiptStore.nine()
        let reading = try store.read(store.container())
        let terms = reading.terms
        #expect(terms.count == 9)
        #expect(Set(terms.map(\.key)).count == 9)
        #expect(terms.allSatisfy { $0.plan == .autoRenewable && $0.webOrderLineItemId != nil })
        #expect(
            terms.map(\.start) == [
                "2025-09-01", "2025-09-08", "2025-10-08", "2025-11-08", "2025-12-08", "2026-01-10",
                "2026-02-10", "2026-03-10", "2026-03-25",
            ]
        )
        #expect(terms.map(\.end).first == "2025-09-08")
        #expect(terms.map(\.end).last == "2027-03-25")
        #expect(terms[0].offer == Offer(kind: .introductory, discount: .freeTrial))
        #expect(terms[1...].allSatisfy { $0.offer == nil })
        #expect(
            terms.map(\.isRevoked) == [
                false, false, false, false, true, false, false, false, false,
            ]
        )
        #expect(
            terms.map(\.isUpgraded) == [
                false, false, false, false, false, false, false, true, false,
            ]
        )
        #expect(
            reading.revocations == [
                Revocation(term: terms[4].key, date: "2025-12-20", cause: .refund)
            ]
        )
        #expect(Set(reading.allFacts.map(\.lineage)).count == 1)
        #expect(Set(reading.allFacts.map(\.assertedAt)) == ["2026-04-01"])
        #expect(reading.signedAt == "2026-04-01")
        #expect(Set(reading.allFacts.map(\.rank)) == [.store])
    }

    @Test func `a receipt alone gives the state of the store for each day`() throws {
        let store = try ReceiptStore.nine()
        let catalogue = Catalogue(products: [
            ReceiptStore.monthly: Product(entitlements: ["premium"], period: Period(months: 1)),
            ReceiptStore.yearly: Product(entitlements: ["premium"], period: Period(years: 1)),
        ])
        let facts = try store.read(store.container()).allFacts
        let history = try #require(LineageHistory.all(of: facts, catalogue: catalogue).first)
        var instant: Instant = "2025-09-01T12:00:00Z"
        var days = 0
        while instant < "2026-04-01" {
            let truth = store.machine.truth(of: "anna", at: instant.millisecondsSince1970)
            let standing = history.standing(
                at: instant,
                policy: Policy(renewalLeeway: .zero)
            )
            #expect(standing.access == truth.isEntitled, "\(instant.rfc3339)")
            instant = instant + .days(1)
            days += 1
        }
        #expect(days == 212)
    }

    @Test func `an answer states the future of the subscription`() throws {
        var store = try ReceiptStore(at: "2026-01-01")
        func outlook(_ store: ReceiptStore) throws -> Outlook {
            let reader = AppStoreReader(app: try store.trust().identity)
            let outlooks = try reader.readReceiptAnswer(store.answer(), askedOf: .simulated)
                .outlooks
            #expect(outlooks.count == 1)
            return try #require(outlooks.first)
        }
        var expected = Outlook(
            renewalDate: "2026-02-01",
            productId: ReceiptStore.monthly,
            renewsInto: ReceiptStore.monthly,
            willRenew: true
        )
        try store.act(.subscribe(product: ReceiptStore.monthly, trial: .declined))
        #expect(try outlook(store) == expected)

        try store.act(.cancel(product: nil))
        expected.willRenew = false
        #expect(try outlook(store) == expected)

        try store.act(.reenable(product: nil))
        try store.act(.failPayments)
        store.pass(until: "2026-02-03")
        expected.willRenew = true
        expected.isRetrying = true
        expected.lapse = .billingError
        expected.graceEnd = "2026-02-17"
        #expect(try outlook(store) == expected)

        store.pass(until: "2026-05-01")
        expected.willRenew = false
        expected.isRetrying = false
        let ended = try outlook(store)
        #expect(ended.lapse == .billingError)
        #expect(ended.isRetrying == false)
        #expect(ended.renewalDate == "2026-02-01")
    }

    // MARK: Trust

    @Test func `the verifying root decides the environment, and the receipt must match it`() throws
    {
        let production = try ReceiptStore.nine()
        let sandbox = try ReceiptStore.nine(environment: .sandbox)
        let both: Set<Environment> = [.production, .sandbox, .simulated, .xcode]
        func environment(of store: ReceiptStore, _ authority: Authority) throws -> Environment {
            try store.trust(as: authority, environments: both)
                .read(store.container(), at: "2026-05-01").environment
        }
        #expect(try environment(of: production, .appStore) == .production)
        #expect(try environment(of: sandbox, .appStore) == .sandbox)
        #expect(try environment(of: production, .simulated) == .simulated)
        #expect(try environment(of: sandbox, .pinned(.sandbox)) == .sandbox)
        #expect(throws: Refused.environmentNotVouchedFor(found: "Sandbox")) {
            try environment(of: sandbox, .pinned(.production))
        }
        #expect(throws: Refused.self) {
            try sandbox.trust(as: .appStore, environments: [.production])
                .read(sandbox.container(), at: "2026-05-01")
        }
        let simulated = try production.read(production.container())
        #expect(simulated.notes.contains(.claimsEnvironment("Production", instead: .simulated)))
    }

    @Test func `a receipt for another app or under another root is rejected`() throws {
        let store = try ReceiptStore.nine()
        let container = try store.container()
        #expect(
            throws: Refused.wrongBundle(
                expected: "com.example.other",
                found: ReceiptStore.bundleId
            )
        ) {
            try store.trust(bundleId: "com.example.other").read(container, at: "2026-05-01")
        }
        let stranger = try ReceiptStore.stranger.get().root
        #expect(throws: SignatureRefusal.untrustedRoot) {
            try store.trust(root: stranger).read(container, at: "2026-05-01")
        }
        let nobody = AppStoreTrust(identity: try store.trust().identity, authorities: [:])
        #expect(throws: SignatureRefusal.untrustedRoot) {
            try nobody.read(container, at: "2026-05-01")
        }
        #expect(
            throws: Refused.wrongBundle(
                expected: "com.example.other",
                found: ReceiptStore.bundleId
            )
        ) {
            try AppStoreReader(app: store.trust(bundleId: "com.example.other").identity)
                .readReceiptAnswer(store.answer(), askedOf: .simulated)
        }
    }

    @Test func `certificates must be valid at the creation of the receipt`() throws {
        let store = try ReceiptStore.nine()
        let content = try store.receipt().content()
        func read(notBefore: Instant, notAfter: Instant) throws -> AppStoreReading {
            let authority = try ReceiptAuthority(
                notBefore: notBefore.millisecondsSince1970,
                notAfter: notAfter.millisecondsSince1970
            )
            return try store.trust(root: authority.root)
                .read(authority.signed(content), at: "2026-05-01")
        }
        #expect(try read(notBefore: "2025-01-01", notAfter: "2026-04-02").allFacts.count == 10)
        #expect(throws: SignatureRefusal.self) {
            try read(notBefore: "2025-01-01", notAfter: "2026-03-31")
        }
        #expect(throws: SignatureRefusal.self) {
            try read(notBefore: "2026-04-02", notAfter: "2027-01-01")
        }
    }

    @Test func `each root of receipts has its environments`() throws {
        let root = try TrustAnchor(
            name: "receipts",
            der: ReceiptStore.authority.get().root,
            keys: .rsa
        )
        let other = try TrustAnchor(
            name: "simulated",
            der: ReceiptStore.stranger.get().root,
            keys: .rsa
        )
        let same = try TrustAnchor(name: "simulated", der: root.der, keys: .rsa)
        #expect(AppStoreTrust.receiptRoots(appStore: nil, simulated: nil) == [:])
        #expect(
            AppStoreTrust.receiptRoots(appStore: root, simulated: other)
                == [root: .appStore, other: .simulated]
        )
        #expect(AppStoreTrust.receiptRoots(appStore: root, simulated: same) == [root: .appStore])
        #expect(AppStoreTrust.receiptRoots(appStore: nil, simulated: same) == [same: .simulated])
    }

    // MARK: Invalid responses

    @Test(arguments: [
        21000, 21002, 21003, 21004, 21005, 21006, 21007, 21008, 21009, 21010, 21150, 9,
    ])
    func `an answer with a status other than 0 is rejected with the status`(status: Int64) throws {
        let store = try ReceiptStore.nine()
        let body = Array(#"{"status": \#(status), "environment": "Sandbox"}"#.utf8)
        #expect(throws: Refused.receiptStatus(status)) { try store.read(body) }
        let refusal = Refused.receiptStatus(status)
        #expect(refusal.code == "receipt-status")
        #expect(refusal.sentence.contains("\(status)"))
    }

    @Test func `numbers and flags decode from text and from their own types`() throws {
        let text = """
            {"status": 0, "environment": "Sandbox",
             "receipt": {"bundle_id": "com.example.cards", "request_date_ms": 1775001600000},
             "latest_receipt_info": [{
               "transaction_id": 2, "original_transaction_id": "1", "product_id": "a",
               "web_order_line_item_id": 3, "purchase_date_ms": "1774915200000",
               "expires_date_ms": 1777593600000, "is_trial_period": false,
               "is_in_intro_offer_period": "true", "cancellation_date_ms": "", "quantity": "1"}],
             "pending_renewal_info": [{
               "original_transaction_id": 1, "auto_renew_status": 1, "price_consent_status": "0",
               "offer_code_ref_name": "SPRING"}]}
            """
        let identity = AppStoreIdentity(bundleId: ReceiptStore.bundleId, environments: [.sandbox])
        #expect(
            throws: Refused.malformed(field: "latest_receipt_info.cancellation_date_ms")
        ) {
            try AppStoreReader(app: identity).readReceiptAnswer(
                Array(text.utf8),
                askedOf: .appStore
            )
        }
        let body = Array(text.replacing(#""cancellation_date_ms": "", "#, with: "").utf8)
        let reading = try AppStoreReader(app: identity).readReceiptAnswer(body, askedOf: .appStore)
        #expect(
            reading.terms == [
                Term(
                    transactionId: "2",
                    webOrderLineItemId: "3",
                    productId: "a",
                    start: "2026-03-31",
                    end: "2026-05-01",
                    offer: Offer(kind: .introductory)
                )
            ]
        )
        #expect(
            reading.outlooks == [
                Outlook(
                    renewalDate: "2026-05-01",
                    willRenew: true,
                    priceIncreasePending: true,
                    offer: Offer(kind: .code, identifier: "SPRING")
                )
            ]
        )
        #expect(reading.signedAt == "2026-04-01")
        #expect(reading.environment == .sandbox)
    }

    @Test func `shared purchases and purchases without a kind are recognised`() throws {
        let purchase = """
            "original_transaction_id": "1", "product_id": "a", "purchase_date_ms": "1774915200000"
            """
        let text = """
            {"status": 0, "environment": "Sandbox",
             "receipt": {"bundle_id": "com.example.cards", "request_date_ms": "1775001600000"},
             "latest_receipt_info": [
               {"transaction_id": "1", \(purchase), "expires_date_ms": "1777593600000",
                "in_app_ownership_type": "FAMILY_SHARED", "cancellation_date_ms": "1774999999000"},
               {"transaction_id": "2", \(purchase), "expires_date_ms": "1777593600000",
                "in_app_ownership_type": "BORROWED"},
               {"transaction_id": "3", \(purchase)}]}
            """
        let identity = AppStoreIdentity(bundleId: ReceiptStore.bundleId, environments: [.sandbox])
        let reading = try AppStoreReader(app: identity).readReceiptAnswer(
            Array(text.utf8),
            askedOf: .appStore
        )
        #expect(reading.terms.map(\.transactionId) == ["1"])
        #expect(reading.revocations.map(\.cause) == [.familyAccessRemoved])
        #expect(reading.allFacts.first?.lineage.ownership == .familyShared)
        #expect(
            reading.unrecognised == [
                Unrecognised(field: "inAppOwnershipType", value: "BORROWED")
            ]
        )
        #expect(reading.notes.contains(.unknownOwnership("BORROWED")))
        #expect(reading.notes.contains(.incompleteTransaction(missing: ["product type"])))
        #expect(reading.notes.contains(.familyShared))
    }
}
