import Foundation
import StoreKit

// Properties of the payload types, read from a simulated store's signed documents.

private struct TransactionPayload: Decodable {
    var transactionId: String
    var originalTransactionId: String
    var productId: String
    var subscriptionGroupIdentifier: String?
    var expiresDate: Int64?
    var revocationDate: Int64?
    var type: String
    var appAccountToken: String?
    var environment: String
    var signedDate: Int64
}

private struct RenewalPayload: Decodable {
    var originalTransactionId: String
    var productId: String
    var autoRenewStatus: Int
    var gracePeriodExpiresDate: Int64?
    var signedDate: Int64
}

/// The document cannot be read.
struct UnreadableDocument: Error {}

extension FakeStore.Document {
    var transaction: VerificationResult<Transaction> {
        get throws {
            let payload = try decode(TransactionPayload.self)
            guard let id = UInt64(payload.transactionId),
                let originalID = UInt64(payload.originalTransactionId)
            else { throw UnreadableDocument() }
            let transaction = Transaction(
                id: id,
                originalID: originalID,
                productID: payload.productId,
                subscriptionGroupID: payload.subscriptionGroupIdentifier,
                expirationDate: payload.expiresDate.map(Date.init(milliseconds:)),
                revocationDate: payload.revocationDate.map(Date.init(milliseconds:)),
                productType: Product.ProductType(rawValue: payload.type),
                appAccountToken: payload.appAccountToken.flatMap(UUID.init),
                environment: AppStore.Environment(rawValue: payload.environment),
                signedDate: Date(milliseconds: payload.signedDate),
                jws: jws
            )
            return isVerified ? .verified(transaction) : .unverified(transaction, .invalidSignature)
        }
    }

    fileprivate var renewalInfo: VerificationResult<Product.SubscriptionInfo.RenewalInfo> {
        get throws {
            let payload = try decode(RenewalPayload.self)
            guard let id = UInt64(payload.originalTransactionId) else { throw UnreadableDocument() }
            let info = Product.SubscriptionInfo.RenewalInfo(
                originalTransactionID: id,
                currentProductID: payload.productId,
                willAutoRenew: payload.autoRenewStatus == 1,
                gracePeriodExpirationDate: payload.gracePeriodExpiresDate.map(
                    Date.init(milliseconds:)
                ),
                signedDate: Date(milliseconds: payload.signedDate),
                jws: jws
            )
            return isVerified ? .verified(info) : .unverified(info, .invalidSignature)
        }
    }

    private func decode<Payload: Decodable>(_ type: Payload.Type) throws -> Payload {
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw UnreadableDocument() }
        var text = parts[1].replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text) else { throw UnreadableDocument() }
        return try JSONDecoder().decode(type, from: data)
    }
}

extension FakeStore.Status {
    var status: Product.SubscriptionInfo.Status {
        get throws {
            Product.SubscriptionInfo.Status(
                state: Product.SubscriptionInfo.RenewalState(rawValue: state),
                transaction: try transaction.transaction,
                renewalInfo: try renewalInfo.renewalInfo
            )
        }
    }
}

extension Date {
    fileprivate init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
