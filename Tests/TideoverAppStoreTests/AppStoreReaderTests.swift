import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON

@Suite struct AppStoreReaderTests {
    // MARK: Input formats

    @Test func `a notification is read from the body that Apple posts`() throws {
        let payload = FakeStore.notification("DID_RENEW", "BILLING_RECOVERY")
        let reading = try FakeStore.reader().readNotification(
            body: FakeStore.body(payload),
            check: FakeStore.check()
        )
        #expect(reading.kind == .notification)
        #expect(reading.notificationType == "DID_RENEW")
        #expect(reading.subtype == "BILLING_RECOVERY")
        #expect(reading.environment == .production)
        #expect(reading.claimedEnvironment == "Production")
        #expect(reading.dedupeKey == "notification:002e14d5-51f5-4503-b5a8-c3a1af68eb20")
        #expect(reading.signedAt.millisecondsSince1970 == FakeStore.start + 3000)
        #expect(reading.transaction?.productId == "cards.pro.monthly")
        #expect(reading.renewalInfo?.autoRenewStatus?.known == .on)
        #expect(reading.unrecognised.isEmpty)
        #expect(reading.notes.isEmpty)
        #expect(!reading.isTest)
    }

    @Test func `a bare JWS is classified by its fields, white space ignored`() throws {
        let app: JSONObject = [
            "receiptType": "Production", "bundleId": .string(FakeStore.bundleId),
            "appAppleId": .integer(FakeStore.appAppleId), "appTransactionId": "70",
            "receiptCreationDate": .integer(FakeStore.start),
        ]
        let date = FakeStore.start
        let cases: [(JSONObject, AppStoreReading.Kind, String)] = [
            (
                FakeStore.notification("TEST"), .notification,
                "notification:002e14d5-51f5-4503-b5a8-c3a1af68eb20"
            ),
            (
                FakeStore.transaction(), .transaction,
                "transaction:2000000000000002:\(date + 1000)"
            ),
            (
                FakeStore.renewalInfo(), .renewalInfo,
                "renewalInfo:2000000000000001:\(date + 2000)"
            ),
            (app, .appTransaction, "appTransaction:70:\(date)"),
        ]
        for (payload, kind, key) in cases {
            let text = Array("\n  \(FakeStore.seal(payload))\r\n".utf8)
            let reading = try FakeStore.reader().read(text, check: FakeStore.check())
            #expect(reading.kind == kind)
            #expect(reading.dedupeKey == key)
        }
    }

