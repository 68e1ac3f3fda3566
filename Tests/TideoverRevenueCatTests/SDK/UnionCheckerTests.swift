import Foundation
import Testing
import TideoverCore
import TideoverJSON
import TideoverUnionChecker

/// Tests the checker against conclusions that the decoders of the SDKs themselves reached.
@Suite struct UnionCheckerTests {
    @Test(.enabled(if: SDKVectors.present), arguments: SDKVectors.customerInfos)
    func `it concludes what both decoders concluded`(name: String) throws {
        let vector = try SDKVectors.read(name)
        let body = try #require(vector["response"]?["body"])
        let time = try #require(
            vector["response"]?["headers"]?["X-RevenueCat-Request-Time"]?.string
        )
        let checker = try UnionChecker(decoding: Array(body.source), requestTime: time)
        let isWrong = vector["level"]?.string == "NEVER"
        #expect(checker.traps().isEmpty == !isWrong)
        for platform in [UnionChecker.Platform.ios, .android] {
            let seen = try #require(vector["observed_with_real_decoders"]?[platform.rawValue])
            #expect(checker.conclusions(on: platform) == JSONValue(seen).withSortedLists)
        }
    }

    @Test(
        .enabled(if: Vectors.present),
        arguments: [
            "CustomerInfoWithDuplicateMappedProductKeys.json",
            "CustomerInfoWithInvalidSubscription.json",
        ]
    )
    func `it refuses what a decoder refuses`(name: String) throws {
        #expect(throws: UnionChecker.Refusal.self) {
            try UnionChecker(Vectors.bytes(name))
        }
    }

    /// A body with one member of its subscription or entitlement replaced.
    private static func body(
        _ path: [String],
        _ value: JSONValue?
    ) -> [UInt8] {
        let whole = JSONValue.object(SDKBody.whole)
        return (SDKBody.replacing(path[...], of: whole, with: value) ?? .null).encoded()
    }

    @Test func `the body that the traps change is accepted`() throws {
        let checker = try UnionChecker(JSONValue.object(SDKBody.whole).encoded())
        #expect(checker.isActive("premium", on: .ios))
        #expect(checker.isActive("premium", on: .android))
        #expect(checker.isActive("premium", on: .web))
    }

    private static let subscription = ["subscriber", "subscriptions", "pro"]
    private static let entitlement = ["subscriber", "entitlements", "premium"]
    private static let purchase = ["subscriber", "non_subscriptions", "coins", "0"]

    @Test(
        arguments: [
            (["request_date"], nil), (["request_date"], "2031-05-06 10:00:00Z"),
            (["request_date"], 12), (["request_date"], "2031-05-06"), (["request_date"], ""),
            (["subscriber"], nil), (["subscriber", "original_app_user_id"], .null),
            (["subscriber", "first_seen"], .null), (["subscriber", "subscriptions"], nil),
            (["subscriber", "non_subscriptions"], .null),
            (subscription + ["purchase_date"], nil),
            (subscription + ["original_purchase_date"], nil),
            (subscription + ["store"], nil), (subscription + ["is_sandbox"], .null),
            (subscription + ["period_type"], "promotional"),
            (subscription + ["ownership_type"], .null),
            (subscription + ["ownership_type"], "UNKNOWN"),
            (subscription + ["product_plan_identifier"], .null),
            (subscription + ["store_transaction_id"], 7), (subscription + ["expires_date"], ""),
            (subscription + ["price"], ["amount": "4.99", "currency": "EUR"]),
            (entitlement + ["product_identifier"], "other"), (entitlement + ["purchase_date"], nil),
            (entitlement + ["product_plan_identifier"], .null),
            (purchase + ["id"], nil), (purchase + ["store_transaction_id"], .null),
            (purchase + ["is_sandbox"], nil), (purchase + ["display_name"], .null),
            (purchase + ["original_purchase_date"], .null),
        ] as [([String], JSONValue?)]
    )
    func `it refuses a trap of either platform`(path: [String], value: JSONValue?) {
        #expect(throws: UnionChecker.Refusal.self, "\(path)") {
            try UnionChecker(Self.body(path, value))
        }
    }

    @Test func `a duplicate key is refused`() {
        let text = #"{"request_date":"2031-05-06T10:00:00Z","request_date":"2031-05-06T10:00:00Z"}"#
        #expect(throws: UnionChecker.Refusal.self) { try UnionChecker(Array(text.utf8)) }
    }

    @Test func `after three days the clock of the device decides`() throws {
        let checker = try UnionChecker(JSONValue.object(SDKBody.whole).encoded())
        let asked = checker.requestDate
        let later = asked + .days(3)
        for platform in [UnionChecker.Platform.ios, .android] {
            #expect(checker.reference(on: platform, deviceNow: later) == asked)
            #expect(
                checker.reference(on: platform, deviceNow: later + .seconds(1))
                    == later + .seconds(1)
            )
        }
        #expect(!checker.isActive("premium", on: .ios, deviceNow: asked + .days(30)))
    }
}

