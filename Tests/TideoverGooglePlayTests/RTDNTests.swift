import Testing
import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON

struct RTDNTests {
    private func notification(_ json: String) throws -> DeveloperNotification {
        try DeveloperNotification(payload: JSONDocument(Array(json.utf8)).root)
    }

    private func refusal(of json: String) -> PlayRefusal? {
        do {
            _ = try notification(json)
            return nil
        } catch {
            return error as? PlayRefusal
        }
    }

    @Test func `a notification on a subscription is read`() throws {
        let read = try notification(
            #"""
            {"version":"1.0","packageName":"com.example.cards","eventTimeMillis":"1503349566168",
             "subscriptionNotification":{"version":"1.0","notificationType":4,
             "purchaseToken":"PURCHASE_TOKEN"}}
            """#
        )
        #expect(read.version == "1.0")
        #expect(read.packageName == "com.example.cards")
        #expect(read.eventTime == Instant(millisecondsSince1970: 1_503_349_566_168))
        #expect(read.purchaseToken == "PURCHASE_TOKEN")
        #expect(read.announcement == "subscription 4")
        #expect(read.unknownMembers.isEmpty)
        guard case .subscription(let notice) = read.content else {
            Issue.record("it is about a subscription")
            return
        }
        #expect(notice.notificationType?.known == .purchased)
        #expect(notice.subscriptionId == nil)
    }

    @Test func `the instant is a number or a string with a number`() throws {
        let number = try notification(#"{"eventTimeMillis":1503349566168,"testNotification":{}}"#)
        let text = try notification(#"{"eventTimeMillis":"1503349566168","testNotification":{}}"#)
        #expect(number == text)
        for wrong in [
            #""""#, #""+5""#, #""05""#, #""5.0""#, "5.5", "true", #""999999999999999999""#,
        ] {
            let reason = refusal(of: #"{"eventTimeMillis":\#(wrong),"testNotification":{}}"#)
            #expect(reason == .malformed(field: "notification.eventTimeMillis"), "\(wrong)")
        }
    }

    /// The numbers of the reference, with those that it skips.
    @Test func `the types of subscriptions equal those of the reference`() {
        let known = DeveloperNotification.SubscriptionType.allCases.map(\.rawValue)
        #expect(known == Array(1...13) + [17, 18, 19, 20, 22])
        for number in [0, 14, 15, 16, 21, 23, -1] as [Int64] {
            #expect(DeveloperNotification.SubscriptionType(rawValue: number) == nil)
        }
    }

    @Test func `every other kind is read`() throws {
        let oneTime = try notification(
            #"{"oneTimeProductNotification":{"notificationType":2,"purchaseToken":"t","sku":"gems"}}"#
        )
        guard case .oneTimeProduct(let product) = oneTime.content else {
            Issue.record("it is about a one-time product")
            return
        }
        #expect(product.notificationType?.known == .canceled)
        #expect(product.sku == "gems")
        let voided = try notification(
            #"""
            {"voidedPurchaseNotification":{"purchaseToken":"t","orderId":"GPA.1",
             "productType":1,"refundType":2}}
            """#
        )
        guard case .voidedPurchase(let order) = voided.content else {
            Issue.record("it is about a voided purchase")
            return
        }
        #expect(order.orderId == "GPA.1")
        #expect(order.productType?.known == .subscription)
        #expect(order.refundType?.known == .quantityBasedPartial)
        let review = try notification(
            #"""
            {"pendingRefundReviewNotification":{"version":"1.0","pendingRefundToken":"p",
             "orderId":"GPA.1","refundReason":7}}
            """#
        )
        guard case .pendingRefundReview(let pending) = review.content else {
            Issue.record("it is about a refund that is asked for")
            return
        }
        #expect(pending.refundReason == 7)
        #expect(review.purchaseToken == nil)
        let test = try notification(#"{"testNotification":{"version":"1.0"}}"#)
        #expect(test.content == .test(version: "1.0"))
        #expect(test.announcement == "test")
    }

    @Test func `an unknown type is kept as it is written`() throws {
        let read = try notification(#"{"subscriptionNotification":{"notificationType":99}}"#)
        guard case .subscription(let notice) = read.content else {
            Issue.record("it is about a subscription")
            return
        }
        #expect(notice.notificationType?.raw == 99)
        #expect(notice.notificationType?.known == nil)
        #expect(read.announcement == "subscription 99")
    }

    @Test func `an unknown kind is reported by its name`() throws {
        let read = try notification(#"{"version":"1.1","barterNotification":{"x":1}}"#)
        #expect(read.content == nil)
        #expect(read.unknownMembers == ["barterNotification"])
        #expect(read.announcement == "unknown")
    }

    @Test func `a notification about two things is refused`() {
        let reason = refusal(of: #"{"testNotification":{},"voidedPurchaseNotification":{}}"#)
        let members = ["voidedPurchaseNotification", "testNotification"]
        #expect(reason == .ambiguousContent(members: members))
    }

    @Test(arguments: [
        (#"{"subscriptionNotification":{"notificationType":"x"}}"#, "notificationType"),
        (#"{"subscriptionNotification":{"notificationType":4.5}}"#, "notificationType"),
        (#"{"subscriptionNotification":{"purchaseToken":5}}"#, "purchaseToken"),
    ])
    func `a field of the wrong type is refused by its name`(json: String, field: String) {
        let path = "notification.subscriptionNotification.\(field)"
        #expect(refusal(of: json) == .malformed(field: path))
    }
}

struct PubSubTests {
    private static let data =
        #"{"version":"1.0","packageName":"com.example.cards","testNotification":{}}"#

    private func body(_ message: String, _ rest: String = "") -> Request {
        let text = #"{"message":{\#(message)}\#(rest)}"#
        return Request(method: "POST", path: "/", body: Array(text.utf8))
    }

    private static var encoded: String { Base64.encodeString(Array(data.utf8), .standard) }

    private func refusal(of request: Request) -> PlayRefusal? {
        do {
            _ = try PubSubMessage(request).notification()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a wrapped message is taken out of its envelope`() throws {
        let message = try PubSubMessage(
            body(
                #"""
                "attributes":{"k":"v"},"data":"\#(Self.encoded)","messageId":"136969346945",
                "message_id":"136969346945","publishTime":"2026-05-06T10:00:00.123456789Z"
                """#,
                #","subscription":"projects/p/subscriptions/s","deliveryAttempt":5"#
            )
        )
        #expect(message.isWrapped)
        #expect(message.messageId == "136969346945")
        #expect(message.publishTime == Instant(rfc3339: "2026-05-06T10:00:00.123Z"))
        #expect(message.subscription == "projects/p/subscriptions/s")
        #expect(message.deliveryAttempt == 5)
        #expect(message.data == Array(Self.data.utf8))
        #expect(try message.notification().content == .test(version: nil))
    }

    @Test func `the other spelling of the message id is accepted`() throws {
        let message = try PubSubMessage(body(#""data":"\#(Self.encoded)","message_id":"5""#))
        #expect(message.messageId == "5")
    }

    @Test func `an unwrapped message has its metadata in the headers`() throws {
        let message = try PubSubMessage(
            Request(
                method: "POST",
                path: "/",
                headers: [
                    "X-Goog-Pubsub-Message-Id": "136969346945",
                    "x-goog-pubsub-publish-time": "2026-05-06T10:00:00Z",
                    "x-goog-pubsub-subscription-name": "projects/p/subscriptions/s",
                ],
                body: Array(Self.data.utf8)
            )
        )
        #expect(!message.isWrapped)
        #expect(message.messageId == "136969346945")
        #expect(message.publishTime == Instant(rfc3339: "2026-05-06T10:00:00Z"))
        #expect(message.subscription == "projects/p/subscriptions/s")
        #expect(try message.notification().packageName == "com.example.cards")
    }

    @Test func `an unwrapped message may come without metadata`() throws {
        let bare = Request(method: "POST", path: "/", body: Array(Self.data.utf8))
        #expect(try PubSubMessage(bare).messageId == nil)
    }

    @Test func `an invalid message is refused with the field's name`() {
        let id = #""messageId":"5""#
        let cases: [(Request, PlayRefusal)] = [
            (body(id), .missingMember("message.data")),
            (body(#""data":"\#(Self.encoded)""#), .missingMember("message.messageId")),
            (body(#""data":"e30","messageId":"5""#), .malformed(field: "message.data")),
            (body(#""data":7,"messageId":"5""#), .malformed(field: "message.data")),
            (body(#""data":"e30=","messageId":"a b""#), .malformed(field: "message.messageId")),
            (
                body(#""data":"e30=","messageId":"\#(String(repeating: "1", count: 129))""#),
                .malformed(field: "message.messageId")
            ),
            (Request(method: "POST", path: "/", body: Array("[]".utf8)), .malformed(field: "body")),
        ]
        for (request, expected) in cases { #expect(refusal(of: request) == expected) }
    }

    @Test(arguments: ["", "{", #"{"a":1,"a":2}"#, "\u{FEFF}{}", "{} {}", #"{"a":1,}"#])
    func `invalid JSON is refused, in the envelope and in the message`(text: String) {
        let outer = refusal(of: Request(method: "POST", path: "/", body: Array(text.utf8)))
        let data = Base64.encodeString(Array(text.utf8), .standard)
        let inner = refusal(of: body(#""data":"\#(data)","messageId":"5""#))
        for reason in [outer, inner] {
            guard case .malformedJSON = reason else {
                Issue.record("\(text) is refused as JSON, not as \(String(describing: reason))")
                continue
            }
        }
    }
}
