import Foundation
import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON

@Suite struct WireTests {
    // MARK: Apple's examples

    @Test(
        .enabled(if: Vectors.present, "vectors are not beside the project"),
        arguments: [
            "signedNotification", "signedConsumptionRequestNotification",
            "signedSummaryNotification", "signedExternalPurchaseTokenNotification",
            "signedExternalPurchaseTokenSandboxNotification", "signedRescindConsentNotification",
        ]
    )
    func `a notification of Apple is read without loss`(name: String) throws {
        let document = try Vectors.document("apple/models/\(name).json")
        let notification = try AppStoreNotification(payload: document.root)
        #expect(JSONValue.object(wireForm(of: notification)) == JSONValue(document.root))
    }

    @Test(
        .enabled(if: Vectors.present, "vectors are not beside the project"),
        arguments: ["signedTransaction", "signedTransactionWithRevocation"]
    )
    func `a transaction of Apple is read without loss`(name: String) throws {
        let document = try Vectors.document("apple/models/\(name).json")
        let transaction = try AppStoreTransaction(payload: document.root)
        #expect(JSONValue.object(wireForm(of: transaction)) == JSONValue(document.root))
    }

    @Test(.enabled(if: Vectors.present, "vectors are not beside the project"))
    func `a renewal info of Apple is read without loss`() throws {
        let document = try Vectors.document("apple/models/signedRenewalInfo.json")
        let renewal = try AppStoreRenewalInfo(payload: document.root)
        #expect(JSONValue.object(wireForm(of: renewal)) == JSONValue(document.root))
    }

    @Test(.enabled(if: Vectors.present, "vectors are not beside the project"))
    func `Apple's app data is read without loss`() throws {
        let app = try Vectors.document("apple/models/appData.json")
        let payload: JSONValue = ["notificationType": "TEST", "appData": JSONValue(app.root)]
        let document = try JSONDocument(payload.encoded())
        let notification = try AppStoreNotification(payload: document.root)
        #expect(JSONValue.object(wireForm(of: notification)) == payload)
    }

    @Test(.enabled(if: Vectors.present, "vectors are not beside the project"))
    func `a test reads every example of Apple`() throws {
        let models = Vectors.folder.appendingPathComponent("apple/models")
        let names = try FileManager.default.contentsOfDirectory(atPath: models.path)
        #expect(names.count >= 33)
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let sources = try FileManager.default.contentsOfDirectory(atPath: tests.path).map {
            try String(contentsOf: tests.appendingPathComponent($0), encoding: .utf8)
        }
        for name in names {
            let model = name.replacing(".json", with: "")
            let isRead = sources.contains {
                $0.contains("\"\(model)\"") || $0.contains("models/\(name)")
            }
            #expect(isRead, "\(name)")
        }
    }

    @Test(.enabled(if: Vectors.present, "vectors are not beside the project"))
    func `an app transaction of Apple is read without loss, with its owner`() throws {
        let document = try Vectors.document("apple/models/appTransaction.json")
        let transaction = try AppStoreAppTransaction(payload: document.root)
        #expect(JSONValue.object(wireForm(of: transaction)) == JSONValue(document.root))
        #expect(transaction.bundleId == "com.example")
        #expect(transaction.appAppleId == 531_412)
        #expect(transaction.receiptType?.known == .localTesting)
        #expect(transaction.receiptCreationDate?.millisecondsSince1970 == 1_698_148_900_000)
    }

    @Test(.enabled(if: Vectors.present, "vectors are not beside the project"))
    func `Xcode's fractions of milliseconds are rounded down`() throws {
        let payload = try #require(try Vectors.payload("apple/xcode/xcode-signed-transaction"))
        let transaction = try AppStoreTransaction(payload: try JSONDocument(payload).root)
        #expect(transaction.purchaseDate?.millisecondsSince1970 == 1_697_679_936_049)
        #expect(transaction.signedDate?.millisecondsSince1970 == 1_697_679_936_056)
        #expect(transaction.expiresDate?.millisecondsSince1970 == 1_700_358_336_049)
        #expect(transaction.environment?.known == .xcode)
    }

    // MARK: Malformed values

