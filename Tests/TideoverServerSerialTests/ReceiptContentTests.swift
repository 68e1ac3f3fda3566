import Testing
import TideoverASN1
import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverSandbox
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// The attributes of a receipt, signed without validation.
struct ReceiptContentTests {
    /// The attributes by number, encoded as on Apple's page.
    struct Content {
        var attributes: [(type: Int64, value: [UInt8])] = [
            (0, Self.text("Production")), (2, Self.text(ReceiptStore.bundleId)),
            (3, Self.text("7")), (4, [1, 2, 3]), (5, [UInt8](repeating: 9, count: 20)),
            (12, Self.date("2026-04-01T00:00:00Z")), (19, Self.text("1.0")), (99, [0xFF]),
        ]
        var purchases: [[(type: Int64, value: [UInt8])]] = []

        static let purchase: [(type: Int64, value: [UInt8])] = [
            (1701, number(1)), (1702, text("cards.lifetime")), (1703, text("1000000000000007")),
            (1704, date("2026-03-01T10:00:00Z")), (1705, text("1000000000000007")),
            (1706, date("2026-03-01T10:00:00Z")), (1707, number(0)), (1708, date("")),
            (1711, number(0)), (1712, date("")), (1799, [0x05, 0x00]),
        ]

        var bytes: [UInt8] {
            Self.set(attributes + purchases.map { (17, Self.set($0)) })
        }

        mutating func set(_ type: Int64, _ value: [UInt8]?) {
            attributes.removeAll { $0.type == type }
            if let value { attributes.append((type, value)) }
        }

        static func set(_ attributes: [(type: Int64, value: [UInt8])]) -> [UInt8] {
            value(
                0x31,
                attributes.flatMap { attribute in
                    value(0x30, number(attribute.type) + number(1) + value(0x04, attribute.value))
                }
            )
        }

