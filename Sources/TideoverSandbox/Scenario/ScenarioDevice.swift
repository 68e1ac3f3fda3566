import TideoverJSON

/// A customer's device, which concludes by itself from what it saw of its store, as an app does that asks
/// StoreKit alone.
struct ScenarioDevice: Codable, Sendable {
    private var purchases: [AppStoreDevicePurchase] = []
    /// When it looked last, in milliseconds since 1970; nil before it ever did.
    private var lookedAt: Int64?

    mutating func look(_ purchases: [AppStoreDevicePurchase], at now: Int64) {
        self.purchases = purchases
        lookedAt = now
    }

    /// What it reports when it reconciles: what it presents, and what it concluded.
    func report(
        _ visit: DeviceVisit,
        unlocking entitlements: [String: [String]],
        in environment: String,
        at now: Int64
    ) -> JSONObject {
        let isElsewhere = visit.environment.map { $0 != environment } ?? false
        let seen = isElsewhere ? [] : purchases
        let clock = now + visit.clockOffset
        var words: JSONObject = [:]
        for name in Set(entitlements.values.joined()).sorted() {
            let unlocking = seen.filter { entitlements[$0.productId]?.contains(name) ?? false }
            words[name] = .object(word(unlocking, visit, at: clock))
        }
        var device: JSONObject = [
            "deviceTime": .string(InstantText.write(clock)),
            "environment": .string(visit.environment ?? environment),
            "entitlements": .object(words),
        ]
        device["askedAt"] = lookedAt.map { .string(InstantText.write($0)) }
        var report: JSONObject = ["device": .object(device)]
        if visit.presents {
            report["transactions"] = .array(seen.map(\.signedTransaction))
            report["renewalInfos"] = .array(seen.compactMap(\.signedRenewalInfo))
            // Who looked elsewhere, or never, does not know.
            if seen.isEmpty, !isElsewhere, lookedAt != nil { report["nothing"] = true }
        }
        return report
    }

    /// Of several purchases the one that lasts longest counts; what is not verified never gives access.
    private func word(
        _ purchases: [AppStoreDevicePurchase],
        _ visit: DeviceVisit,
        at clock: Int64
    ) -> JSONObject {
        let standing = purchases.filter { !$0.isRevoked }
        guard let best = standing.max(by: { $0.lasts < $1.lasts }) ?? purchases.first else {
            return ["access": false]
        }
        var word: JSONObject = [
            "access": .bool(visit.verifies && !best.isRevoked && best.lasts > clock),
            "productId": .string(best.productId),
            "originalTransactionId": .string(best.originalTransactionId),
            "verified": .bool(visit.verifies),
        ]
        word["until"] = best.end.map { .string(InstantText.write($0)) }
        if !visit.finishes { word["unfinished"] = [.string(best.transactionId)] }
        return word
    }
}

extension AppStoreDevicePurchase {
    /// Until when it gives access, for ever included.
    fileprivate var lasts: Int64 { end ?? .max }
}
