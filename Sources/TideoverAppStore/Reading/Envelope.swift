import TideoverCore
import TideoverJSON

/// The verified fields of a notification that all signed parts inside must repeat.
struct Envelope {
    let authority: Authority
    let bundleId: String?
    let appAppleId: Int64?
    let environment: OpenEnum<StoreEnvironment>?

    init(_ content: AppStoreNotification.Content, authority: Authority) {
        self.authority = authority
        switch content {
        case .data(let data):
            (bundleId, appAppleId) = (data.bundleId, data.appAppleId)
            environment = data.environment
        case .summary(let summary):
            (bundleId, appAppleId) = (summary.bundleId, summary.appAppleId)
            environment = summary.environment
        case .externalPurchaseToken(let token):
            (bundleId, appAppleId) = (token.bundleId, token.appAppleId)
            environment = token.environment
        case .appData(let appData):
            (bundleId, appAppleId) = (appData.bundleId, appData.appAppleId)
            environment = appData.environment
        case .unknown(let object):
            (bundleId, appAppleId) = (object.bundleId, object.appAppleId)
            environment = object.environment
        }
    }

    /// Uses a transaction as the envelope of the renewal info beside it.
    init(of transaction: AppStoreTransaction, authority: Authority) {
        self.authority = authority
        bundleId = transaction.bundleId
        appAppleId = nil
        environment = transaction.environment
    }

    func transaction(
        _ jws: ArraySlice<UInt8>,
        _ check: SignatureCheck
    ) throws -> AppStoreTransaction {
        let transaction = try AppStoreTransaction(open(jws, .transaction, check))
        try Self.agree(.transaction, "bundleId", bundleId, transaction.bundleId)
        try Self.agree(.transaction, "environment", environment?.raw, transaction.environment?.raw)
        return transaction
    }

    /// Reads a renewal info. It names no app; the transaction beside it does.
    func renewalInfo(
        _ jws: ArraySlice<UInt8>,
        beside transaction: AppStoreTransaction?,
        _ check: SignatureCheck
    ) throws -> AppStoreRenewalInfo {
        let renewal = try AppStoreRenewalInfo(open(jws, .renewalInfo, check))
        try Self.agree(.renewalInfo, "environment", environment?.raw, renewal.environment?.raw)
        if let id = transaction?.originalTransactionId, let found = renewal.originalTransactionId {
            try Self.agree(.renewalInfo, "originalTransactionId", id, found)
        }
        return renewal
    }

    func appTransaction(
        _ jws: ArraySlice<UInt8>,
        _ check: SignatureCheck
    ) throws -> AppStoreAppTransaction {
        let transaction = try AppStoreAppTransaction(open(jws, .appTransaction, check))
        try Self.agree(.appTransaction, "bundleId", bundleId, transaction.bundleId)
        try Self.agree(
            .appTransaction,
            "environment",
            environment?.raw,
            transaction.receiptType?.raw
        )
        if let id = appAppleId, let found = transaction.appAppleId {
            try Self.agree(.appTransaction, "appAppleId", "\(id)", "\(found)")
        }
        return transaction
    }

    private func open(
        _ jws: ArraySlice<UInt8>,
        _ part: SignedPart,
        _ check: SignatureCheck
    ) throws -> WireFields {
        let inner = try check(jws)
        try Self.agree(part, "authority", authority.name, inner.authority.name)
        let found = part.stranger(in: inner.payload.root)
        try Self.agree(part, "kind", part.rawValue, found ?? part.rawValue)
        return try WireFields(inner.payload.root, path: part.rawValue)
    }

    static func agree(
        _ part: SignedPart,
        _ field: String,
        _ outer: String?,
        _ inner: String?
    ) throws(AppStoreRefusal) {
        guard outer == inner else {
            throw .nestedMismatch(part: part, field: field, outer: outer, inner: inner)
        }
    }
}

extension SignedPart {
    /// Returns the kind of object found in place of this part, by a member that only the other kind
    /// has. Returns nil if no member shows another kind. All kinds have the same signature and
    /// share many members. A transaction read as a renewal info would state a renewal that the
    /// store never signed.
    fileprivate func stranger(in payload: JSONNode) -> String? {
        for (member, kind) in Self.tellingMembers where payload[member] != nil {
            if kind != rawValue { return kind }
        }
        return nil
    }

    private static let tellingMembers = [
        ("notificationType", "notification"), ("notificationUUID", "notification"),
        ("transactionId", transaction.rawValue), ("autoRenewStatus", renewalInfo.rawValue),
        ("autoRenewProductId", renewalInfo.rawValue), ("receiptType", appTransaction.rawValue),
        ("receiptCreationDate", appTransaction.rawValue),
    ]
}

extension Authority {
    /// A distinct name for each authority.
    fileprivate var name: String {
        switch self {
        case .appStore: "appStore"
        case .simulated: "simulated"
        case .pinned(let environment): "pinned:\(environment.rawValue)"
        }
    }
}
