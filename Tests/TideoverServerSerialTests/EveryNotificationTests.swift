import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverSignatures
import TideoverStorage

@testable import TideoverTestServer

/// Every documented notification of the App Store, signed and posted to the route.
@Suite struct EveryNotificationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let type: String
        var subtype: String?
        /// `state reason access` an hour after the end of a period that renews according to the
        /// notification's signed parts.
        let standing: String
        /// The additional expected count.
        var rarity: String?
        var change: @Sendable (inout Message) -> Void = { _ in }
        /// The content instead of `data`.
        var content: JSONObject?

        var words: String { type + (subtype.map { "/" + $0 } ?? "") }
        var testDescription: String { words }
    }

    static let untouched = "active renewalDue access"
    static let nothing = "never unknown none"

    /// Types without information beyond their signed parts.
    static let plain: [Case] = [
        ("SUBSCRIBED", ["INITIAL_BUY", "RESUBSCRIBE"]), ("DID_RENEW", [nil, "BILLING_RECOVERY"]),
        ("DID_CHANGE_RENEWAL_PREF", ["UPGRADE", "DOWNGRADE", nil]),
        ("DID_CHANGE_RENEWAL_STATUS", ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"]),
        ("OFFER_REDEEMED", [nil, "UPGRADE", "DOWNGRADE"]),
        ("PRICE_INCREASE", ["PENDING", "ACCEPTED"]), ("REFUND", [nil]),
        ("REFUND_DECLINED", [nil]), ("REFUND_REVERSED", [nil]), ("REVOKE", [nil]),
        ("CONSUMPTION_REQUEST", [nil]), ("RENEWAL_EXTENDED", [nil]),
        ("RENEWAL_EXTENSION", ["FAILURE"]),
    ].flatMap { type, subtypes in
        subtypes.map { Case(type: type, subtype: $0, standing: untouched) }
    }

    static let commerce: [Case] = ["METADATA_UPDATE", "MIGRATION", "PRICE_CHANGE"].map {
        Case(type: $0, standing: untouched, rarity: "advancedCommerce")
    }

    /// Types that state a change by themselves.
    static let announcing: [Case] =
        [
            ("VOLUNTARY", "cancelled"), ("BILLING_RETRY", "billingError"),
            ("PRICE_INCREASE", "priceIncrease"), ("PRODUCT_NOT_FOR_SALE", "productUnavailable"),
            (nil, "ended"),
        ].map { subtype, reason in
            Case(type: "EXPIRED", subtype: subtype, standing: "expired \(reason) none")
        } + [
            Case(type: "DID_FAIL_TO_RENEW", standing: "hold billingRetry none"),
            Case(
                type: "DID_FAIL_TO_RENEW",
                subtype: "GRACE_PERIOD",
                standing: "grace billingIssue access"
            ),
            Case(type: "GRACE_PERIOD_EXPIRED", standing: "hold billingRetry none"),
        ]

    static let app: JSONObject = [
        "bundleId": "com.example.cards", "environment": "Sandbox",
    ]

    static let taking: [Case] =
        [("REFUND", "refunded"), ("REVOKE", "familyAccessRemoved")].map { type, reason in
            Case(
                type: type,
                standing: "expired \(reason) none",
                change: { $0.transaction?["revocationDate"] = Message.start.wire }
            )
        } + [
            Case(
                type: "ONE_TIME_CHARGE",
                standing: "active lifetime access",
                change: { message in
                    message.transaction?["type"] = "Non-Consumable"
                    message.transaction?["expiresDate"] = nil
                    (message.renewal, message.status) = (nil, nil)
                }
            )
        ]

    /// Notifications about no purchase.
    static let others: [Case] =
        [
            Case(type: "TEST", standing: nothing, content: ["data": .object(app)]),
            Case(
                type: "RENEWAL_EXTENSION",
                subtype: "SUMMARY",
                standing: nothing,
                content: [
                    "summary": .object(
                        app.with(["requestIdentifier": "a", "succeededCount": 5, "failedCount": 2])
                    )
                ]
            ),
            Case(
                type: "RESCIND_CONSENT",
                standing: nothing,
                rarity: "consent",
                content: ["appData": .object(app)]
            ),
        ]
        + ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"].map {
            Case(
                type: "EXTERNAL_PURCHASE_TOKEN",
                subtype: $0,
                standing: nothing,
                rarity: "externalPurchase",
                content: [
                    "externalPurchaseToken": [
                        "externalPurchaseId": "SANDBOX_b2158121", "tokenCreationDate": 1,
                        "bundleId": "com.example.cards", "tokenType": "SERVICES",
                    ]
                ]
            )
        }

    static let documented = plain + commerce + announcing + taking + others
    static let store = Result { try TestStore() }

    static func payload(_ pushed: Case, _ store: TestStore) throws -> JSONObject {
        var message = Message.purchase("n-\(pushed.words)", signed: Message.end)
        message.type = pushed.type
        message.subtype = pushed.subtype
        pushed.change(&message)
        var payload = try message.payload(store)
        if let content = pushed.content {
            payload["data"] = nil
            payload = payload.with(content)
        }
        return payload
    }

    @Test(arguments: documented)
    func `each notification is stored once, byte by byte, with the facts of its signed parts`(
        pushed: Case
    ) async throws {
        let store = try Self.store.get()
        let server = try TestServer(store: store)
        server.set(Message.end + .hours(1))
        let body = Message.wrap(try store.sign(Self.payload(pushed, store)))
        let response = try await server.post(body)
        #expect(response.status == 200)
        #expect(try JSONDocument(response.body).root["status"]?.string == "committed")
        let again = try await server.post(body)
        #expect(try JSONDocument(again.body).root["status"]?.string == "duplicate")
        let id = EvidenceID(hex: hexadecimal(SHA256.hash(body)))
        #expect(try server.storage.evidence(id, app: "cards")?.bytes == body)
        let standing = try await server.premium()
        #expect(standing == pushed.standing)
        let counted = pushed.rarity.map { ["rare \($0) \(pushed.words) 1"] } ?? []
        #expect(try await server.counts() == counted)
        await server.close()
    }

    @Test func `a withdrawn consent is stored only with a valid app transaction`() async throws {
        let store = try Self.store.get()
        let server = try TestServer(store: store)
        server.set(Message.end)
        let owned: JSONObject = [
            "receiptType": "Sandbox", "bundleId": "com.example.cards",
            "receiptCreationDate": Message.end.wire, "appTransactionId": "71234",
        ]
        let signed: [(part: String, status: Int)] = [
            (try store.sign(owned, defect: .unknownRoot), 401),
            (try store.sign(owned.with(["bundleId": "com.example.other"])), 422),
            (try store.sign(owned), 200),
        ]
        for (part, status) in signed {
            let content = Self.app.with(["signedAppTransactionInfo": .string(part)])
            let notice = Case(
                type: "RESCIND_CONSENT",
                standing: Self.nothing,
                content: ["appData": .object(content)]
            )
            let body = Message.wrap(try store.sign(Self.payload(notice, store)))
            #expect(try await server.post(body).status == status)
        }
        let counted = try await server.counts().filter { $0.hasPrefix("rare") }
        #expect(counted == ["rare consent RESCIND_CONSENT 1"])
        await server.close()
    }

    @Test func `a notification about an unknown object is stored and counted`() async throws {
        let store = try Self.store.get()
        let server = try TestServer(store: store)
        server.set(Message.end + .hours(1))
        let notice = Case(
            type: "NEW_THING",
            standing: Self.nothing,
            content: ["newData": .object(Self.app)]
        )
        let body = Message.wrap(try store.sign(Self.payload(notice, store)))
        #expect(try await server.post(body).status == 200)
        #expect(
            try await server.counts() == [
                "unrecognised content=newData 1", "unrecognised notificationType=NEW_THING 1",
            ]
        )
        let again = try await server.post(body)
        #expect(try JSONDocument(again.body).root["status"]?.string == "duplicate")
        await server.close()
    }

    @Test func `the table has every type and every subtype`() {
        let types = Set(Self.documented.map(\.type))
        #expect(types == Set(AppStoreNotification.NotificationType.allCases.map(\.rawValue)))
        let subtypes = Set(Self.documented.compactMap(\.subtype))
        #expect(subtypes == Set(AppStoreNotification.Subtype.allCases.map(\.rawValue)))
    }

    @Test func `no pair of type and subtype alone changes the answer`() async throws {
        let store = try Self.store.get()
        let server = try TestServer(store: store)
        server.set(Message.end + .hours(1))
        var taken = 0
        for type in AppStoreNotification.NotificationType.allCases {
            for subtype in [nil] + AppStoreNotification.Subtype.allCases.map(\.rawValue) {
                let bare = Case(
                    type: type.rawValue,
                    subtype: subtype,
                    standing: Self.nothing,
                    content: ["data": .object(Self.app)]
                )
                let response = try await server.post(
                    Message.wrap(store.sign(Self.payload(bare, store)))
                )
                if response.status == 200 { taken += 1 }
            }
        }
        #expect(taken == 23 * 20)
        #expect(try await server.premium() == Self.nothing)
        let counted = try await server.counts()
        #expect(counted.allSatisfy { $0.hasPrefix("rare ") })
        #expect(counted.count == 5 * 20)
        await server.close()
    }
}