        static func text(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }
        static func date(_ text: String) -> [UInt8] { value(0x16, Array(text.utf8)) }
        static func number(_ number: Int64) -> [UInt8] {
            value(0x02, number < 128 ? [UInt8(number)] : [UInt8(number >> 8), UInt8(number & 255)])
        }
        static func value(_ identifier: UInt8, _ contents: [UInt8]) -> [UInt8] {
            let count = contents.count
            let length: [UInt8] =
                count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]
            return [identifier] + length + contents
        }
    }

    private func read(_ bytes: [UInt8]) throws -> AppStoreReading {
        let authority = try ReceiptStore.authority.get()
        let anchor = try TrustAnchor(name: "receipts", der: authority.root, keys: .rsa)
        let trust = AppStoreTrust(
            identity: AppStoreIdentity(
                bundleId: ReceiptStore.bundleId,
                environments: [.production, .simulated]
            ),
            authorities: [:],
            receiptAuthorities: [anchor: .appStore]
        )
        return try trust.readReceipt(authority.signed(bytes), at: "2026-05-01")
    }

    private func read(_ change: (inout Content) -> Void) throws -> AppStoreReading {
        var content = Content()
        change(&content)
        return try read(content.bytes)
    }

    @Test func `every attribute is decoded`() throws {
        let reading = try read { content in
            content.purchases = [Content.purchase]
            content.set(21, Content.date("4001-01-01T00:00:00Z"))
        }
        let receipt = try #require(reading.receipt)
        #expect(receipt.type?.known == .production)
        #expect(receipt.bundleId == ReceiptStore.bundleId)
        #expect(receipt.applicationVersion == "7")
        #expect(receipt.originalApplicationVersion == "1.0")
        #expect(receipt.opaqueValue == [1, 2, 3])
        #expect(receipt.digest == [UInt8](repeating: 9, count: 20))
        #expect(receipt.creationDate == "2026-04-01")
        #expect(receipt.expirationDate == "4001-01-01")
        #expect(reading.environment == .production)
        #expect(
            reading.dedupeKey == "receipt:" + String(repeating: "09", count: 20) + ":1775001600000"
        )
        let purchase = try #require(receipt.purchases.first)
        #expect(purchase.quantity == 1)
        #expect(purchase.expiresDate == nil)
        #expect(purchase.cancellationDate == nil)
        #expect(
            reading.terms == [
                Term(
                    transactionId: "1000000000000007",
                    productId: "cards.lifetime",
                    plan: .nonConsumable,
                    start: "2026-03-01T10:00:00Z",
                    end: nil,
                    origin: .purchase
                )
            ]
        )
    }

    @Test(
        arguments: [
            (0, .nonConsumable), (1, .consumable), (2, .nonRenewing), (3, .autoRenewable),
            (7, .unrecognised("7")),
        ] as [(Int64, Term.Plan)]
    )
    func `the kind of a product is decoded from a number`(number: Int64, plan: Term.Plan) throws {
        let reading = try read { content in
            content.purchases = [
                Content.purchase.map { $0.type == 1707 ? (1707, Content.number(number)) : $0 }
            ]
        }
        #expect(reading.terms.map(\.plan) == [plan])
        #expect(reading.unrecognised.count == (number == 7 ? 1 : 0))
    }

    @Test func `a cancelled purchase without a successor is refunded`() throws {
        let reading = try read { content in
            content.purchases = [
                Content.purchase.map {
                    $0.type == 1712 ? (1712, Content.date("2026-03-02T00:00:00Z")) : $0
                }
            ]
        }
        #expect(
            reading.revocations == [
                Revocation(term: TermKey("t:1000000000000007"), date: "2026-03-02", cause: .refund)
            ]
        )
    }

    @Test func `a receipt without purchases states no facts`() throws {
        let reading = try read { _ in }
        #expect(reading.allFacts.isEmpty)
        #expect(reading.notes.contains(.noPurchases))
    }

    @Test func `a repeated transaction counts once, with its first content`() throws {
        let other = Content.purchase.map { $0.type == 1702 ? (1702, Content.text("other")) : $0 }
        let reading = try read { $0.purchases = [Content.purchase, other] }
        #expect(reading.terms.map(\.productId) == ["cards.lifetime"])
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var refusal: Refused
        var change: @Sendable (inout Content) -> Void

        init(
            _ description: String,
            _ refusal: Refused,
            _ change: @escaping @Sendable (inout Content) -> Void
        ) {
            (testDescription, self.refusal, self.change) = (description, refusal, change)
        }
    }

    static let damages: [Damage] = [
        Damage("no bundle id", .wrongBundle(expected: ReceiptStore.bundleId, found: nil)) {
            $0.set(2, nil)
        },
        Damage("no date", .missingMember("receipt attribute 12")) { $0.set(12, nil) },
        Damage("an empty date", .missingMember("receipt attribute 12")) {
            $0.set(12, Content.date(""))
        },
        Damage("no digest", .missingMember("receipt attribute 5")) { $0.set(5, nil) },
        Damage("no environment", .environmentNotVouchedFor(found: nil)) { $0.set(0, nil) },
        Damage("the environment of Xcode", .environmentNotVouchedFor(found: "Xcode")) {
            $0.set(0, Content.text("Xcode"))
        },
        Damage("an unknown environment", .environmentNotVouchedFor(found: "Moon")) {
            $0.set(0, Content.text("Moon"))
        },
        Damage(
            "the sandbox where it is not served",
            .wrongEnvironment(accepted: [.production, .simulated], found: .sandbox)
        ) {
            $0.set(0, Content.text("ProductionSandbox"))
        },
        Damage("the bundle id twice", .malformed(field: "receipt attribute 2")) {
            $0.attributes.append((2, Content.text(ReceiptStore.bundleId)))
        },
        Damage("a date that is none", .malformed(field: "receipt attribute 12")) {
            $0.set(12, Content.date("2026-13-01T00:00:00Z"))
        },
        Damage("a bundle id that is a number", .malformed(field: "receipt attribute 2")) {
            $0.set(2, Content.number(1))
        },
        Damage("a bundle id with something behind it", .malformed(field: "receipt attribute 2")) {
            $0.set(2, Content.text(ReceiptStore.bundleId) + [0])
        },
        Damage("a quantity that is a text", .malformed(field: "receipt attribute 1701")) {
            $0.purchases = [[(1701, Content.text("1"))]]
        },
        Damage("a trial flag of 2", .malformed(field: "receipt attribute 1713")) {
            $0.purchases = [[(1713, Content.number(2))]]
        },
        Damage("a product id twice", .malformed(field: "receipt attribute 1702")) {
            $0.purchases = [Content.purchase + [(1702, Content.text("other"))]]
        },
        Damage("a purchase that is no set", .malformedReceipt(.unexpectedTag(0x04))) {
            $0.attributes.append((17, [0x04, 0x00]))
        },
        Damage("a purchase cut short", .malformedReceipt(.truncated)) {
            $0.attributes.append((17, [0x31, 0x05, 0x30]))
        },
        Damage("an empty purchase", .malformedReceipt(.truncated)) {
            $0.attributes.append((17, []))
        },
    ]

    @Test(arguments: damages)
    func `a signed receipt with invalid content is rejected with its reason`(damage: Damage)
        throws
    {
        #expect(throws: damage.refusal) { try read(damage.change) }
    }

    @Test func `content that is not a set or is truncated is rejected`() throws {
        var content = Content()
        content.purchases = [Content.purchase]
        #expect(throws: Refused.malformedReceipt(.unexpectedTag(0x30))) {
            try read([0x30] + content.bytes.dropFirst())
        }
        let bytes = content.bytes
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: Refused.malformedReceipt(.truncated)) {
                try read(Array(bytes.prefix(count)))
            }
        }
        #expect(throws: Refused.malformedReceipt(.trailingBytes)) { try read(bytes + [0]) }
    }

    @Test(arguments: ["MII", "MIIA!", "MIIAbc==x"])
    func `text that is not base64 is not a receipt`(text: String) throws {
        let trust = try ReceiptStore(at: "2026-01-01").trust()
        #expect(throws: Refused.notBase64) {
            try trust.readReceipt(Array(text.utf8), at: "2026-05-01")
        }
    }
}
