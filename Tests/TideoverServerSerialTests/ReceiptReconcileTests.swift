import Testing
import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSQLite
import TideoverSandbox
import TideoverServer
import TideoverSignatures
import TideoverStorage

@testable import TideoverTestServer

/// Receipts of StoreKit 1 that devices present.
@Suite struct ReceiptReconcileTests {
    static let catalogue = Catalogue(products: [
        ReceiptStore.monthly: Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(months: 1)
        ),
        ReceiptStore.yearly: Product(
            entitlements: ["premium"],
            group: "pro",
            period: Period(years: 1)
        ),
        "cards.lifetime": Product(entitlements: ["premium"], kind: .nonConsumable),
        "cards.themes": Product(entitlements: ["themes"], kind: .nonConsumable),
    ])

    private func server(receipts: Bool = true, bundleId: String = ReceiptStore.bundleId) throws
        -> TestServer
    {
        try TestServer(
            catalogue: Self.catalogue,
            bundleId: bundleId,
            receiptAuthorities: receipts ? try Device.receiptAuthorities() : [:]
        )
    }

    private static func base64(_ container: [UInt8]) -> String {
        Base64.encodeString(container, .standard)
    }

    /// Returns the receipt of nine purchases from a sandbox.
    private static func nine(_ form: ReceiptForm = .der) throws -> [UInt8] {
        try ReceiptStore.nine(environment: .sandbox).container(form)
    }

    private static func answer() throws -> JSONValue {
        let body = try ReceiptStore.nine(environment: .sandbox).answer()
        return JSONValue(try JSONDocument(body, limits: .storeAnswer).root)
    }

    private func evidence(_ server: TestServer) throws -> [Evidence] {
        try server.storage.evidence(in: AppScope("cards", .sandbox), after: nil, limit: 100)
    }

    // MARK: Facts

    @Test func `a receipt grants its purchases and is stored byte by byte`() async throws {
        let server = try server()
        let text = Self.base64(try Self.nine())
        let (status, answer) = try await Device(server: server).present([
            "receipts": [.string(text)]
        ])
        #expect(status == 200)
        #expect(Device.items(answer) == ["accepted claimed"])
        #expect(answer["environment"]?.string == "sandbox")
        let item = try #require(answer["items"]?.array?.first)
        #expect(item["kind"]?.string == "receipt")
        #expect(item["environment"]?.string == "sandbox")
        #expect(item["lineages"]?.array?.count == 1)
        let premium = answer["entitlements"]?["premium"]
        #expect(premium?["state"]?.string == "active")
        #expect(premium?["confidence"]?.string == "confirmed")
        #expect(premium?["productId"]?.string == ReceiptStore.yearly)
        #expect(premium?["accessUntil"]?.string == "2027-03-25T00:00:00.000Z")
        let kept = try evidence(server)
        #expect(kept.map(\.bytes) == [Array(text.utf8)])
        #expect(kept.map(\.source) == [.appReceipt])
        #expect(kept.map(\.signedAt) == ["2026-04-01"])
        // A replay finds only stored facts.
        let report = try await server.service.replayed()
        #expect(report["facts"]?.int64 == 10)
        #expect(report["unreadable"] == [:])
        for list in ["added", "unread", "changed"] { #expect(report[list]?["count"]?.int64 == 0) }
        await server.close()
    }

    @Test func `a receipt, its answer and a purchase object with it are one evidence`()
        async throws
    {
        let server = try server()
        let device = Device(server: server)
        let receipt = JSONValue.string(Self.base64(try Self.nine()))
        let forms: [JSONObject] = [
            ["receiptAnswers": [try Self.answer()]],
            ["receipts": [receipt]],
            ["receipts": [.string(Self.base64(try Self.nine(.ber)))]],
            ["purchases": [["platform": "ios", "transactionReceipt": receipt]]],
            [
                "purchases": [
                    ["store": "apple", "purchaseToken": "", "transactionReceipt": receipt]
                ]
            ],
        ]
        for (number, form) in forms.enumerated() {
            let answer = try await device.present(form).answer
            #expect(Device.items(answer) == ["accepted " + (number == 0 ? "claimed" : "held")])
            let isKnown = answer["items"]?.array?.first?["isKnown"]?.bool
            #expect(isKnown == (number > 0), "form \(number)")
        }
        #expect(try evidence(server).count == 1)
        await server.close()
    }

    @Test func `only the receipt of an answer is trusted and stored`() async throws {
        let server = try server()
        let text = String(decoding: try Self.answer().encoded(), as: UTF8.self)
            .replacing("\"expires_date_ms\":\"17", with: "\"expires_date_ms\":\"97")
        let forged = JSONValue(try JSONDocument(Array(text.utf8), limits: .storeAnswer).root)
        let answer = try await Device(server: server).present(["receiptAnswers": [forged]]).answer
        #expect(Device.items(answer) == ["accepted claimed"])
        let premium = answer["entitlements"]?["premium"]
        #expect(premium?["accessUntil"]?.string == "2027-03-25T00:00:00.000Z")
        #expect(
            try evidence(server).map(\.bytes) == [Array(Self.base64(try Self.nine()).utf8)]
        )
        await server.close()
    }

    // MARK: Every purchase in it

    /// Returns a receipt with a lifetime purchase and a set of themes, bought separately.
    static func two() throws -> JSONValue {
        typealias Content = ReceiptContentTests.Content
        var content = Content()
        content.set(0, Content.text("ProductionSandbox"))
        let themes: [(type: Int64, value: [UInt8])] = Content.purchase.map { attribute in
            switch attribute.type {
            case 1702: (1702, Content.text("cards.themes"))
            case 1703, 1705: (attribute.type, Content.text("1000000000000008"))
            default: attribute
            }
        }
        content.purchases = [Content.purchase, themes]
        return .string(base64(try ReceiptStore.authority.get().signed(content.bytes)))
    }

    /// The transaction of the lifetime purchase in that receipt.
    static var lifetime: JSONObject {
        var lifetime = Device.transaction(0)
        lifetime["originalTransactionId"] = "1000000000000007"
        lifetime["transactionId"] = "1000000000000007"
        lifetime["webOrderLineItemId"] = nil
        lifetime["expiresDate"] = nil
        lifetime["type"] = "Non-Consumable"
        lifetime["productId"] = "cards.lifetime"
        return lifetime
    }

    @Test func `each purchase in a receipt is claimed separately`() async throws {
        let server = try server()
        let first = Device(server: server, customer: "u_1")
        let second = Device(server: server, customer: "u_2")
        // u_2 already owns the first of the two, by a transaction.
        let signed = JSONValue.string(try server.store.sign(Self.lifetime))
        let own = try await second.present(["transactions": [signed]]).answer
        #expect(Device.items(own) == ["accepted claimed"])
        let answer = try await first.present(["receipts": [try Self.two()]]).answer
        #expect(Device.items(answer) == ["accepted held-by-another claimed"])
        let lineages = answer["items"]?.array?.first?["lineages"]?.array ?? []
        #expect(lineages.map { $0["detail"] != nil } == [true, false])
        #expect(answer["entitlements"]?["themes"]?["state"]?.string == "active")
        #expect(answer["entitlements"]?["premium"]?["state"]?.string == "never")
        #expect(try await server.premium("u_2") == "active lifetime access")
        await server.close()
    }

    @Test func `a receipt after a transaction does not change the answer`() async throws {
        typealias Content = ReceiptContentTests.Content
        let server = try server()
        let device = Device(server: server)
        var code = Device.transaction(1)
        code["offerType"] = 3
        code["offerDiscountType"] = "FREE_TRIAL"
        code["offerIdentifier"] = "SPRING"
        let signed = JSONValue.string(try server.store.sign(code))
        let rich = try await device.present(["transactions": [signed]]).answer
        #expect(rich["entitlements"]?["premium"]?["reason"]?.string == "trial")
        var content = Content()
        content.set(0, Content.text("ProductionSandbox"))
        content.set(12, Content.date("2026-05-01T10:00:04Z"))
        content.purchases = [
            [
                (1701, Content.number(1)), (1702, Content.text("cards.pro.monthly")),
                (1703, Content.text("2000000000000001")),
                (1704, Content.date("2026-05-01T10:00:00Z")),
                (1705, Content.text("2000000000000001")), (1707, Content.number(3)),
                (1708, Content.date("2026-06-01T10:00:00Z")),
                (1711, Content.value(0x02, [0x35, 0xA4, 0xE9, 0x01])),
            ]
        ]
        let receipt = try ReceiptStore.authority.get().signed(content.bytes)
        let poor = try await device.present(["receipts": [.string(Self.base64(receipt))]]).answer
        #expect(Device.items(poor) == ["accepted held"])
        #expect(poor["entitlements"] == rich["entitlements"])
        await server.close()
    }

    // MARK: Rejections

    @Test func `an invalid receipt is rejected, and the others are accepted`() async throws {
        let server = try server()
        let stranger = try ReceiptStore.stranger.get()
        let nine = try ReceiptStore.nine(environment: .sandbox)
        let forged = stranger.signed(try nine.receipt().content())
        let bare = try nine.receipt().answer(carrying: nil)
        let production = try ReceiptStore.nine().container()
        let signed = try server.store.sign(Device.transaction(1))
        let (status, answer) = try await Device(server: server).present([
            "receipts": [
                .string(Self.base64(forged)), "MII?", 7, .string(signed),
                .string(Self.base64(production)), .string(Self.base64(try Self.nine())),
            ],
            "receiptAnswers": [
                ["status": 21007], JSONValue(try JSONDocument(bare, limits: .storeAnswer).root),
                "x",
            ],
            "transactions": [.string(Self.base64(try Self.nine()))],
        ])
        #expect(status == 200)
        #expect(
            Device.items(answer) == [
                "refused not-compact-jws", "refused untrusted-root", "refused not-base64",
                "refused not-signed", "refused not-base64",
                "refused environment-not-vouched-for", "accepted claimed",
                "refused receipt-status", "refused unsigned-answer", "refused not-signed",
            ]
        )
        #expect(try await server.premium("u_42") == "active paid access")
        await server.close()
    }

    @Test func `a receipt of another app is rejected`() async throws {
        let server = try server(bundleId: "com.example.other")
        let receipt = JSONValue.string(Self.base64(try Self.nine()))
        let answer = try await Device(server: server).present(["receipts": [receipt]]).answer
        #expect(Device.items(answer) == ["refused wrong-bundle"])
        await server.close()
    }

    @Test func `without a root receipts are rejected and do not use the sender's budget`()
        async throws
    {
        let server = try server(receipts: false)
        let receipt = JSONValue.string(Self.base64(try Self.nine()))
        for _ in 0..<80 {
            let (status, answer) = try await Device(server: server).present(["receipts": [receipt]])
            #expect(status == 200)
            #expect(Device.items(answer) == ["refused receipts-not-configured"])
        }
        await server.close()
    }
}
