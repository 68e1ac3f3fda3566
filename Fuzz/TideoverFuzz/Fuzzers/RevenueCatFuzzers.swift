import TideoverCore
import TideoverJSON
import TideoverRevenueCat

extension Fuzzer {
    static let revenueCat = Fuzzer(
        "revenuecat",
        promise: """
            what RevenueCat posts is read, or refused in words of its own, as malformed only where a \
            second reader refuses the JSON; its facts are a relay's, of the environment it states, keep \
            the promises of notifications, and stay where they are once they are joined to the stores' \
            chains
            """,
        maximumByteCount: 8192,
        seeds: { RevenueCatSeeds.webhooks },
        words: RevenueCatSeeds.words,
        mutate: Mutations.json,
        check: { RevenueCatChecks.webhook($0) }
    )

    static let revenueCatImport = Fuzzer(
        "revenuecat-import",
        promise: """
            a file of RevenueCat's answers has the same lines with the same verdicts wherever its bytes are \
            cut, and wherever it is gone on; a line that is read reads again, by itself, as the same, and its \
            facts keep the promises of notifications
            """,
        maximumByteCount: 8192,
        seeds: { RevenueCatSeeds.files },
        words: RevenueCatSeeds.words,
        mutate: RevenueCatMutations.line,
        check: { RevenueCatChecks.file($0) }
    )
}

private enum RevenueCatChecks {
    private static let reader = RevenueCatReader(
        environments: [.production, .sandbox],
        catalogue: FactChecks.catalogue
    )
    private static let now = Instant(millisecondsSince1970: 1_780_272_000_000)
    private static let evidence = EvidenceID(hex: "00")

    static func webhook(_ body: [UInt8]) {
        do {
            let reading = try reader.event(body: body)
            expect(!reading.dedupeKey.isEmpty, "an event without a key")
            let told = reading.facts(learnedAt: now, evidence: evidence)
            expect(
                told.allSatisfy { $0.lineage.environment == reading.environment },
                "a fact of another environment than the event's"
            )
            expect(
                Set(reading.claims(at: now).map(\.lineage)).isSubset(of: reading.lineages),
                "a claim to what nothing is said of"
            )
            for note in reading.notes { expect(!note.sentence.isEmpty, "a note without words") }
            facts(told)
        } catch {
            refusal(error, body, depth: JSONLimits.inbound.maxDepth)
        }
    }

    static func file(_ bytes: [UInt8]) {
        let whole = lines(bytes, cutAt: [])
        let third = bytes.count / 3
        expect(
            lines(bytes, cutAt: [1, third, 2 * third]) == whole,
            "where its bytes are cut makes a difference"
        )
        for line in whole {
            guard case .read(let reading) = line.verdict else {
                expect(line.sentence?.isEmpty == false, "a line is refused without words")
                continue
            }
            let again = unfailing("a line that was read is refused by itself") {
                try reader.answer(line: line.text)
            }
            expect(again == reading, "by itself a line says something else")
            facts(reading.facts(learnedAt: now, source: .imported, evidence: evidence))
        }
        guard let first = whole.first else { return }
        let rest = bytes.dropFirst(Int(first.position.bytes))
        var resumed = RevenueCatImport(reader: reader, from: first.position)
        let more = resumed.take(rest) + [resumed.finish()].compactMap(\.self)
        expect(more == Array(whole.dropFirst()), "gone on behind a line it reads otherwise")
    }

    private static func lines(_ bytes: [UInt8], cutAt places: [Int]) -> [ImportedLine] {
        var reading = RevenueCatImport(reader: reader)
        var lines: [ImportedLine] = []
        var start = 0
        for end in (places + [bytes.count]).sorted() where end >= start && end <= bytes.count {
            lines += reading.take(bytes[start..<end])
            start = end
        }
        return lines + [reading.finish()].compactMap(\.self)
    }

    private static func facts(_ facts: [Fact]) {
        expect(facts.allSatisfy { $0.rank == .relayed }, "a relay has the rank of a store")
        for fact in facts { FactChecks.form(of: fact) }
        let chains = StoreChains(facts)
        let joined = facts.map(chains.joined)
        expect(joined.map(chains.joined) == joined, "what was joined moves again")
        if !facts.isEmpty { FactChecks.standing(joined) }
    }

    private static func refusal(_ refusal: RevenueCatRefusal, _ body: [UInt8], depth: Int) {
        expect(!refusal.code.isEmpty && !refusal.sentence.isEmpty, "a refusal without words")
        guard case .malformedJSON(let error) = refusal else { return }
        expect(
            PlainJSON.read(body, depth: depth) == nil,
            "refused, but a second reader accepts it: \(error)"
        )
    }
}

enum RevenueCatMutations {
    /// Changes one line, or the bytes of all lines.
    @Sendable static func line(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        let end = UInt8(ascii: "\n")
        var lines = input.split(separator: end, omittingEmptySubsequences: false).map(Array.init)
        guard !dice.one(in: 6), !lines.isEmpty else { return Mutations.bytes(input, most: most) }
        let place = dice.number(below: lines.count)
        lines[place] = Mutations.json(lines[place], most, &dice)
        let changed = Array(lines.joined(separator: [end]))
        return changed.count <= most ? changed : Mutations.bytes(input, most: most)
    }
}