/// Apple's decoded examples, signed and posted to the route.
@Suite(.enabled(if: Vectors.present, "vectors are not beside the project"))
struct PushedVectorTests {
    static let examples: [(name: String, counted: [String])] = [
        (
            "signedNotification",
            [
                "rare advancedCommerce SUBSCRIBED/INITIAL_BUY 1",
                "unknown-product com.example.product 1",
            ]
        ),
        (
            "signedConsumptionRequestNotification",
            [
                "rare advancedCommerce CONSUMPTION_REQUEST 1",
                "unknown-product com.example.product 1",
            ]
        ),
        ("signedSummaryNotification", []),
        (
            "signedExternalPurchaseTokenNotification",
            ["rare externalPurchase EXTERNAL_PURCHASE_TOKEN/UNREPORTED 1"]
        ),
        (
            "signedExternalPurchaseTokenSandboxNotification",
            ["rare externalPurchase EXTERNAL_PURCHASE_TOKEN/UNREPORTED 1"]
        ),
        ("signedRescindConsentNotification", ["rare consent RESCIND_CONSENT 1"]),
    ]

    /// The signed parts that replace the placeholders in Apple's examples.
    static let parts = [
        "signed_transaction_info_value": "signedTransaction",
        "signed_renewal_info_value": "signedRenewalInfo",
        "signed_app_transaction_info_value": "appTransaction",
    ]

