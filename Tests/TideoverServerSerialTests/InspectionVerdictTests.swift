import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverRevenueCat
import TideoverSandbox
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// Inspections of documents that a test's own store signed, and of unsigned data.
struct InspectionVerdictTests {
    private static let store = Result { try TestStore() }
    private let store: TestStore
    private let message = Message.purchase()

    init() throws { store = try Self.store.get() }

    private func trust(
        _ environment: Environment = .sandbox,
        bundle: String = "com.example.cards",
        appAppleId: Int64? = nil,
        root: [UInt8]? = nil
    ) throws -> AppStoreTrust {
        let anchor = try TrustAnchor(name: "given", der: root ?? store.root)
        return AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: bundle,
                appAppleId: appAppleId,
                environments: [environment]
            ),
            authorities: [anchor: .pinned(environment)]
        )
    }

    private func inspect(
        _ bytes: [UInt8],
        by trust: AppStoreTrust? = nil
    ) throws -> Inspection {
        Inspection(
            bytes,
            trust: try trust ?? self.trust(),
            catalogue: TestServer.catalogue,
            policy: Policy(),
            at: Message.start + .days(1)
        )
    }

    private func written(_ inspection: Inspection) throws -> JSONValue {
        var writer = JSONWriter()
        inspection.write(to: &writer)
        return JSONValue(try JSONDocument(writer.bytes).root)
    }

    private func reason(_ bytes: [UInt8], by trust: AppStoreTrust? = nil) throws -> String? {
        let inspection = try inspect(bytes, by: trust)
        let root = try written(inspection)
        let isRefused = root["verdict"] == "refused"
        #expect(inspection.isAccepted == !isRefused)
        #expect((root["detail"]?.string != nil) == isRefused)
        #expect((root["facts"] == nil) == isRefused)
        return root["reason"]?.string
    }

    // MARK: Signed data

    @Test func `each kind of signed document is accepted with what it states`() throws {
        let transaction = try #require(message.transaction)
        let renewal = try #require(message.renewal)
        let bodies: [(body: [UInt8], input: String, kind: String, facts: Int)] = [
            (
                try message.body(store), "an App Store Server Notification body", "notification",
                3
            ),
            (
                Array(try store.sign(transaction).utf8), "a signed document (JWS)", "transaction",
                1
            ),
            (
                Array("\n \(try store.sign(renewal))\n".utf8), "a signed document (JWS)",
                "renewalInfo", 1
            ),
        ]
        for (body, input, kind, count) in bodies {
            let root = try written(inspect(body))
            #expect(root["verdict"] == "accepted")
            #expect(root["input"]?.string == input)
            #expect(root["kind"]?.string == kind)
            #expect(root["environment"] == "sandbox")
            #expect(root["signedAt"] == "2026-05-01T10:00:00.000Z")
            #expect(root["facts"]?.array?.count == count, "\(kind)")
        }
    }

    @Test func `a purchase is shown with its standing at the instant`() throws {
        let root = try written(inspect(message.body(store)))
        #expect(root["notificationType"] == "SUBSCRIBED")
        #expect(root["subtype"] == "INITIAL_BUY")
        #expect(root["asOf"] == "2026-05-02T10:00:00.000Z")
        #expect(root["standings"]?.array?.count == 1)
        let standing = root["standings"]?[0]
        #expect(standing?["state"] == "active")
        #expect(standing?["access"] == true)
        #expect(standing?["productId"] == "cards.pro.monthly")
        #expect(standing?["accessUntil"] == "2026-06-01T10:00:00.000Z")
        #expect(standing?["willRenew"] == true)
    }

    @Test func `a test notification is named and changes nothing`() throws {
        var test = Message("n-test")
        (test.type, test.subtype, test.status) = ("TEST", nil, nil)
        let root = try written(inspect(test.body(store)))
        #expect(root["verdict"] == "accepted")
        #expect(root["notificationType"] == "TEST")
        #expect(root["facts"]?.array?.count == 0)
        #expect(root["standings"]?.array?.count == 0)
    }

    @Test func `a document for another app or environment is refused with the reason`() throws {
        let body = try message.body(store)
        #expect(try reason(body) == nil)
        #expect(try reason(body, by: trust(bundle: "com.example.other")) == "wrong-bundle")
        #expect(try reason(body, by: trust(.production)) == "environment-not-vouched-for")
        var numbered = try message.payload(store)
        var data = try #require(numbered["data"]?.object)
        data["appAppleId"] = 1234
        numbered["data"] = .object(data)
        let signed = Message.wrap(try store.sign(numbered))
        #expect(try reason(signed, by: trust(.production, appAppleId: 1235)) == "wrong-app")
        #expect(
            try reason(signed, by: trust(.production, appAppleId: 1234))
                == "environment-not-vouched-for"
        )
    }

    @Test func `an untrusted signature is refused with the reason`() throws {
        let body = try message.body(store)
        #expect(try reason(body, by: trust(root: AppStoreSigning.appleRoot)) == "untrusted-root")
        #expect(try reason(message.body(store, defect: .twoCertificates)) == "chain-length")
        #expect(try reason(message.body(store, defect: .unknownRoot)) == "untrusted-root")
        #expect(try reason(message.body(store, nestedDefect: .unknownRoot)) == "untrusted-root")
        let payload = JSONValue.object(try message.payload(store)).encoded()
        #expect(
            try reason(Message.wrap(store.sign(payload, algorithm: "none")))
                == "algorithm"
        )
        let unchained = try JWS.sign(
            header: ["alg": "ES256"],
            payload: payload,
            with: P256PrivateKey.generate()
        )
        #expect(try reason(unchained) == "chain-missing")
    }

    @Test func `a receipt is accepted under its root alone`() throws {
        let receipts = try ReceiptStore.nine()
        let root = try written(inspect(receipts.container(), by: receipts.trust()))
        #expect(root["verdict"] == "accepted")
        #expect(root["input"] == "an app receipt (PKCS#7)")
        #expect(root["kind"] == "receipt")
        #expect(root["facts"]?.array?.isEmpty == false)
        let answer = try written(inspect(receipts.answer(), by: receipts.trust()))
        #expect(answer["input"] == "a verifyReceipt response")
        #expect(answer["standings"] == root["standings"])
        let stranger = try ReceiptStore.stranger.get().root
        let other = try receipts.trust(root: stranger)
        #expect(try reason(receipts.container(), by: other) == "untrusted-root")
    }

    // MARK: Unsigned data

    @Test func `RevenueCat's data is shown as unsigned, with what an import would change`() throws {
        let info: JSONValue = [
            "originalAppUserId": .string(TestServer.anna),
            "requestDate": "2026-05-10T10:00:00.000Z", "entitlements": ["all": [:]],
            "subscriptionsByProductIdentifier": [
                "cards.pro.monthly": [
                    "productIdentifier": "cards.pro.monthly", "store": "APP_STORE",
                    "isSandbox": true, "purchaseDate": "2026-05-01T10:00:00Z",
                    "expiresDate": "2026-06-01T10:00:00Z", "periodType": "NORMAL",
                    "ownershipType": "PURCHASED", "storeTransactionId": "2000000000000001",
                ]
            ],
        ]
        for (bytes, input) in [
            (TestRevenueCat.answer(), "a RevenueCat API v1 response"),
            (info.encoded(), "CustomerInfo of a RevenueCat SDK"),
        ] {
            let inspection = try inspect(bytes)
            #expect(inspection.isAccepted)
            let root = try written(inspection)
            #expect(root["verdict"] == "unsigned")
            #expect(root["input"]?.string == input)
            #expect(root["detail"]?.string == Inspection.unsignedSentence)
            #expect(root["customer"]?.string == TestServer.anna)
            #expect(root["requestedAt"] == "2026-05-10T10:00:00.000Z")
            #expect(root["facts"]?.array?.isEmpty == false)
            #expect(root["standings"]?[0]?["state"] == "active")
        }
    }

    @Test(arguments: [
        ("", "nothing"), (" \n", "nothing"), ("hello", "neither"), ("{", "not valid JSON"),
        ("{ \"purchase-info\" = \"e30=\"; }", "app receipt or the signed transaction"),
        (#"{"object": "list", "items": []}"#, "Export with API v1"),
        (#"{"subscriber": {}}"#, "request_date"),
        (#"{"status": 21002}"#, "21002"),
    ])
    func `data that cannot be read is refused with what it is`(text: String, part: String) throws {
        let root = try written(inspect(Array(text.utf8)))
        #expect(root["verdict"] == "refused")
        #expect(root["detail"]?.string?.contains(part) == true, "\(root)")
    }
}
