import TideoverHTTP
import TideoverJSON
import TideoverSandbox
import TideoverSignatures

/// A minimal back end for scenarios. It verifies deliveries and stores the newest state of each
/// customer.
actor FakeBackEnd {
    enum Kind {
        /// Decides by grace, retry, refunds and renewal.
        case right
        /// Decides by the expiry date alone.
        case naive
    }

    private struct Word {
        var transaction: JSONValue
        var renewal: JSONValue
        var status: Int64
    }

    private let kind: Kind
    private let verifier: ChainVerifier
    private var clock: Int64 = 0
    private var words: [String: Word] = [:]
    private(set) var requests: [String] = []
    private(set) var clocks: [Int64] = []

    init(_ kind: Kind, trusting authority: SandboxAuthority) throws {
        self.kind = kind
        let anchor = try TrustAnchor(name: "simulated", der: authority.root)
        verifier = ChainVerifier(policy: .appStore, anchors: [anchor])
    }

    nonisolated var target: ScenarioTarget {
        ScenarioTarget(
            deliver: { try await self.take($0) },
            readBack: { await self.answer($0) },
            setClock: { await self.setClock($0) }
        )
    }

    private func setClock(_ instant: Int64) {
        clock = instant
        clocks.append(instant)
    }
}

// MARK: - Receiving notifications

extension FakeBackEnd {
    private func take(_ request: Request) throws -> Response {
        requests.append("\(request.method) \(request.path)")
        guard let payload = try JSONDocument(request.body).root["signedPayload"]?.string else {
            return Response(status: 400)
        }
        guard let data = try verified(payload)["data"],
            let transaction = try data["signedTransactionInfo"]?.string.map(verified),
            let renewal = try data["signedRenewalInfo"]?.string.map(verified),
            let customer = transaction["appAccountToken"]?.string
        else { return Response(status: 200) }
        words[customer] = Word(
            transaction: transaction,
            renewal: renewal,
            status: data["status"]?.int64 ?? 0
        )
        return Response(status: 200)
    }

    private func verified(_ compact: String) throws -> JSONValue {
        let jws = try JWS(Array(compact.utf8))
        _ = try verifier.verify(jws, at: clock)
        return JSONValue(try JSONDocument(jws.payload).root)
    }
}

// MARK: - Answering

extension FakeBackEnd {
    private func answer(_ request: Request) -> Response {
        guard request.queryValue("environment") == "simulated" else { return Response(status: 400) }
        let customer = String(request.path.split(separator: "/").last ?? "")
        let (entitlement, prompt) = standing(words[customer])
        let answer: JSONValue = [
            "customer": .string(customer), "entitlements": ["premium": .object(entitlement)],
            "prompt": prompt,
        ]
        return Response(status: 200, body: answer.encoded())
    }

    private func standing(_ word: Word?) -> (JSONObject, prompt: JSONValue) {
        guard let word else { return (["state": "never", "access": false], ["kind": "none"]) }
        let end = word.transaction["expiresDate"]?.int64 ?? 0
        let isTrial = word.transaction["offerDiscountType"] == "FREE_TRIAL"
        let reason: JSONValue = isTrial ? "trial" : "paid"
        var shared: JSONObject = [
            "confidence": "confirmed", "store": "appStore",
            "productId": word.transaction["productId"] ?? nil, "graceUntil": nil, "trial": nil,
            "willRenew": .bool(word.renewal["autoRenewStatus"] == 1), "accessUntil": text(end),
            "nextChange": text(end),
        ]
        if kind == .naive {
            return clock < end
                ? (say("active", reason, "in-term", &shared), ["kind": "none"])
                : (say("expired", "expired", "ended", &shared), ["kind": "none"])
        }
        return judged(word, reason, end, &shared)
    }

    private func judged(
        _ word: Word,
        _ reason: JSONValue,
        _ end: Int64,
        _ shared: inout JSONObject
    ) -> (JSONObject, prompt: JSONValue) {
        let grace = word.renewal["gracePeriodExpiresDate"]?.int64 ?? 0
        if word.transaction["revocationDate"] != nil {
            return (say("expired", "refunded", "revoked", &shared), ["kind": "none"])
        }
        if clock < end {
            if reason == "trial" { shared["trial"] = trial(word, end) }
            return (say("active", reason, "in-term", &shared), ["kind": "none"])
        }
        if word.status == 2 {
            return (say("expired", "cancelled", "ended-stated", &shared), ["kind": "none"])
        }
        guard grace > clock else {
            let prompt: JSONValue = ["kind": "hard", "entitlement": "premium"]
            return (say("hold", "billingRetry", "in-retry", &shared), prompt)
        }
        for key in ["graceUntil", "accessUntil", "nextChange"] { shared[key] = text(grace) }
        let prompt: JSONValue = [
            "kind": "soft", "entitlement": "premium", "arguments": ["until": text(grace)],
        ]
        return (say("grace", "billingIssue", "in-grace", &shared), prompt)
    }

    private func say(
        _ state: String,
        _ reason: JSONValue,
        _ rule: JSONValue,
        _ shared: inout JSONObject
    ) -> JSONObject {
        shared["state"] = .string(state)
        shared["reason"] = reason
        shared["rule"] = rule
        shared["access"] = .bool(["active", "grace"].contains(state))
        return shared
    }

    private func trial(_ word: Word, _ end: Int64) -> JSONValue {
        let day: Int64 = 86_400_000
        return [
            "startedAt": text(word.transaction["purchaseDate"]?.int64 ?? 0), "endsAt": text(end),
            "cancelBy": text(end - day), "urgent": .bool(clock > end - day),
        ]
    }

    private func text(_ instant: Int64) -> JSONValue { .string(InstantText.write(instant)) }
}
