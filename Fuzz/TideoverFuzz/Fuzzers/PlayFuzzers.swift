import TideoverCore
import TideoverGooglePlay
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

extension Fuzzer {
    static let push = Fuzzer(
        "push",
        promise: """
            a push of Pub/Sub is taken apart if and only if a second reader finds its data, the same; \
            what it says is read or refused in its words, and what is kept of it reads again as the \
            same; its facts keep the promises of notifications
            """,
        maximumByteCount: 4096,
        seeds: { PlaySeeds.pushes },
        words: PlaySeeds.words,
        mutate: PlayMutations.push,
        check: { PushChecks.check($0) }
    )

    static let pushToken = Fuzzer(
        "push-token",
        promise: """
            what is believed has, byte for byte, the content of a token that the pinned key signed with \
            RS256; whatever such a key signs, claims that are believed are for this audience and \
            sender, and of this time
            """,
        maximumByteCount: 2048,
        seeds: { Originals.shared.pushTokens + Originals.shared.falsePushTokens },
        words: [
            "\"alg\":\"RS256\"", "\"alg\":\"none\"", "\"alg\":\"HS256\"", "\"kid\":\"google-1\"",
            "\"email_verified\":true", "\"aud\":[", "\"exp\":1778065200", "\"iat\":1778061600",
        ],
        mutate: CompactMutations.any,
        check: { PushTokenChecks.check($0) }
    )

    static let playAnswer = Fuzzer(
        "play-answer",
        promise: """
            whatever the Play Developer API answers about subscriptions, one-time purchases, orders and \
            what was voided is read or refused in its words; what is kept of an answer reads again as \
            the same, and its facts keep the promises of notifications
            """,
        maximumByteCount: 8192,
        seeds: { PlaySeeds.reads },
        words: PlaySeeds.words,
        mutate: Mutations.json,
        check: { PlayAnswerChecks.check($0) }
    )
}

/// The readers for the fuzzers of Google Play.
private enum Play {
    /// 2026-05-06T10:00:00Z.
    static let now = Instant(millisecondsSince1970: 1_778_061_600_000)
    static let reader = PlayReader(
        app: PlayIdentity(
            packageName: "com.example.cards",
            environments: [.production, .sandbox]
        ),
        naming: { PlayToken(EvidenceID(of: Array($0.utf8)).hex) }
    )

    static func hold(_ reading: PlayReading) {
        let facts = reading.facts(learnedAt: now, evidence: EvidenceID(hex: "00"))
        for fact in facts { FactChecks.form(of: fact) }
        if !facts.isEmpty { FactChecks.standing(facts) }
    }
}

// MARK: - Pushes

private enum PushChecks {
    static func check(_ input: [UInt8]) {
        let message: PubSubMessage
        do {
            message = try PubSubMessage(Request(method: "POST", path: "/", body: input))
        } catch {
            expect(!error.sentence.isEmpty, "a refusal without words")
            return
        }
        expect(message.data == data(in: input), "a second reader finds other data")
        guard let notification = try? message.notification() else { return }
        for isAskedAbout in [false, true] {
            let delivery = PlayDelivery(
                message,
                isAskedAbout: isAskedAbout,
                reads: [],
                chains: PlayChains()
            )
            let again = unfailing("what is kept of a push is refused") {
                try PlayDelivery(delivery.bytes)
            }
            expect(again.notification == trimmed(message.data), "another notification is kept")
            expect(again.isAskedAbout == isAskedAbout, "it is kept otherwise")
        }
        guard let read = try? Play.reader.read(notification) else { return }
        expect(!read.dedupeKey(messageId: nil).isEmpty, "without a key for detecting repeats")
        expect(
            read.presumed.facts(learnedAt: Play.now, evidence: EvidenceID(hex: "00"))
                .allSatisfy { $0.rank == .inferred },
            "a bare notification is believed"
        )
        Play.hold(read.presumed)
    }

    /// Returns the data of a push by a second parser.
    private static func data(in body: [UInt8]) -> [UInt8]? {
        guard let root = PlainJSON.read(body, depth: JSONLimits.inbound.maxDepth) else {
            return nil
        }
        switch member("message", of: root) {
        case nil, .null?: return body
        case let message?:
            guard case .string(let scalars)? = member("data", of: message) else { return nil }
            let text = Array(String(String.UnicodeScalarView(scalars)).utf8)
            return PlainBase64.decode(text[...], isURLSafe: false)
        }
    }

