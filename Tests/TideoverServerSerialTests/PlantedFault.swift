import TideoverHTTP
import TideoverJSON
import TideoverLocks
import TideoverSandbox

/// A common mistake of back ends, planted in a correct one. It modifies the messages from the
/// stores, the answers about customers, or both.
enum PlantedFault: String, CaseIterable, CustomStringConvertible {
    /// The end of the paid period is treated as the end of access.
    case graceByExpiry
    /// A subscription on hold is treated as active.
    case holdAsActive
    /// App Store: a refund of any purchase ends all access.
    case refundOfAnother
    /// Google Play: a voided order ends its subscription.
    case voidedOrderEnds
    /// One flag for both stores, set by the last message.
    case lastMessageWins

    var description: String { rawValue }

    func plant(in target: inout ScenarioTarget) {
        let (deliver, answer) = (target.deliver, target.readBack)
        // Nil until a message has set it.
        let flag = Locked<Bool?>(nil)
        target.deliver = { request in
            let response = try await deliver(request)
            if (200..<300).contains(response.status), let word = HeardWord(request) {
                flag.withLock { $0 = self.flag(after: word) ?? $0 }
            }
            return response
        }
        target.readBack = { request in
            let response = try await answer(request)
            return self.answer(response, flag.withLock { $0 })
        }
    }

    /// Returns the access after a message; nil if unchanged.
    private func flag(after word: HeardWord) -> Bool? {
        switch self {
        case .graceByExpiry, .holdAsActive: nil
        case .refundOfAnother: word == .refunded ? false : nil
        case .voidedOrderEnds: word == .voided ? false : nil
        case .lastMessageWins:
            switch word {
            case .begun: true
            case .ended: false
            case .refunded, .voided: nil
            }
        }
    }

    private func answer(_ response: Response, _ flag: Bool?) -> Response {
        response.with { premium in
            switch self {
            case .graceByExpiry:
                if premium["state"] == "grace" { premium.deny() }
            case .holdAsActive:
                if premium["state"] == "hold" {
                    premium["state"] = "active"
                    premium["access"] = true
                }
            case .refundOfAnother, .voidedOrderEnds, .lastMessageWins:
                if flag == false { premium.deny() }
            }
        }
    }
}

/// The meaning of a message, from its type alone.
private enum HeardWord {
    case begun, ended, refunded, voided

    init?(_ request: Request) {
        guard let body = try? JSONDocument(request.body).root else { return nil }
        if let message = body["message"]?["data"]?.string {
            self.init(ofGooglePlay: message)
        } else if let payload = body["signedPayload"]?.string {
            self.init(ofAppStore: payload)
        } else {
            return nil
        }
    }

    private init?(ofAppStore payload: String) {
        let parts = payload.split(separator: ".")
        guard parts.count == 3, let bytes = Base64.decode(parts[1].utf8, .urlSafe),
            let type = try? JSONDocument(bytes).root["notificationType"]?.string
        else { return nil }
        switch type {
        case "SUBSCRIBED", "DID_RENEW", "REFUND_REVERSED": self = .begun
        case "EXPIRED", "REVOKE": self = .ended
        case "REFUND": self = .refunded
        default: return nil
        }
    }

    private init?(ofGooglePlay message: String) {
        guard let bytes = Base64.decode(message.utf8, .standard),
            let root = try? JSONDocument(bytes).root
        else { return nil }
        if root["voidedPurchaseNotification"] != nil {
            self = .voided
            return
        }
        switch root["subscriptionNotification"]?["notificationType"]?.int64 {
        case 1, 2, 4, 7: self = .begun
        case 12, 13: self = .ended
        default: return nil
        }
    }
}

extension JSONObject {
    fileprivate mutating func deny() {
        self["state"] = "expired"
        self["access"] = false
        self["accessUntil"] = .null
    }
}

extension Response {
    /// Returns an answer about a customer with a changed `premium`.
    fileprivate func with(_ change: (inout JSONObject) -> Void) -> Response {
        guard case .object(var answer)? = try? JSONValue(JSONDocument(body).root),
            case .object(var entitlements)? = answer["entitlements"],
            case .object(var premium)? = entitlements["premium"]
        else { return self }
        change(&premium)
        entitlements["premium"] = .object(premium)
        answer["entitlements"] = .object(entitlements)
        var response = self
        response.body = JSONValue.object(answer).encoded()
        return response
    }
}
