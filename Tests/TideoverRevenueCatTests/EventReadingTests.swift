import Testing
import TideoverCore
import TideoverJSON
import TideoverRevenueCat

/// Tests parsing of webhook bodies, and their rejection.
@Suite struct EventReadingTests {
    @Test func `every field that rules need is read from an event`() throws {
        let event = try RevenueCatWire.read(
            RevenueCatWire.event(
                "BILLING_ISSUE",
                at: RevenueCatWire.end,
                [
                    "grace_period_expiration_at_ms": RevenueCatWire.ms(RevenueCatWire.graceEnd),
                    "is_trial_conversion": true, "offer_code": "SPRING",
                    "auto_resume_at_ms": RevenueCatWire.ms(RevenueCatWire.graceEnd),
                    "new_product_id": "cards.pro.yearly", "cancel_reason": "BILLING_ERROR",
                    "expiration_reason": "UNSUBSCRIBE",
                ]
            )
        ).event
        #expect(event.type.known == .billingIssue)
        #expect(event.id == "E-1")
        #expect(event.appId == "app1a2b")
        #expect(event.timestamp == RevenueCatWire.end)
        #expect(event.appUserId == "u_42")
        #expect(event.productId == "cards.pro.monthly")
        #expect(event.newProductId == "cards.pro.yearly")
        #expect(event.entitlementIds == ["premium"])
        #expect(event.periodType?.known == .normal)
        #expect(event.purchasedAt == RevenueCatWire.start)
        #expect(event.expiresAt == RevenueCatWire.end)
        #expect(event.gracePeriodExpiresAt == RevenueCatWire.graceEnd)
        #expect(event.autoResumesAt == RevenueCatWire.graceEnd)
        #expect(event.store?.known == .appStore)
        #expect(event.environment?.known == .production)
        #expect(event.isFamilyShare == false)
        #expect(event.isTrialConversion == true)
        #expect(event.cancelReason?.known == .billingError)
        #expect(event.expirationReason?.known == .unsubscribe)
        #expect(event.transactionId == "700")
        #expect(event.originalTransactionId == "700")
        #expect(event.offerCode == "SPRING")
        #expect(event.price == Money(milliunits: 9990, currency: "USD"))
    }

    @Test func `nulls and unknown fields are accepted`() throws {
        let body = """
            {"api_version": "1.3", "sent_by": "RevenueCat", "event": {"type": "RENEWAL", "id": "E-9",
             "event_timestamp_ms": 1777629600000, "environment": "SANDBOX", "app_user_id": null,
             "expiration_at_ms": null, "aliases": null, "entitlement_ids": null, "colour": {"a": []},
             "entitlement_id": "premium"}}
            """
        let reading = try RevenueCatWire.reader.event(body: Array(body.utf8))
        #expect(reading.environment == .sandbox)
        #expect(reading.event.expiresAt == nil)
        #expect(reading.event.customer == nil)
        #expect(reading.event.entitlementIds == ["premium"])
        #expect(reading.dedupeKey == "revenuecat:E-9")
    }

    @Test(arguments: RevenueCatEvent.EventType.allCases)
    func `every documented type is known`(_ type: RevenueCatEvent.EventType) throws {
        let changes: JSONObject = type == .transfer ? ["transferred_to": ["u_7"]] : [:]
        let reading = try RevenueCatWire.read(RevenueCatWire.event(type.rawValue, changes))
        #expect(reading.event.type.known == type)
        #expect(reading.unrecognised == [])
        #expect(reading.isTest == (type == .test))
    }