extension JSONValue {
    /// The value with its lists of texts in order.
    fileprivate var withSortedLists: JSONValue {
        guard var object else { return self }
        for member in object {
            let texts = member.value.array?.compactMap(\.string).sorted()
            if let texts { object[member.key] = .array(texts.map(JSONValue.string)) }
        }
        return .object(object)
    }
}

/// A customer info with a subscription, a one-time purchase and an entitlement.
enum SDKBody {
    static let whole: JSONObject = [
        "request_date": "2031-05-06T10:00:00Z", "request_date_ms": 1_935_828_000_000,
        "subscriber": [
            "original_app_user_id": "u_42", "first_seen": "2031-01-17T09:58:00Z",
            "subscriptions": [
                "pro": [
                    "purchase_date": "2031-04-17T10:00:00Z",
                    "original_purchase_date": "2031-01-17T10:00:00Z",
                    "expires_date": "2031-05-17T10:00:00Z", "store": "play_store",
                    "is_sandbox": false, "period_type": "normal", "ownership_type": "PURCHASED",
                    "product_plan_identifier": "monthly",
                ]
            ],
            "non_subscriptions": [
                "coins": [
                    [
                        "id": "1", "store_transaction_id": "2",
                        "purchase_date": "2031-04-17T10:00:00Z",
                        "original_purchase_date": "2031-04-17T10:00:00Z", "store": "play_store",
                        "is_sandbox": false,
                    ]
                ]
            ],
            "entitlements": [
                "premium": [
                    "product_identifier": "pro", "purchase_date": "2031-04-17T10:00:00Z",
                    "expires_date": "2031-05-17T10:00:00Z", "product_plan_identifier": "monthly",
                ]
            ],
        ],
    ]

    /// Returns a value with the member at a path replaced, or removed for nil.
    static func replacing(
        _ path: ArraySlice<String>,
        of value: JSONValue,
        with replacement: JSONValue?
    ) -> JSONValue? {
        guard let name = path.first else { return replacement }
        if let list = value.array, let first = list.first {
            return .array([replacing(path.dropFirst(), of: first, with: replacement) ?? .null])
        }
        guard var object = value.object else { return value }
        object[name] = replacing(path.dropFirst(), of: object[name] ?? .null, with: replacement)
        return .object(object)
    }
}

/// The recorded requests and answers of the SDKs' protocol, stored beside the project.
enum SDKVectors {
    static let folder = Vectors.folder.appendingPathComponent("revenuecat-sdk")

    static var present: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// The names of the vectors with a customer info as response; one placeholder without them.
    static let customerInfos: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let found = names.sorted().filter { name in
            (try? read(name))?["response"]?["body"]?["subscriber"] != nil
        }
        return found.isEmpty ? ["none"] : found
    }()

    static func read(_ name: String) throws -> JSONNode {
        let bytes = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
        return try JSONDocument(bytes, limits: .local).root
    }
}
