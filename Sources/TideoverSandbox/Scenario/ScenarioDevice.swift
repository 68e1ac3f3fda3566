import TideoverJSON

/// A customer's device, which concludes from its last read of the store, as an app does that uses
/// only StoreKit.
struct ScenarioDevice: Codable, Sendable {
    private var purchases: [AppStoreDevicePurchase] = []
    /// When it last read the store, in milliseconds since 1970; nil before the first read.
    private var lookedAt: Int64?

    mutating func look(_ purchases: [AppStoreDevicePurchase], at now: Int64) {
        self.purchases = purchases
        lookedAt = now
    }

    /// Returns its reconcile report: its transactions and its conclusions.
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
            // A device that read another environment, or never read, does not know.
            if seen.isEmpty, !isElsewhere, lookedAt != nil { report["nothing"] = true }
        }
        return report
    }

    /// Of several purchases, the one that lasts longest counts; an unverified one never gives
    /// access.
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
    /// The end of access, `max` without an end.
    fileprivate var lasts: Int64 { end ?? .max }
}