    private static func member(_ name: String, of value: PlainJSON) -> PlainJSON? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.key.elementsEqual(name.unicodeScalars) }?.value
    }

    /// Removes surrounding spaces, which are not stored.
    private static func trimmed(_ text: [UInt8]) -> [UInt8] {
        let isSpace = { (byte: UInt8) in [0x09, 0x0A, 0x0D, 0x20].contains(byte) }
        return Array(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}

private enum PushTokenChecks {
    private static let key = unfailing("the kept key is none") {
        RSAPublicKey(jwk: try JSONDocument(Originals.shared.pushKey).root)
    }
    private static let contents: Set<[UInt8]> = Set(
        Originals.shared.pushTokens.map { token in
            Array(unfailing("an original is malformed") { try JWS(token) }.signingInput)
        }
    )
    private static let expectation = PushExpectation(
        audience: Originals.pushAudience,
        email: Originals.pushSender
    )

    static func check(_ input: [UInt8]) {
        let isOriginal = Originals.shared.pushTokens.contains(input)
        guard let jws = try? JWS(input) else {
            expect(!isOriginal, "an original cannot be taken apart")
            return
        }
        // Checks the claims as if they were signed, because changed ones always fail the signature.
        hold(jws.payload)
        guard let key else { Failure.stop("the kept key cannot be read") }
        do {
            try jws.verify(with: key)
        } catch {
            expect(!isOriginal, "an original is not believed: \(error)")
            return
        }
        expect(contents.contains(Array(jws.signingInput)), "accepted without a signature")
    }

    private static func hold(_ claims: [UInt8]) {
        guard let token = try? expectation.token(claiming: claims, at: Play.now) else { return }
        let leeway = expectation.leeway
        expect(token.email == expectation.email, "believed of another sender")
        expect(token.audience == expectation.audience, "believed for another audience")
        expect(Play.now < token.expiresAt + leeway, "believed after its end")
        expect(token.issuedAt <= Play.now + leeway, "believed before it was issued")
        let root = PlainJSON.read(claims, depth: JSONLimits.inbound.maxDepth)
        expect(root != nil, "believed, but a second reader finds no claims")
    }
}

// MARK: - Answers

private enum PlayAnswerChecks {
    static func check(_ input: [UInt8]) {
        if let document = try? JSONDocument(input, limits: .storeAnswer) {
            _ = try? PlayOrder(wire: document.root)
            _ = try? VoidedPurchase(wire: document.root)
        }
        let read: PlayRead
        do {
            read = try PlayRead(input)
        } catch {
            expect(!error.sentence.isEmpty, "a refusal without words")
            return
        }
        let again = unfailing("what is kept of an answer is refused") { try PlayRead(read.bytes) }
        expect(again == read, "what is kept of an answer reads as something else")
        do {
            Play.hold(try Play.reader.read(read))
        } catch {
            expect(!error.sentence.isEmpty, "a refusal without words")
        }
    }
}

// MARK: - Seeds

private enum PlaySeeds {
    private static let notice =
        #""version":"1.0","packageName":"com.example.cards","eventTimeMillis":"1778061600000""#

    private static let notifications =
        [1, 2, 3, 5, 6, 10, 12, 13, 20, 99].map { type in
            #"{\#(notice),"subscriptionNotification":{"version":"1.0","notificationType":\#(type),"purchaseToken":"t-\#(type)","subscriptionId":"cards.pro.monthly"}}"#
        } + [
            #"{\#(notice),"oneTimeProductNotification":{"version":"1.0","notificationType":1,"purchaseToken":"t","sku":"cards.lifetime"}}"#,
            #"{\#(notice),"voidedPurchaseNotification":{"purchaseToken":"t","orderId":"GPA.1","productType":1,"refundType":1}}"#,
            #"{\#(notice),"testNotification":{"version":"1.0"}}"#,
            #"{\#(notice),"futureNotification":{}}"#,
        ]

    static let pushes: [[UInt8]] =
        notifications.map { notification in
            let data = Base64.encodeString(Array(notification.utf8), .standard)
            return Array(
                #"{"message":{"data":"\#(data)","messageId":"1","message_id":"1","publishTime":"2026-05-06T10:00:00.123Z"},"subscription":"projects/p/subscriptions/s"}"#
                    .utf8
            )
        } + notifications.prefix(2).map { Array($0.utf8) }

    static let reads: [[UInt8]] =
        ["ACTIVE", "IN_GRACE_PERIOD", "ON_HOLD", "PAUSED", "CANCELED", "EXPIRED", "PENDING"].map {
            kept("subscription", "\"t\"", subscription($0))
        } + [
            kept("product", "\"t\"", product), kept("voidedPurchases", "null", voided),
            Array(order.utf8),
        ]

    private static func kept(_ kind: String, _ token: String, _ answer: String) -> [UInt8] {
        Array(
            #"{"googlePlay":"\#(kind)","packageName":"com.example.cards","purchaseToken":\#(token),"askedAt":"2026-05-06T10:00:00.000Z","answeredAt":"2026-05-06T10:00:01.000Z","dated":"2026-05-06T10:00:00.000Z","answer":\#(answer)}"#
                .utf8
        )
    }

    private static func subscription(_ state: String) -> String {
        #"{"kind":"androidpublisher#subscriptionPurchaseV2","startTime":"2026-04-06T10:00:00Z","regionCode":"DE","subscriptionState":"SUBSCRIPTION_STATE_\#(state)","latestOrderId":"GPA.1..0","linkedPurchaseToken":"s","pausedStateContext":{"autoResumeTime":"2026-06-01T00:00:00Z"},"canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"2026-05-01T00:00:00Z"}},"externalAccountIdentifiers":{"obfuscatedExternalAccountId":"anna"},"lineItems":[{"productId":"cards.pro.monthly","expiryTime":"2026-05-06T10:00:00Z","latestSuccessfulOrderId":"GPA.1","autoRenewingPlan":{"autoRenewEnabled":true,"recurringPrice":{"currencyCode":"EUR","units":"9","nanos":990000000}},"offerDetails":{"basePlanId":"monthly","offerId":"trial"}}]}"#
    }

    private static let product =
        #"{"purchaseStateContext":{"purchaseState":"PURCHASED"},"orderId":"GPA.2","purchaseCompletionTime":"2026-05-01T10:00:00Z","regionCode":"DE","acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED","productLineItem":[{"productId":"cards.lifetime","productOfferDetails":{"quantity":1,"refundableQuantity":1}}]}"#
    private static let voided =
        #"{"voidedPurchases":[{"purchaseToken":"t","orderId":"GPA.2","purchaseTimeMillis":"1777629600000","voidedTimeMillis":"1778061600000","voidedSource":0,"voidedReason":1}],"tokenPagination":{"nextPageToken":"n"}}"#
    private static let order =
        #"{"orderId":"GPA.2","purchaseToken":"t","state":"PROCESSED","createTime":"2026-05-01T10:00:00Z","lineItems":[{"productId":"cards.lifetime","total":{"currencyCode":"EUR","units":"9"}}]}"#

    static let words = [
        "\"subscriptionState\":\"SUBSCRIPTION_STATE_ACTIVE\"", "\"message\":{", "\"data\":\"",
        "\"messageId\":\"", "\"purchaseToken\":\"t\"", "\"notificationType\":",
        "\"testPurchase\":{}",
        "\"linkedPurchaseToken\":\"s\"", "\"expiryTime\":\"", "\"autoRenewEnabled\":true",
        "\"prepaidPlan\":{}", "\"lineItems\":[", "9999-12-31T23:59:59.999999999Z",
    ]
}

/// Changes a push inside the base64 of its data.
private enum PlayMutations {
    @Sendable static func push(_ input: [UInt8], _ most: Int, _ dice: inout Dice) -> [UInt8] {
        guard dice.one(in: 2), let document = try? JSONDocument(input),
            let text = document.root["message"]?["data"]?.utf8,
            let data = Base64.decode(text, .standard)
        else { return Mutations.json(input, most, &dice) }
        let changed = Mutations.json(data, most, &dice)
        var body = JSONValue(document.root)
        guard case .object(var root) = body, case .object(var message)? = root["message"] else {
            return input
        }
        message["data"] = .string(Base64.encodeString(changed, .standard))
        root["message"] = .object(message)
        body = .object(root)
        let bytes = body.encoded()
        return bytes.count <= most ? bytes : Mutations.json(input, most, &dice)
    }
}