    @Test func `unknown values are kept and counted`() throws {
        let reading = try RevenueCatWire.read(
            RevenueCatWire.event(
                "WINBACK",
                ["store": "MOON_STORE", "period_type": "BIENNIAL", "cancel_reason": "BOREDOM"]
            )
        )
        #expect(reading.eventType == "WINBACK")
        #expect(
            reading.unrecognised == [
                Unrecognised(field: "type", value: "WINBACK"),
                Unrecognised(field: "period_type", value: "BIENNIAL"),
                Unrecognised(field: "store", value: "MOON_STORE"),
                Unrecognised(field: "cancel_reason", value: "BOREDOM"),
            ]
        )
        #expect(reading.notes == [.unknownType("WINBACK")])
    }

    // MARK: Incomplete events

    @Test(arguments: DocumentedEvent.all)
    func `every documented event is read`(_ event: DocumentedEvent) throws {
        let reading = try RevenueCatWire.read(event.content)
        let facts = reading.facts(learnedAt: RevenueCatWire.end, evidence: EvidenceID(hex: "00"))
        #expect(facts.count == event.facts)
        #expect(reading.environment == event.environment)
        #expect(reading.notes == event.notes)
        #expect(facts.allSatisfy { $0.lineage.environment == event.environment })
    }

    @Test func `the documented events cover every type`() {
        let types = Set(DocumentedEvent.all.compactMap { $0.content["type"]?.string })
        #expect(types.isSuperset(of: RevenueCatEvent.EventType.allCases.map(\.rawValue)))
    }

    static let unplaced: [(environment: JSONValue, missing: String, words: [Unrecognised])] = [
        (.null, "environment", []),
        ("MOON", "known environment", [Unrecognised(field: "environment", value: "MOON")]),
    ]

    @Test(arguments: unplaced)
    func `a purchase of an unknown environment produces no facts`(
        _ environment: JSONValue,
        _ missing: String,
        _ words: [Unrecognised]
    ) throws {
        let event = RevenueCatWire.event("RENEWAL", ["environment": environment])
        let reading = try RevenueCatWire.read(event)
        #expect(reading.environment == .production)
        #expect(reading.lineages == [])
        #expect(
            reading.notes == [.incomplete(product: "cards.pro.monthly", missing: [missing])]
        )
        #expect(reading.unrecognised == words)
    }

    static let unusable: [(changes: JSONObject, missing: [String])] = {
        let long = JSONValue.string(String(repeating: "x", count: 257))
        return [
            (["app_user_id": long], ["app_user_id"]),
            (["app_user_id": "a\0b"], ["app_user_id"]),
            (["aliases": .array(["u_42", long])], ["aliases"]),
            (["product_id": long], ["product_id"]),
            (["transaction_id": long], ["transaction_id"]),
            (["original_transaction_id": "7\0"], ["original_transaction_id"]),
            (["transferred_from": .array([long])], ["transferred_from"]),
        ]
    }()

    @Test(arguments: unusable)
    func `an event with an id that cannot be stored states nothing`(
        _ changes: JSONObject,
        _ missing: [String]
    ) throws {
        for type in ["RENEWAL", "TRANSFER"] {
            let all = changes.changed(type == "TRANSFER" ? ["transferred_to": ["u_2"]] : [:])
            let reading = try RevenueCatWire.read(RevenueCatWire.event(type, all))
            #expect(reading.lineages == [])
            #expect(reading.event.customer == nil)
            #expect(reading.customers == nil)
            #expect(reading.notes == [.incomplete(product: nil, missing: missing)])
        }
        let whole =
            ["aliases": .array(["u_42", .string(String(repeating: "x", count: 256))])]
            as JSONObject
        #expect(try RevenueCatWire.read(RevenueCatWire.event("RENEWAL", whole)).notes == [])
    }

    @Test func `a transfer of an unknown environment moves nothing`() throws {
        let event = RevenueCatWire.event(
            "TRANSFER",
            ["environment": "MOON", "transferred_from": ["u_1"], "transferred_to": ["u_2"]]
        )
        let reading = try RevenueCatWire.read(event)
        #expect(reading.customers == nil)
        #expect(reading.environment == .production)
    }

    static let places: [(environments: [Environment], place: Environment)] = [
        ([.sandbox, .production], .production), ([.sandbox], .sandbox), ([.simulated], .simulated),
    ]

    @Test(arguments: places)
    func `an event without an environment is stored in production if the app has it`(
        _ environments: [Environment],
        _ place: Environment
    ) throws {
        let reader = RevenueCatReader(
            environments: environments,
            catalogue: RevenueCatWire.catalogue
        )
        let reading = try reader.event(body: RevenueCatWire.body(TemporaryGrant.event()))
        #expect(reading.environment == place)
        #expect(reading.lineages.map(\.environment) == [place])
    }

    // MARK: Refusals

    @Test func `a body that is not one strict JSON object is refused with its position`() {
        let twice = #"{"api_version": "1.0", "event": {"id": "1", "id": "2"}}"#
        #expect(RevenueCatWire.refusal(of: Array(twice.utf8))?.code == "duplicate-key")
        #expect(
            RevenueCatWire.refusal(of: Array("{\"api_version\":".utf8))?.code == "malformed-json"
        )
        #expect(RevenueCatWire.refusal(of: []) != nil)
        #expect(RevenueCatWire.refusal(of: Array("[]".utf8)) == .malformed(field: "body"))
    }

    static let lacking: [(member: String, refusal: RevenueCatRefusal)] = [
        ("type", .missingMember("event.type")), ("id", .missingMember("event.id")),
        ("event_timestamp_ms", .missingMember("event.event_timestamp_ms")),
    ]

    @Test(arguments: lacking)
    func `an event without a required member is refused by its name`(
        _ member: String,
        _ refusal: RevenueCatRefusal
    ) {
        let event = RevenueCatWire.event("RENEWAL", [member: .null])
        #expect(RevenueCatWire.refusal(of: RevenueCatWire.body(event)) == refusal)
    }

    static let mistyped: [(member: String, value: JSONValue)] = [
        ("event_timestamp_ms", "2026-05-01"), ("event_timestamp_ms", 1777629600000.5),
        ("expiration_at_ms", "soon"), ("expiration_at_ms", 9_000_000_000_000_000),
        ("aliases", "u_42"), ("aliases", [1]), ("is_family_share", "false"),
        ("transaction_id", 700), ("store", 1), ("price_in_purchased_currency", "9.99"),
        ("grace_period_expiration_at_ms", true),
    ]

    @Test(arguments: mistyped)
    func `a member of the wrong type is refused by its name`(_ member: String, _ value: JSONValue) {
        let event = RevenueCatWire.event("BILLING_ISSUE", [member: value])
        #expect(
            RevenueCatWire.refusal(of: RevenueCatWire.body(event))
                == .malformed(field: "event.\(member)")
        )
    }

    @Test func `another version or another environment is refused`() throws {
        let event = RevenueCatWire.event("RENEWAL")
        #expect(
            RevenueCatWire.refusal(of: RevenueCatWire.body(event, version: "2.0"))
                == .unknownVersion("2.0")
        )
        #expect(
            RevenueCatWire.refusal(of: RevenueCatWire.body(event, version: .null))
                == .missingMember("api_version")
        )
        let sandbox = RevenueCatWire.event("RENEWAL", ["environment": "SANDBOX"])
        #expect(try RevenueCatWire.read(sandbox).environment == .sandbox)
        let production = RevenueCatReader(environments: [.production], catalogue: Catalogue())
        #expect(
            throws: RevenueCatRefusal.wrongEnvironment(accepted: [.production], found: .sandbox)
        ) {
            try production.event(body: RevenueCatWire.body(sandbox))
        }
    }

    @Test func `a test event is accepted whatever environment it names`() throws {
        let cases: [(String, Environment)] = [("SANDBOX", .production), ("PRODUCTION", .sandbox)]
        for (environment, found) in cases {
            let reader = RevenueCatReader(environments: [found], catalogue: Catalogue())
            let event = RevenueCatWire.event("TEST", ["environment": .string(environment)])
            let reading = try reader.event(body: RevenueCatWire.body(event))
            #expect(reading.environment == found)
            #expect(reading.isTest)
            #expect(reading.lineages == [])
        }
    }

    // MARK: Customers

    @Test func `a transfer contains both customers and needs no environment`() throws {
        let event: JSONObject = [
            "type": "TRANSFER", "id": "E-2",
            "event_timestamp_ms": RevenueCatWire.ms(.init(millisecondsSince1970: 5)),
            "store": "APP_STORE", "transferred_from": ["u_1", "$RCAnonymousID:a"],
            "transferred_to": ["u_2", "u_2"],
        ]
        let reading = try RevenueCatWire.read(event)
        #expect(reading.environment == nil)
        let from = [CustomerID("u_1"), CustomerID("$RCAnonymousID:a")].compactMap(\.self)
        let to = [CustomerID("u_2")].compactMap(\.self)
        #expect(reading.customers == .transfer(from: from, to: to))
    }

    @Test func `aliases are one customer, named by the app's id`() throws {
        let event = RevenueCatWire.event(
            "SUBSCRIBER_ALIAS",
            [
                "app_user_id": "$RCAnonymousID:a", "original_app_user_id": "$RCAnonymousID:b",
                "aliases": ["$RCAnonymousID:a", "u_42"],
            ]
        )
        let reading = try RevenueCatWire.read(event)
        let ids = ["$RCAnonymousID:a", "$RCAnonymousID:b", "u_42"].compactMap { CustomerID($0) }
        #expect(reading.customers == .sameCustomer(ids))
        #expect(reading.event.customer == CustomerID("u_42"))
    }

    @Test func `twenty thousand aliases are read within two seconds`() throws {
        let aliases = (0..<20_000).map { "a\($0)" }
        let written = JSONValue.array(aliases.map(JSONValue.string))
        let reading = try RevenueCatWire.read(
            RevenueCatWire.event("RENEWAL", ["aliases": written])
        )
        var customers: CustomerStatement?
        let length = ContinuousClock().measure { customers = reading.customers }
        #expect(length < .seconds(2))
        #expect(customers == .sameCustomer((["u_42"] + aliases).compactMap { CustomerID($0) }))
    }

    @Test func `a test event produces no facts`() throws {
        let event = RevenueCatWire.event("TEST", ["aliases": ["u_42", "u_43"]])
        let reading = try RevenueCatWire.read(event)
        #expect(reading.isTest)
        #expect(reading.customers == nil)
        #expect(reading.notes == [.test])
    }
}
