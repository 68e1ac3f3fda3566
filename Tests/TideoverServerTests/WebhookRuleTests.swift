import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverServer
import TideoverSignatures

@testable import TideoverTestServer

/// The rules of webhooks without storage and network.
@Suite struct WebhookRuleTests {
    private static let now: Instant = "2026-05-01T10:00:00Z"

    @Test func `the public example of Standard Webhooks is signed as published`() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let headers = WebhookSigner(secrets: [secret]).headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at: Instant(millisecondsSince1970: 1_614_265_330_999),
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek")
        #expect(headers["webhook-timestamp"] == "1614265330")
        #expect(
            headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        )
    }

    @Test func `each secret and each key signs the same message`() throws {
        let secrets = [UInt64(1), 2].map { seed in WebhookSecret { seed } }
        let key = WebhookSigningKey { 7 }
        let body = Array("{}".utf8)
        let headers = WebhookSigner(secrets: secrets, keys: [key]).headers(
            id: "m",
            at: Self.now,
            body: body
        )
        let parts = try #require(headers["webhook-signature"]).split(separator: " ")
        #expect(parts.map { $0.prefix { $0 != "," } } == ["v1", "v1", "v1a"])
        for (part, secret) in zip(parts, secrets) {
            let own = WebhookSigner(secrets: [secret]).headers(id: "m", at: Self.now, body: body)
            #expect(own["webhook-signature"] == String(part))
        }
        let text = key.publicText.dropFirst("whpk_".count)
        let publicKey = try Ed25519PublicKey(
            bytes: try #require(Base64.decode(Array(text.utf8), .standard))
        )
        let signature = try #require(
            Base64.decode(Array(parts[2].dropFirst("v1a,".count).utf8), .standard)
        )
        let seconds = Self.now.millisecondsSince1970 / 1_000
        let message = Array("m.\(seconds).{}".utf8)
        #expect(publicKey.verify(signature: signature, of: message))
    }

    @Test(arguments: [
        ("whsec_" + String(repeating: "A", count: 32), true),
        ("whsec_" + String(repeating: "A", count: 28), false),
        ("whsec_" + String(repeating: "A", count: 88), false),
        ("whsec_" + String(repeating: "A", count: 84) + "AA==", true),
        (String(repeating: "A", count: 32), false),
        ("whsk_" + String(repeating: "A", count: 32), false),
        ("whsec_" + String(repeating: "_", count: 32), false),
    ])
    func `a secret has 24 to 64 bytes in Base64`(text: String, isSecret: Bool) {
        #expect((WebhookSecret(text) != nil) == isSecret)
    }

    @Test func `a secret and a key are read as they are written`() {
        let secret = WebhookSecret { 5 }
        #expect(WebhookSecret(secret.text) == secret)
        let key = WebhookSigningKey { 5 }
        #expect(WebhookSigningKey(key.text)?.publicText == key.publicText)
        #expect(WebhookSigningKey(key.text.dropLast(8) + "AAAAAA==") == nil)
    }

    @Test(arguments: [
        (["*"], "refund_requested", true), (["refunded"], "refunded", true),
        (["refunded"], "refunded_again", false), (["refund*"], "refund_requested", true),
        (["invoice.*"], "invoice.paid", true), (["invoice.*"], "invoices", false),
        (["a", "entitlement_*"], "entitlement_changed", true),
    ])
    func `a filter is a kind, a beginning, or all`(
        patterns: [String],
        kind: String,
        matches: Bool
    ) throws {
        #expect(try #require(WebhookFilter(patterns)).matches(kind) == matches)
    }

    @Test(arguments: [[], [""], ["a b"], ["*a"], ["**"]])
    func `a malformed filter is rejected`(patterns: [String]) {
        #expect(WebhookFilter(patterns) == nil)
    }

    @Test func `ten attempts spread over three days, each a tenth early or late at most`() {
        let delays: [Int64] = [
            5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
        ]
        for (index, seconds) in delays.enumerated() {
            let instants = [UInt64.min, 12_345_678, .max].compactMap {
                WebhookSchedule.next(after: index + 1, at: Self.now, random: $0)
            }
            #expect(instants.count == 3)
            for instant in instants {
                #expect(
                    instant.isWithin(.seconds(seconds / 10 + 1), of: Self.now + .seconds(seconds))
                )
            }
            #expect(Set(instants).count > 1)
        }
        #expect(WebhookSchedule.next(after: 10, at: Self.now, random: 0) == nil)
    }

    @Test func `a receiver's wish to wait counts, up to a day`() {
        let later = Self.now + .hours(3)
        let wished = WebhookSchedule.next(after: 1, at: Self.now, notBefore: later, random: 0)
        #expect(wished == later)
        let far = WebhookSchedule.next(
            after: 1,
            at: Self.now,
            notBefore: Self.now + .days(300),
            random: 0
        )
        #expect(far == Self.now + .days(1))
    }

    @Test(arguments: [
        (WebhookResult.response(status: 200), WebhookVerdict.delivered),
        (.response(status: 204), .delivered),
        (.response(status: 302), .failed(notBefore: nil)),
        (.response(status: 400), .failed(notBefore: nil)),
        (.response(status: 410), .gone),
        (.response(status: 500, retryAfter: "60"), .failed(notBefore: nil)),
        (.response(status: 429, retryAfter: "60"), .failed(notBefore: now + .seconds(60))),
        (.response(status: 503, retryAfter: "soon"), .failed(notBefore: nil)),
        (
            .response(status: 503, retryAfter: "Fri, 01 May 2026 11:00:00 GMT"),
            .failed(notBefore: now + .hours(1))
        ),
        (.failure("no connection"), .failed(notBefore: nil)),
    ])
    func `what follows from a response`(result: WebhookResult, verdict: WebhookVerdict) {
        #expect(WebhookVerdict(result, at: Self.now) == verdict)
    }
}