    @Test func `the notification endpoint accepts only notifications`() {
        let body = FakeStore.body(FakeStore.transaction())
        #expect(throws: AppStoreRefusal.notANotification) {
            try FakeStore.reader().readNotification(body: body, check: FakeStore.check())
        }
    }

    @Test func `the latest signing date of all parts is reported`() throws {
        let late = FakeStore.transaction(["signedDate": .integer(FakeStore.end)])
        let reading = try FakeStore.read(FakeStore.notification("DID_RENEW", transaction: late))
        #expect(reading.latestSignedAt.millisecondsSince1970 == FakeStore.end)
        #expect(reading.signedAt.millisecondsSince1970 == FakeStore.start + 3000)
    }

    // MARK: Invalid bodies

    @Test(arguments: [
        ("{", "malformed-json"), (#"{"signedPayload":"a","signedPayload":"b"}"#, "duplicate-key"),
        ("{}", "missing-member"), (#"{"signedPayload":null}"#, "missing-member"),
        (#"{"signedPayload":5}"#, "malformed"), (#"{"signed_payload":"a.b.c"}"#, "missing-member"),
    ])
    func `a body without an envelope is refused`(body: String, code: String) {
        let error = #expect(throws: AppStoreRefusal.self) {
            try FakeStore.reader().read(Array(body.utf8), check: FakeStore.check())
        }
        #expect(error?.code == code)
    }

    @Test func `a notification of version 1 is refused with the setting to change`() {
        let body = Array(#"{"notification_type":"DID_RENEW","unified_receipt":{}}"#.utf8)
        let error = #expect(throws: AppStoreRefusal.self) {
            try FakeStore.reader().readNotification(body: body, check: FakeStore.check())
        }
        #expect(error?.code == "missing-member")
        #expect(error?.sentence.contains("choose version 2 in App Store Connect") == true)
    }

    @Test(arguments: ["", "   ", "not a jws", "[]"])
    func `an error of the signature check reaches the caller unchanged`(text: String) {
        #expect(throws: FakeStore.BrokenSeal.self) {
            try FakeStore.reader().read(Array(text.utf8), check: FakeStore.check())
        }
    }

    @Test(arguments: ["signedTransactionInfo", "signedRenewalInfo"])
    func `an invalid signature of a part refuses the whole message`(part: String) {
        let payload = FakeStore.notification("DID_RENEW", data: [part: "x.y"])
        #expect(throws: FakeStore.BrokenSeal.self) { try FakeStore.read(payload) }
    }

    @Test func `every signed part is verified, also for an unknown type`() throws {
        var checked = 0
        _ = try FakeStore.reader().read(FakeStore.body(FakeStore.notification("NEW_THING"))) {
            checked += 1
            return try FakeStore.check()($0)
        }
        #expect(checked == 3)
    }

    @Test func `the parts of a message to another app are not verified`() {
        var checked = 0
        let payload = FakeStore.notification("DID_RENEW", data: ["bundleId": "com.example.other"])
        #expect(throws: AppStoreRefusal.self) {
            try FakeStore.reader().read(FakeStore.body(payload)) {
                checked += 1
                return try FakeStore.check()($0)
            }
        }
        #expect(checked == 1)
    }

    @Test func `content that the App Store does not document is refused`() {
        let realtimeRequest: JSONObject = [
            "originalTransactionId": "1", "appAppleId": .integer(FakeStore.appAppleId),
            "productId": "cards.pro.monthly", "userLocale": "en-US", "requestIdentifier": "r",
            "environment": "Production", "signedDate": .integer(FakeStore.start),
        ]
        for payload in [realtimeRequest, [:], ["a": 1]] {
            #expect(throws: AppStoreRefusal.unrecognisedContent) { try FakeStore.read(payload) }
        }
    }

    @Test(arguments: [
        ("notificationUUID", "notificationUUID"), ("signedDate", "signedDate"),
        ("notificationType", "notificationType"), ("data", "data"),
    ])
    func `a notification without a required identifier is refused`(member: String, named: String) {
        let payload = FakeStore.notification("DID_RENEW", outer: [member: nil])
        #expect(throws: AppStoreRefusal.missingMember(named)) { try FakeStore.read(payload) }
    }

    @Test func `an empty notificationUUID is refused`() {
        let payload = FakeStore.notification("DID_RENEW", outer: ["notificationUUID": ""])
        #expect(throws: AppStoreRefusal.missingMember("notificationUUID")) {
            try FakeStore.read(payload)
        }
    }

    @Test func `a bare transaction without a signed date is refused`() {
        #expect(throws: AppStoreRefusal.missingMember("signedDate")) {
            try FakeStore.read(FakeStore.transaction(["signedDate": nil]))
        }
    }

    @Test func `a malformed field is reported with the name of its part`() {
        let payload = FakeStore.notification(
            "DID_RENEW",
            transaction: FakeStore.transaction(["price": "9.99"])
        )
        #expect(throws: AppStoreRefusal.malformed(field: "signedTransactionInfo.price")) {
            try FakeStore.read(payload)
        }
    }

    // MARK: App identity

    @Test(arguments: ["com.example.other", nil, "com.example.Cards"] as [String?])
    func `a notification for another bundle is refused`(bundle: String?) {
        let found: JSONValue = bundle.map { .string($0) } ?? .null
        let payload = FakeStore.notification("DID_RENEW", data: ["bundleId": found])
        #expect(
            throws: AppStoreRefusal.wrongBundle(expected: FakeStore.bundleId, found: bundle)
        ) {
            try FakeStore.read(payload)
        }
    }

    @Test func `another bundle is reported before missing fields`() {
        let bare = FakeStore.notification(
            "TEST",
            transaction: nil,
            renewalInfo: nil,
            data: ["bundleId": "com.example.other", "environment": nil],
            outer: ["signedDate": nil, "notificationUUID": nil]
        )
        #expect(
            throws: AppStoreRefusal.wrongBundle(
                expected: FakeStore.bundleId,
                found: "com.example.other"
            )
        ) {
            try FakeStore.read(bare)
        }
    }

    @Test func `a transaction for another bundle is refused, bare or in a notification`() {
        let other = FakeStore.transaction(["bundleId": "com.example.other"])
        #expect(
            throws: AppStoreRefusal.wrongBundle(
                expected: FakeStore.bundleId,
                found: "com.example.other"
            )
        ) { try FakeStore.read(other) }
        #expect(
            throws: AppStoreRefusal.nestedMismatch(
                part: .transaction,
                field: "bundleId",
                outer: FakeStore.bundleId,
                inner: "com.example.other"
            )
        ) { try FakeStore.read(FakeStore.notification("DID_RENEW", transaction: other)) }
    }

    @Test(
        arguments: [
            ("Production", 99, true), ("Production", nil, true),
            ("Production", 1_234_567_890, false),
            ("Sandbox", 99, false), ("Sandbox", nil, false), ("Sandbox", 1_234_567_890, false),
        ] as [(String, Int64?, Bool)]
    )
    func `the app's number is checked in production`(environment: String, id: Int64?, refused: Bool)
    {
        let changes: JSONObject = [
            "environment": .string(environment), "appAppleId": id.map { .integer($0) } ?? .null,
        ]
        let payload = FakeStore.notification(
            "TEST",
            transaction: nil,
            renewalInfo: nil,
            data: changes
        )
        let expected = AppStoreRefusal.wrongApp(expected: FakeStore.appAppleId, found: id)
        #expect(refusal(of: payload) == (refused ? expected : nil))
    }

    /// Apple's libraries also check the app before the environment.
    @Test(
        arguments: [
            (1_234_567_890, "wrong-environment"), (nil, "wrong-environment"), (99, "wrong-app"),
        ] as [(Int64?, String)]
    )
    func `an app for production only checks the app's number before the environment`(
        id: Int64?,
        code: String
    ) {
        let changes: JSONObject = [
            "environment": "Sandbox", "appAppleId": id.map { .integer($0) } ?? .null,
        ]
        let payload = FakeStore.notification(
            "TEST",
            transaction: nil,
            renewalInfo: nil,
            data: changes
        )
        #expect(refusal(of: payload, for: [.production])?.code == code)
    }

    private func refusal(
        of payload: JSONObject,
        for environments: Set<Environment> = [.production, .sandbox]
    ) -> AppStoreRefusal? {
        do {
            _ = try FakeStore.read(payload, for: environments)
            return nil
        } catch {
            return error as? AppStoreRefusal
        }
    }

    @Test func `without a configured app number none is compared`() throws {
        let reader = AppStoreReader(
            app: AppStoreIdentity(bundleId: FakeStore.bundleId, environments: [.production])
        )
        let payload = FakeStore.notification("DID_RENEW", data: ["appAppleId": 99])
        #expect(
            try reader.read(FakeStore.body(payload), check: FakeStore.check()).kind == .notification
        )
    }

    // MARK: Environment by authority

    @Test(
        arguments: [
            (.appStore, "Production", .production), (.appStore, "Sandbox", .sandbox),
            (.appStore, "Xcode", nil), (.appStore, "LocalTesting", nil), (.appStore, "Moon", nil),
            (.appStore, nil, nil), (.simulated, "Production", .simulated),
            (.simulated, "Sandbox", .simulated), (.simulated, "Xcode", .simulated),
            (.simulated, "Moon", .simulated), (.simulated, nil, .simulated),
            (.pinned(.production), "Production", .production),
            (.pinned(.production), "Sandbox", nil),
            (.pinned(.production), nil, nil), (.pinned(.sandbox), "Sandbox", .sandbox),
            (.pinned(.sandbox), "Production", nil), (.pinned(.xcode), "Xcode", .xcode),
            (.pinned(.xcode), "LocalTesting", .xcode), (.pinned(.xcode), "Production", nil),
            (.pinned(.simulated), "Production", .simulated), (.pinned(.simulated), nil, .simulated),
        ] as [(Authority, String?, Environment?)]
    )
    func `the signing root decides the environment`(
        authority: Authority,
        claim: String?,
        environment: Environment?
    ) throws {
        let claimed: JSONValue = claim.map { .string($0) } ?? .null
        let payload = FakeStore.notification(
            "DID_RENEW",
            transaction: FakeStore.transaction(["environment": claimed]),
            renewalInfo: FakeStore.renewalInfo(["environment": claimed]),
            data: ["environment": claimed]
        )
        let all = Set(Environment.allCases)
        guard let environment else {
            #expect(throws: AppStoreRefusal.environmentNotVouchedFor(found: claim)) {
                try FakeStore.read(payload, as: authority, for: all)
            }
            return
        }
        let reading = try FakeStore.read(payload, as: authority, for: all)
        #expect(reading.environment == environment)
        #expect(reading.claimedEnvironment == claim)
        let facts = try FakeStore.facts(payload, as: authority, for: all)
        #expect(!facts.isEmpty)
        #expect(facts.allSatisfy { $0.lineage.environment == environment })
    }

    @Test func `a simulated store that claims production is simulated, with a note`() throws {
        let reading = try FakeStore.read(
            FakeStore.notification("DID_RENEW"),
            as: .simulated,
            for: [.simulated]
        )
        #expect(reading.notes == [.claimsEnvironment("Production", instead: .simulated)])
    }

    @Test func `a simulated store's number for the app is not compared`() throws {
        let payload = FakeStore.notification("DID_RENEW", data: ["appAppleId": 7])
        #expect(
            try FakeStore.read(payload, as: .simulated, for: [.simulated]).environment == .simulated
        )
    }

    @Test func `an app for production refuses a simulated store`() {
        #expect(
            throws: AppStoreRefusal.wrongEnvironment(
                accepted: [.production, .sandbox],
                found: .simulated
            )
        ) {
            try FakeStore.read(FakeStore.notification("DID_RENEW"), as: .simulated)
        }
    }

    @Test func `an environment that the app does not use is refused`() {
        #expect(
            throws: AppStoreRefusal.wrongEnvironment(accepted: [.sandbox], found: .production)
        ) {
            try FakeStore.read(FakeStore.notification("DID_RENEW"), for: [.sandbox])
        }
    }

    // MARK: Parts that disagree

    @Test(arguments: ["signedTransactionInfo", "signedRenewalInfo"])
    func `parts of another environment are refused`(part: String) {
        let isTransaction = part == "signedTransactionInfo"
        for environment in ["Sandbox", nil] as [String?] {
            let change: JSONObject = ["environment": environment.map { .string($0) } ?? .null]
            let payload = FakeStore.notification(
                "DID_RENEW",
                transaction: FakeStore.transaction(isTransaction ? change : [:]),
                renewalInfo: FakeStore.renewalInfo(isTransaction ? [:] : change)
            )
            #expect(
                throws: AppStoreRefusal.nestedMismatch(
                    part: isTransaction ? .transaction : .renewalInfo,
                    field: "environment",
                    outer: "Production",
                    inner: environment
                )
            ) { try FakeStore.read(payload) }
        }
    }

    @Test func `parts of different subscriptions are refused`() {
        let payload = FakeStore.notification(
            "DID_RENEW",
            renewalInfo: FakeStore.renewalInfo(["originalTransactionId": "2000000000000009"])
        )
        #expect(
            throws: AppStoreRefusal.nestedMismatch(
                part: .renewalInfo,
                field: "originalTransactionId",
                outer: "2000000000000001",
                inner: "2000000000000009"
            )
        ) { try FakeStore.read(payload) }
    }

    @Test func `a transaction in the renewal info's place is refused`() {
        let payload = FakeStore.notification("DID_RENEW", renewalInfo: FakeStore.transaction())
        let error = AppStoreRefusal.nestedMismatch(
            part: .renewalInfo,
            field: "kind",
            outer: "signedRenewalInfo",
            inner: "signedTransactionInfo"
        )
        #expect(throws: error) { try FakeStore.read(payload) }
        #expect(error.sentence == "signedRenewalInfo contains signedTransactionInfo.")
    }

    /// Tests a renewal info with a bundle ID, which would pass all other comparisons.
    @Test func `a renewal info in the transaction's place is refused`() {
        let renewal = FakeStore.renewalInfo(["bundleId": .string(FakeStore.bundleId)])
        #expect(
            throws: AppStoreRefusal.nestedMismatch(
                part: .transaction,
                field: "kind",
                outer: "signedTransactionInfo",
                inner: "signedRenewalInfo"
            )
        ) { try FakeStore.read(FakeStore.notification("DID_RENEW", transaction: renewal)) }
    }

    @Test(arguments: 1...2)
    func `parts signed under another root are refused`(position: Int) {
        var opened = 0
        let error = #expect(throws: AppStoreRefusal.self) {
            try FakeStore.reader().read(FakeStore.body(FakeStore.notification("DID_RENEW"))) {
                defer { opened += 1 }
                return try FakeStore.check(as: opened == position ? .simulated : .appStore)($0)
            }
        }
        #expect(
            error
                == .nestedMismatch(
                    part: position == 1 ? .transaction : .renewalInfo,
                    field: "authority",
                    outer: "appStore",
                    inner: "simulated"
                )
        )
    }

    @Test func `an app transaction in a notification must belong to the same app`() throws {
        func payload(_ changes: JSONObject) -> JSONObject {
            let inner: JSONObject = [
                "receiptType": "Production", "bundleId": .string(FakeStore.bundleId),
                "appAppleId": .integer(FakeStore.appAppleId),
                "receiptCreationDate": .integer(FakeStore.start),
            ]
            let outer: JSONObject = [
                "bundleId": .string(FakeStore.bundleId), "environment": "Production",
                "appAppleId": .integer(FakeStore.appAppleId),
                "signedAppTransactionInfo": .string(FakeStore.seal(inner.changed(by: changes))),
            ]
            return FakeStore.notification(
                "RESCIND_CONSENT",
                outer: ["data": nil, "appData": .object(outer)]
            )
        }
        let reading = try FakeStore.read(payload([:]))
        #expect(reading.notes == [.consentRescinded])
        #expect(reading.appTransaction?.bundleId == FakeStore.bundleId)
        for change: JSONObject in [
            ["bundleId": "com.example.other"], ["receiptType": "Sandbox"], ["appAppleId": 5],
        ] {
            let error = #expect(throws: AppStoreRefusal.self) {
                try FakeStore.read(payload(change))
            }
            #expect(error?.code == "nested-mismatch")
        }
    }
}
