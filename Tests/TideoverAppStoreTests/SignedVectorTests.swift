import Testing
import TideoverAppStore
import TideoverCore
import TideoverJSON

/// Reads Apple's signed examples with a check that accepts any signature.
@Suite(.enabled(if: Vectors.present, "vectors are not beside the project"))
struct SignedVectorTests {
    func read(
        _ name: String,
        _ app: AppStoreIdentity,
        as authority: Authority = .appStore
    ) throws -> AppStoreReading {
        try AppStoreReader(app: app).read(
            Vectors.bytes("apple/\(name)"),
            check: FakeStore.check(as: authority)
        )
    }

    func app(
        _ environments: Set<Environment>,
        id: Int64? = nil,
        bundle: String = "com.example"
    ) -> AppStoreIdentity {
        AppStoreIdentity(bundleId: bundle, appAppleId: id, environments: environments)
    }

    @Test func `Apple's test notification is from the sandbox`() throws {
        let reading = try read("mock_signed_data/testNotification", app([.sandbox], id: 1234))
        #expect(reading.isTest)
        #expect(reading.environment == .sandbox)
        #expect(reading.dedupeKey == "notification:9ad56bd2-0bc6-42e0-af24-fd996d87a1e6")
        #expect(reading.signedAt.millisecondsSince1970 == 1_681_314_324_000)
    }

    @Test func `an app for production checks the app's number first`() {
        #expect(
            throws: AppStoreRefusal.wrongEnvironment(accepted: [.production], found: .sandbox)
        ) { try read("mock_signed_data/testNotification", app([.production], id: 1234)) }
        #expect(throws: AppStoreRefusal.wrongApp(expected: 1235, found: 1234)) {
            try read("mock_signed_data/testNotification", app([.production], id: 1235))
        }
    }

    @Test func `a wrong bundle is reported before missing fields`() {
        #expect(
            throws: AppStoreRefusal.wrongBundle(
                expected: "com.examplex",
                found: "com.example.wrong"
            )
        ) {
            try read("mock_signed_data/wrongBundleId", app([.sandbox], bundle: "com.examplex"))
        }
    }

    @Test func `a transaction of few fields is read and produces no facts`() throws {
        let reading = try read("mock_signed_data/transactionInfo", app([.sandbox]))
        #expect(reading.kind == .transaction)
        #expect(reading.signedAt.millisecondsSince1970 == 1_672_956_154_000)
        #expect(
            reading.notes == [
                .incompleteTransaction(missing: [
                    "originalTransactionId", "transactionId", "productId", "type", "purchaseDate",
                ])
            ]
        )
    }

    @Test func `a renewal info of few fields is read and produces no facts`() throws {
        let reading = try read("mock_signed_data/renewalInfo", app([.sandbox]))
        #expect(reading.kind == .renewalInfo)
        #expect(reading.notes == [.incompleteRenewalInfo(missing: ["originalTransactionId"])])
    }

    @Test(arguments: [
        "xcode-signed-transaction", "xcode-signed-renewal-info", "xcode-signed-app-transaction",
    ])
    func `Xcode's documents verify only under Xcode's certificate`(name: String) throws {
        let bundle = "com.example.naturelab.backyardbirds.example"
        let everywhere = app(Set(Environment.allCases), bundle: bundle)
        for authority: Authority in [.appStore, .pinned(.production), .pinned(.sandbox)] {
            #expect(throws: AppStoreRefusal.environmentNotVouchedFor(found: "Xcode")) {
                try read("xcode/\(name)", everywhere, as: authority)
            }
        }
        #expect(
            try read("xcode/\(name)", everywhere, as: .pinned(.xcode)).environment == .xcode
        )
    }

    @Test func `Xcode's transaction is a trial without a period id`() throws {
        let bundle = "com.example.naturelab.backyardbirds.example"
        let facts = try read(
            "xcode/xcode-signed-transaction",
            app([.xcode], bundle: bundle),
            as: .pinned(.xcode)
        ).facts(
            learnedAt: Instant(millisecondsSince1970: 0),
            source: .deviceTransaction,
            evidence: EvidenceID(hex: "00")
        )
        #expect(facts.terms.map(\.key) == [TermKey("t:0")])
        #expect(facts.terms.map { $0.offer?.kind } == [.introductory])
    }
}
