import Testing
import TideoverCore
import TideoverHTTP
import TideoverRevenueCat

/// Tests the authentication of RevenueCat's webhooks.
@Suite struct WebhookCheckTests {
    static let now = RevenueCatWire.instant("2026-05-01T10:00:00Z")
    static let body = Array(#"{"api_version":"1.0"}"#.utf8)

    /// A fake HMAC-SHA256: 32 bytes that depend on every byte of the input.
    static let mac: @Sendable ([UInt8]) -> [UInt8] = { bytes in
        var state = [UInt8](repeating: 1, count: 32)
        for (place, byte) in bytes.enumerated() {
            state[place % 32] = (state[place % 32] &* 31) ^ byte &+ UInt8(truncatingIfNeeded: place)
        }
        return state
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func signed(at time: String, body: [UInt8] = body) -> String {
        hex(mac(Array(time.utf8) + [UInt8(ascii: ".")] + body))
    }

    static func check(_ authorization: String?, signed: Bool = false) -> WebhookCheck {
        WebhookCheck(authorization: authorization, mac: signed ? mac : nil) { $0 == $1 }
    }

    static func request(_ headers: Headers) -> Request {
        Request(method: "POST", path: "/", headers: headers, body: body)
    }

    @Test func `the configured header must occur once with the exact value`() {
        let check = Self.check("Bearer s3cret")
        let cases: [(Headers, WebhookObjection?)] = [
            (["authorization": "Bearer s3cret"], nil),
            (["Authorization": "Bearer s3creT"], .wrongAuthorization),
            (["Authorization": ""], .wrongAuthorization),
            ([:], .missingAuthorization),
            (
                ["Authorization": "Bearer s3cret", "authorization": "Bearer s3cret"],
                .missingAuthorization
            ),
        ]
        for (headers, objection) in cases {
            #expect(check.objection(to: Self.request(headers), at: Self.now) == objection)
        }
    }

    @Test func `without configuration every message is refused`() {
        let objection = Self.check(nil).objection(to: Self.request([:]), at: Self.now)
        #expect(objection == .nothingToCheck)
    }

    @Test func `a signature must cover time and body`() {
        let check = Self.check(nil, signed: true)
        let seconds = "\(Self.now.millisecondsSince1970 / 1000)"
        let good = Self.signed(at: seconds)
        let bad = Self.signed(at: seconds, body: Array("{}".utf8))
        let name = "X-RevenueCat-Webhook-Signature"
        let cases: [(Headers, WebhookObjection?)] = [
            ([name: "t=\(seconds),v1=\(good)"], nil),
            (["X-RevenueCat-Signature": "t=\(seconds), v1=\(good.uppercased())"], nil),
            ([name: "t=\(seconds),v1=\(bad),v1=\(good)"], nil),
            ([name: "t=\(seconds),v1=\(good),v2=whatever"], nil),
            ([name: "t=\(seconds),v1=\(bad)"], .wrongSignature),
            ([name: "t=\(seconds)0,v1=\(good)"], .wrongSignature),
            ([:], .missingSignature),
            ([name: good], .malformedSignature),
            ([name: "t=\(seconds)"], .malformedSignature),
            ([name: "v1=\(good)"], .malformedSignature),
            ([name: "t=\(seconds),t=\(seconds),v1=\(good)"], .malformedSignature),
            ([name: "t=now,v1=\(good)"], .malformedSignature),
            ([name: "t=\(seconds),v1=\(good.dropLast())"], .malformedSignature),
            ([name: "t=\(seconds),v1=zz\(good.dropFirst(2))"], .malformedSignature),
        ]
        for (headers, objection) in cases {
            #expect(check.objection(to: Self.request(headers), at: Self.now) == objection)
        }
    }

    @Test func `an old or a future signature is refused`() {
        let check = Self.check(nil, signed: true)
        let seconds = "\(Self.now.millisecondsSince1970 / 1000)"
        let header: Headers = [
            "X-RevenueCat-Webhook-Signature": "t=\(seconds),v1=\(Self.signed(at: seconds))"
        ]
        func objection(_ away: Milliseconds) -> WebhookObjection? {
            check.objection(to: Self.request(header), at: Self.now + away)
        }
        #expect(objection(.hours(3)) == nil)
        #expect(objection(.hours(-3)) == nil)
        #expect(objection(.hours(4)) == .untimelySignature(away: .hours(4)))
        #expect(objection(.hours(-4)) == .untimelySignature(away: .hours(4)))
    }

    @Test func `a message must pass both checks if both are configured`() {
        let check = Self.check("s3cret", signed: true)
        let seconds = "\(Self.now.millisecondsSince1970 / 1000)"
        let value = "t=\(seconds),v1=\(Self.signed(at: seconds))"
        let name = "X-RevenueCat-Webhook-Signature"
        func objection(_ headers: Headers) -> WebhookObjection? {
            check.objection(to: Self.request(headers), at: Self.now)
        }
        #expect(objection(["Authorization": "s3cret", name: value]) == nil)
        #expect(objection([name: value]) == .missingAuthorization)
        #expect(objection(["Authorization": "s3cret"]) == .missingSignature)
    }

    @Test func `every refusal contains the remedy and no secret`() {
        let all: [WebhookObjection] = [
            .nothingToCheck, .missingAuthorization, .wrongAuthorization, .missingSignature,
            .malformedSignature, .wrongSignature, .untimelySignature(away: .hours(4)),
        ]
        #expect(Set(all.map(\.code)).count == all.count)
        for objection in all { #expect(objection.sentence.hasSuffix(".")) }
    }
}
