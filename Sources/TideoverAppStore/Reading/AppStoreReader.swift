import TideoverCore
import TideoverJSON

/// Reads content signed by the App Store, for one app. It rejects content with an invalid
/// signature, for another app, or with parts that contradict each other.
package struct AppStoreReader: Sendable {
    package let app: AppStoreIdentity

    package init(app: AppStoreIdentity) {
        self.app = app
    }

    /// Reads a notification as the App Store posts it: `{"signedPayload": "..."}`.
    ///
    /// - Throws: ``AppStoreRefusal``, or the errors of the check.
    package func readNotification(
        body: [UInt8],
        check: SignatureCheck
    ) throws -> AppStoreReading {
        let reading = try open(Self.signedPayload(in: Self.document(body).root), check)
        guard reading.kind == .notification else { throw AppStoreRefusal.notANotification }
        return reading
    }

    /// Reads a posted notification, or a single JWS of the App Store: a notification, a
    /// transaction, a renewal info or an app transaction. It also reads one subscription of an API
    /// response, as ``AppStoreAnswerItem`` stores it.
    ///
    /// - Throws: ``AppStoreRefusal``, or the errors of the check.
    package func read(_ input: [UInt8], check: SignatureCheck) throws -> AppStoreReading {
        let text = input.trimmed
        guard text.first == UInt8(ascii: "{") else { return try open(text, check) }
        let root = try Self.document(input).root
        if root["signedPayload"] == nil, root["signedTransactionInfo"] != nil {
            return try subscriptionStatus(root, check)
        }
        return try open(Self.signedPayload(in: root), check)
    }

    private static func document(_ body: [UInt8]) throws(AppStoreRefusal) -> JSONDocument {
        do {
            return try JSONDocument(body)
        } catch {
            throw .malformedJSON(error)
        }
    }

    private static func signedPayload(
        in root: JSONNode
    ) throws(AppStoreRefusal) -> ArraySlice<UInt8> {
        guard let payload = try WireFields(root, path: "body").jws("signedPayload") else {
            throw .missingMember("signedPayload")
        }
        return payload
    }

    func open(
        _ jws: ArraySlice<UInt8>,
        _ check: SignatureCheck
    ) throws -> AppStoreReading {
        let verified = try check(jws)
        let root = verified.payload.root
        guard let kind = AppStoreReading.Kind(of: root) else {
            throw AppStoreRefusal.unrecognisedContent
        }
        let fields = try WireFields(root)
        switch kind {
        case .notification: return try notification(fields, verified.authority, check)
        case .transaction: return try transaction(fields, verified.authority)
        case .renewalInfo: return try renewalInfo(fields, verified.authority)
        case .appTransaction: return try appTransaction(fields, verified.authority)
        case .subscriptionStatus, .receipt, .receiptAnswer:
            throw AppStoreRefusal.unrecognisedContent
        }
    }

    private func notification(
        _ fields: WireFields,
        _ authority: Authority,
        _ check: SignatureCheck
    ) throws -> AppStoreReading {
        let notification = try AppStoreNotification(fields)
        guard let content = notification.content else {
            throw AppStoreRefusal.missingMember("data")
        }
        let envelope = Envelope(content, authority: authority)
        // Checks the app before the environment, as Apple's libraries do. A message for another app
        // is reported as such in every environment.
        try app.require(bundleId: envelope.bundleId)
        let vouched = authority.environment(claiming: envelope.environment?.known)
        try app.require(appAppleId: envelope.appAppleId, in: vouched)
        var message = Message(
            kind: .notification,
            environment: try app.require(vouched, claimed: envelope.environment),
            claimedEnvironment: envelope.environment?.raw,
            notification: notification
        )
        try message.openParts(of: content, in: envelope, check)
        return try AppStoreReading(consume message)
    }

    private func transaction(
        _ fields: WireFields,
        _ authority: Authority
    ) throws(AppStoreRefusal) -> AppStoreReading {
        let transaction = try AppStoreTransaction(fields)
        try app.require(bundleId: transaction.bundleId)
        let claim = transaction.environment
        let vouched = authority.environment(claiming: claim?.known)
        return try AppStoreReading(
            Message(
                kind: .transaction,
                environment: try app.require(vouched, claimed: claim),
                claimedEnvironment: claim?.raw,
                transaction: transaction
            )
        )
    }

    private func renewalInfo(
        _ fields: WireFields,
        _ authority: Authority
    ) throws(AppStoreRefusal) -> AppStoreReading {
        let renewal = try AppStoreRenewalInfo(fields)
        let claim = renewal.environment
        let vouched = authority.environment(claiming: claim?.known)
        return try AppStoreReading(
            Message(
                kind: .renewalInfo,
                environment: try app.require(vouched, claimed: claim),
                claimedEnvironment: claim?.raw,
                renewalInfo: renewal
            )
        )
    }

    private func appTransaction(
        _ fields: WireFields,
        _ authority: Authority
    ) throws(AppStoreRefusal) -> AppStoreReading {
        let transaction = try AppStoreAppTransaction(fields)
        try app.require(bundleId: transaction.bundleId)
        let claim = transaction.receiptType
        let vouched = authority.environment(claiming: claim?.known)
        try app.require(appAppleId: transaction.appAppleId, in: vouched)
        return try AppStoreReading(
            Message(
                kind: .appTransaction,
                environment: try app.require(vouched, claimed: claim),
                claimedEnvironment: claim?.raw,
                appTransaction: transaction
            )
        )
    }
}

extension AppStoreReading.Kind {
    /// Payloads do not name their type; their members show it. Only a renewal info has neither an
    /// app nor a request identifier.
    fileprivate init?(of payload: JSONNode) {
        func has(_ names: String...) -> Bool { names.contains { payload[$0] != nil } }
        if has("notificationType", "notificationUUID") {
            self = .notification
        } else if has("receiptType", "receiptCreationDate") {
            self = .appTransaction
        } else if has("bundleId", "transactionId") {
            self = .transaction
        } else if has("environment"), !has("appAppleId", "requestIdentifier") {
            self = .renewalInfo
        } else {
            return nil
        }
    }
}

extension [UInt8] {
    /// The bytes without surrounding white space: files end with a line break.
    fileprivate var trimmed: ArraySlice<UInt8> {
        guard let first = firstIndex(where: { !$0.isSpace }),
            let last = lastIndex(where: { !$0.isSpace })
        else { return [] }
        return self[first...last]
    }
}