    static func model(_ name: String) throws -> JSONObject {
        let document = try JSONDocument(Vectors.bytes("apple/models/\(name).json"))
        return try #require(JSONValue(document.root).object)
    }

    static func signed(_ name: String, by store: TestStore) throws -> String {
        var payload = try model(name)
        for content in ["data", "appData"] {
            guard var object = payload[content]?.object else { continue }
            for (key, value) in object {
                guard let part = value.string.flatMap({ parts[$0] }) else { continue }
                var inner = try model(part)
                // The examples contain different numbers for one app.
                if inner["appAppleId"] != nil { inner["appAppleId"] = object["appAppleId"] }
                object[key] = .string(try store.sign(inner))
            }
            payload[content] = .object(object)
        }
        return try store.sign(payload)
    }

    @Test(arguments: examples)
    func `an example of Apple is stored and counted`(
        name: String,
        counted: [String]
    ) async throws {
        let store = try EveryNotificationTests.store.get()
        // The examples name an environment without a trusted authority here; a simulated store may
        // state any.
        let server = try TestServer(bundleId: "com.example", authority: .simulated, store: store)
        server.set("2023-10-24T12:02:00Z")
        let body = Message.wrap(try Self.signed(name, by: store))
        let response = try await server.post(body)
        #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        let id = EvidenceID(hex: hexadecimal(SHA256.hash(body)))
        #expect(try server.storage.evidence(id, app: "cards")?.bytes == body)
        #expect(try await server.counts() == counted)
        await server.close()
    }
}

/// Returns lower-case hexadecimal digits, two for each byte.
private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension JSONObject {
    /// Returns the object with members added or replaced.
    fileprivate func with(_ changes: JSONObject) -> JSONObject {
        changes.reduce(into: self) { $0[$1.key] = $1.value }
    }
}