    @Test(arguments: [
        #""transactionId": 5"#, #""bundleId": ["a"]"#, #""purchaseDate": "1698148900000""#,
        #""purchaseDate": true"#, #""purchaseDate": 1e300"#, #""purchaseDate": -1e300"#,
        #""expiresDate": 253402300800000"#, #""expiresDate": -62167219200001"#,
        #""signedDate": 9223372036854775808"#, #""revocationDate": {}"#, #""quantity": 1.5"#,
        #""quantity": "1""#, #""type": 1"#, #""isUpgraded": 1"#, #""isUpgraded": "true""#,
        #""offerType": "1""#, #""offerType": 1.25"#, #""price": 9.99"#,
        #""revocationReason": "0""#, #""environment": 3"#, #""commitmentInfo": []"#,
        #""commitmentInfo": {"commitmentPrice": "1"}"#, #""advancedCommerceInfo": "x""#,
    ])
    func `a transaction field of the wrong type is refused by its name`(member: String) throws {
        let document = try JSONDocument("{\(member)}")
        let path = fieldPath(of: document.root)
        #expect(throws: AppStoreRefusal.malformed(field: path)) {
            try AppStoreTransaction(payload: document.root)
        }
    }

    @Test(arguments: [
        #""autoRenewStatus": true"#, #""autoRenewStatus": "1""#, #""expirationIntent": 1.5"#,
        #""isInBillingRetryPeriod": 0"#, #""gracePeriodExpiresDate": "soon""#,
        #""renewalDate": 1e17"#, #""renewalPrice": "9990""#, #""eligibleWinBackOfferIds": "a""#,
        #""eligibleWinBackOfferIds": ["a", 1]"#,
        #""commitmentInfo": {"commitmentAutoRenewStatus": "1"}"#,
    ])
    func `a renewal info field of the wrong type is refused by its name`(member: String) throws {
        let document = try JSONDocument("{\(member)}")
        let path = fieldPath(of: document.root)
        #expect(throws: AppStoreRefusal.malformed(field: path)) {
            try AppStoreRenewalInfo(payload: document.root)
        }
    }

    @Test(arguments: [
        #""notificationType": 1"#, #""signedDate": "x""#, #""data": "x""#, #""data": [1]"#,
        #""data": {"status": "1"}"#, #""data": {"appAppleId": "1234"}"#,
        #""data": {"signedTransactionInfo": {}}"#, #""summary": {"failedCount": 0.5}"#,
        #""externalPurchaseToken": {"tokenCreationDate": "x"}"#, #""appData": {"bundleId": 1}"#,
    ])
    func `a notification field of the wrong type is refused by its name`(member: String) throws {
        let document = try JSONDocument("{\(member)}")
        let path = fieldPath(of: document.root)
        #expect(throws: AppStoreRefusal.malformed(field: path)) {
            try AppStoreNotification(payload: document.root)
        }
    }

    /// `data.status` for `{"data": {"status": "1"}}`.
    private func fieldPath(of node: JSONNode) -> String {
        guard let only = node.members.first(where: { _ in true }) else { return "" }
        let rest = fieldPath(of: only.value)
        return rest.isEmpty ? only.key : only.key + "." + rest
    }

    @Test(arguments: ["[]", "3", "\"x\"", "null"])
    func `a payload that is not an object is refused`(text: String) throws {
        let document = try JSONDocument(text)
        #expect(throws: AppStoreRefusal.malformed(field: "payload")) {
            try AppStoreTransaction(payload: document.root)
        }
    }

    // MARK: Lenient parsing

    @Test func `a payload may be empty, have nulls for optional fields, or unknown fields`()
        throws
    {
        let empty = try AppStoreTransaction(payload: try JSONDocument("{}").root)
        #expect(wireForm(of: empty).isEmpty)
        let text = #"{"price": null, "isUpgraded": null, "notYetInvented": [1, {"a": 2}]}"#
        let sparse = try AppStoreTransaction(payload: try JSONDocument(text).root)
        #expect(sparse == empty)
    }

    @Test func `integers may be written with a point or an exponent`() throws {
        let text = #"{"quantity": 1.0, "offerType": 2e0, "price": 9.99e3, "purchaseDate": 1e3}"#
        let transaction = try AppStoreTransaction(payload: try JSONDocument(text).root)
        #expect(transaction.quantity == 1)
        #expect(transaction.offerType?.known == .promotional)
        #expect(transaction.price == 9990)
        #expect(transaction.purchaseDate?.millisecondsSince1970 == 1000)
    }

    @Test(
        arguments: [
            ("-62135769600000", -62_135_769_600_000), ("-0.5", -1), ("0.999", 0), ("-3.0", -3),
            ("253402300799999", 253_402_300_799_999), ("-62167219200000", -62_167_219_200_000),
        ] as [(String, Int64)]
    )
    func `dates before 1970 are read, as Xcode writes them`(text: String, date: Int64) throws {
        let document = try JSONDocument(#"{"originalPurchaseDate": \#(text)}"#)
        let transaction = try AppStoreTransaction(payload: document.root)
        #expect(transaction.originalPurchaseDate?.millisecondsSince1970 == date)
    }

    @Test func `an unknown value is kept as written`() throws {
        let text = #"{"type": "Bundle", "offerType": 7, "environment": "Moon"}"#
        let transaction = try AppStoreTransaction(payload: try JSONDocument(text).root)
        #expect(transaction.type == OpenEnum("Bundle"))
        #expect(transaction.type?.known == nil)
        #expect(transaction.offerType?.raw == 7)
        #expect(transaction.environment?.raw == "Moon")
    }

    @Test func `a notification about two things is refused`() throws {
        let document = try JSONDocument(#"{"data": {}, "summary": {}}"#)
        #expect(throws: AppStoreRefusal.ambiguousContent(members: ["data", "summary"])) {
            try AppStoreNotification(payload: document.root)
        }
    }
}
