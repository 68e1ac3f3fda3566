import Foundation
import Testing
import TideoverConfiguration
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverRevenueCat
import TideoverServer
import TideoverSignatures
import TideoverUnionChecker

@testable import TideoverTestServer

/// Tests the signatures of responses to RevenueCat's SDKs.
@Suite struct SDKSignatureTests {
    private static let nonce = "dGlkZW92ZXIwMDAx"

    /// A seed of 32 bytes, each one more than the one before.
    private static func key(_ first: UInt8) throws -> Ed25519PrivateKey {
        try Ed25519PrivateKey(seed: (0..<32).map { first &+ $0 })
    }

    private func server(_ root: Ed25519PrivateKey) throws -> TestServer {
        try TestServer(
            revenueCatSDK: RevenueCatSDK(appStoreKeys: ["appl_test"]),
            sdkSigner: SDKSigner(root: root)
        )
    }

    private func request(
        _ method: String = "GET",
        _ path: String = "/v1/subscribers/u_42",
        _ headers: Headers = [:],
        body: [UInt8] = []
    ) -> Request {
        var headers = headers
        headers["Authorization"] = "Bearer appl_test"
        headers["X-Nonce"] = Self.nonce
        headers["X-Headers-Hash"] = "X-Is-Sandbox:sha256:00"
        return Request(method: method, path: path, headers: headers, body: body)
    }

    /// Verifies a response as the SDKs do, and returns the day on which its key expires.
    private func verify(
        _ response: Response,
        to request: Request,
        by root: Ed25519PublicKey
    ) throws -> UInt32 {
        let text = try #require(response.headers["X-Signature"])
        let bytes = try #require(Base64.decode(text.utf8, .standard))
        try #require(bytes.count == 180)
        let key = try Ed25519PublicKey(bytes: Array(bytes[..<32]))
        #expect(root.verify(signature: Array(bytes[36..<100]), of: bytes[32..<36] + bytes[..<32]))
        let parts = [
            request.path, request.headers["X-Post-Params-Hash"] ?? "",
            request.headers["X-Headers-Hash"] ?? "",
            response.headers["X-RevenueCat-Request-Time"] ?? "",
            response.headers["X-RevenueCat-ETag"] ?? "",
        ]
        let message =
            Array(bytes[100..<116]) + Array("appl_testtideover0001".utf8)
            + Array(parts.joined().utf8) + response.body
        #expect(key.verify(signature: Array(bytes[116...]), of: message))
        return bytes[32..<36].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    @Test func `responses are verified by the root key, also those without a body`() async throws {
        let root = try Self.key(1)
        let server = try server(root)
        var transaction = Message.transaction()
        transaction["appAccountToken"] = nil
        let receipt: JSONObject = [
            "app_user_id": "u_42", "fetch_token": .string(try server.store.sign(transaction)),
            "product_id": "cards.pro.monthly",
        ]
        let posted = request(
            "POST",
            "/v1/receipts",
            ["X-Post-Params-Hash": "app_user_id,fetch_token:sha256:00"],
            body: JSONValue.object(receipt).encoded()
        )
        let bought = try await server.service.checkedAnswer(to: posted)
        #expect(bought.status == 200)
        let today = UInt32(server.now.millisecondsSince1970 / 86_400_000)
        let expiry = try verify(bought, to: posted, by: root.publicKey)
        #expect(expiry == today + 30)
        let read = request()
        let answer = try await server.service.checkedAnswer(to: read)
        _ = try verify(answer, to: read, by: root.publicKey)
        let tag = try #require(answer.headers["X-RevenueCat-ETag"])
        let again = request("GET", "/v1/subscribers/u_42", ["X-RevenueCat-ETag": tag])
        let unchanged = try await server.service.checkedAnswer(to: again)
        #expect(unchanged.status == 304)
        _ = try verify(unchanged, to: again, by: root.publicKey)
        await server.close()
    }

    @Test func `an intermediate key is replaced long before it expires`() async throws {
        let root = try Self.key(1)
        let server = try server(root)
        var expiries: [UInt32] = []
        for _ in 0..<15 {
            let read = request()
            let answer = try await server.service.checkedAnswer(to: read)
            expiries.append(try verify(answer, to: read, by: root.publicKey))
            server.set(server.now + .days(1))
        }
        #expect(Set(expiries).count == 3)
        #expect(expiries == expiries.sorted())
        await server.close()
    }

    @Test func `errors, back ends and apps without a key have no signature`() async throws {
        let server = try server(try Self.key(1))
        let wrong = try await server.service.checkedAnswer(to: request("POST", "/v1/receipts"))
        #expect(wrong.status == 503)
        #expect(wrong.headers["X-Signature"] == nil)
        let admin = try await server.send("GET", "/v1/subscribers/u_42?app=cards")
        #expect(admin.status == 200)
        #expect(admin.headers["X-Signature"] == nil)
        await server.close()
        let other = try TestServer(revenueCatSDK: RevenueCatSDK(appStoreKeys: ["appl_test"]))
        let unsigned = try await other.service.checkedAnswer(to: request())
        #expect(unsigned.status == 200)
        #expect(unsigned.headers["X-Signature"] == nil)
        await other.close()
    }

    @Test(.enabled(if: RecordedExchange.present, "the vectors are not beside the project"))
    func `the recorded signature is made from its keys`() throws {
        let vector = try RecordedExchange.document("41-signature-vector.json")
        let root = try Self.key(0)
        let intermediate = try Self.key(100)
        let day = try #require(vector["intermediate_expires_day_since_1970"]?.int64)
        let request = try #require(vector["request"])
        let response = try #require(vector["response"])
        func headers(_ node: JSONNode) -> Headers {
            var headers: Headers = [:]
            guard let members = node["headers"]?.members else { return headers }
            for (name, value) in members { headers[name] = value.string }
            return headers
        }
        var wanted = headers(response)
        wanted["X-Signature"] = nil
        let body = try #require(response["body_bytes_utf8"]?.string)
        let value = SDKSignature.value(
            of: Response(status: 200, headers: wanted, body: Array(body.utf8)),
            to: Request(
                path: try #require(request["path"]?.string),
                headers: headers(request)
            ),
            apiKey: "appl_tideoverExampleKeyAAAA",
            by: SDKSignature.IntermediateKey(
                publicKey: intermediate.publicKey.bytes,
                expiryDay: UInt32(day),
                signedBy: root.sign
            ),
            salt: (0..<16).map { 200 + $0 },
            sign: intermediate.sign
        )
        #expect(value == response["headers"]?["X-Signature"]?.string)
    }
}