/// Written by hand from RevenueCat's documentation.
enum RevenueCatSeeds {
    static let webhooks = kinds.map { webhook($0) } + sparse.map { sparse($0) }

    private static let kinds = [
        #""type":"INITIAL_PURCHASE""#, #""type":"RENEWAL","is_trial_conversion":true"#,
        #""type":"NON_RENEWING_PURCHASE""#, #""type":"UNCANCELLATION""#,
        #""type":"CANCELLATION","cancel_reason":"CUSTOMER_SUPPORT""#,
        #""type":"BILLING_ISSUE","grace_period_expiration_at_ms":1781654400000"#,
        #""type":"EXPIRATION","expiration_reason":"BILLING_ERROR""#,
        #""type":"PRODUCT_CHANGE","new_product_id":"cards.pro.yearly""#,
        #""type":"SUBSCRIPTION_PAUSED","auto_resume_at_ms":1781654400000"#,
        #""type":"SUBSCRIPTION_EXTENDED""#, #""type":"REFUND_REVERSED""#,
        #""type":"TEMPORARY_ENTITLEMENT_GRANT""#, #""type":"TEST""#,
        #""type":"TRANSFER","transferred_from":["a"],"transferred_to":["b"]"#,
    ]

    /// Events with few members, without an environment or with another name for it.
    private static let sparse = [
        #""type":"TEMPORARY_ENTITLEMENT_GRANT","store":"APP_STORE""#,
        #""type":"TEMPORARY_ENTITLEMENT_GRANT","entitlement_ids":["premium"],"transaction_id":"t""#,
        #""type":"VIRTUAL_CURRENCY_TRANSACTION","purchase_environment":"SANDBOX","adjustments":[]"#,
        #""type":"EXPERIMENT_ENROLLMENT","experiment_id":"e","aliases":["anna","b"]"#,
        #""type":"INVOICE_ISSUANCE","environment":"PRODUCTION","period_type":null"#,
        #""type":"SUBSCRIBER_ALIAS","aliases":["anna","$RCAnonymousID:1"]"#,
        #""type":"PAYWALL_SHOWN","store":{"name":1}"#,
    ]

    private static func sparse(_ kind: String) -> [UInt8] {
        Array(
            (#"{"api_version":"1.0","event":{\#(kind),"id":"E-2","#
                + #""event_timestamp_ms":1780272000000,"app_user_id":"anna"}}"#).utf8
        )
    }

    private static func webhook(_ kind: String) -> [UInt8] {
        Array(
            """
            {"api_version":"1.0","event":{\(kind),"id":"E-1","event_timestamp_ms":1780272000000,\
            "app_user_id":"anna","original_app_user_id":"$RCAnonymousID:1","aliases":["anna"],\
            "product_id":"cards.pro.monthly","entitlement_ids":["premium"],"period_type":"NORMAL",\
            "purchased_at_ms":1777629600000,"expiration_at_ms":1780308000000,"store":"APP_STORE",\
            "environment":"PRODUCTION","transaction_id":"2","original_transaction_id":"1",\
            "price_in_purchased_currency":9.99,"currency":"USD"}}
            """.utf8
        )
    }

    static let files = [
        Array(answer("app_store", "normal").joined(separator: "\n").utf8),
        Array((answer("play_store", "trial") + ["{", ""]).joined(separator: "\r\n").utf8),
        Array(answer("promotional", "promotional").joined(separator: "\n\n").utf8),
    ]

    private static func answer(_ store: String, _ period: String) -> [String] {
        ["700", "GPA.1..2"].map { transaction in
            """
            {"app_user_id":"anna","request_date_ms":1780272000000,"subscriber":{\
            "original_app_user_id":"anna","subscriptions":{"cards.pro.monthly":{\
            "purchase_date":"2026-05-01T10:00:00Z","expires_date":"2026-06-01T10:00:00Z",\
            "period_type":"\(period)","store":"\(store)","is_sandbox":false,\
            "grace_period_expires_date":null,"billing_issues_detected_at":null,\
            "store_transaction_id":"\(transaction)"}},"non_subscriptions":{"cards.lifetime":[{\
            "id":"1","store":"\(store)","is_sandbox":true,"purchase_date":"2026-05-01T10:00:00Z",\
            "store_transaction_id":"9"}]},"entitlements":{"premium":{\
            "product_identifier":"cards.pro.monthly","expires_date":"2026-06-01T10:00:00Z"}}}}
            """
        }
    }

    static let words = [
        "\"type\"", "\"event\"", "RENEWAL", "CANCELLATION", "EXPIRATION", "BILLING_ERROR",
        "CUSTOMER_SUPPORT", "PLAY_STORE", "STRIPE", "PROMOTIONAL", "SANDBOX", "FAMILY_SHARED",
        "rc_promo_premium_monthly", "GPA.1..1", "\"subscriber\"", "\"refunded_at\"",
        "\"unsubscribe_detected_at\"", "\"grace_period_expires_date\"", "1780308000000",
    ]
}
