import TideoverAppStore
package import TideoverCore
import TideoverJSON

/// The device's decision from StoreKit alone. Verified transactions and renewal infos become facts,
/// and the core decides on them like the server.
package struct DeviceDecision: Hashable, Sendable {
    package var snapshot: Snapshot
    /// The evidence of the decision, each piece with the products and dates of its signatures.
    package var evidence: [Evidence]

    package struct Evidence: Hashable, Sendable {
        package var transactionId: String
        package var productId: String
        package var environment: TideoverCore.Environment
        package var signedAt: Instant
        package var purchasedAt: Instant?
        package var accountToken: String?

        /// Whether it was bought after an instant, and not for another customer.
        func wasBought(after instant: Instant, by customer: CustomerID) -> Bool {
            guard let purchasedAt, purchasedAt > instant else { return false }
            return accountToken.map { $0.lowercased() == customer.text.lowercased() } ?? true
        }
    }
}

/// The facts that the device can establish without a server.
package struct DeviceFacts: Hashable, Sendable {
    package private(set) var facts: [Fact] = []
    package private(set) var evidence: [DeviceDecision.Evidence] = []

    /// Reads everything verified in a store reading, and purchases that arrived since.
    package init(
        _ reading: StoreReading,
        and purchases: [SignedPurchase],
        settings: KitSettings,
        at learnedAt: Instant
    ) {
        let reader = AppStoreReader(
            app: AppStoreIdentity(
                bundleId: settings.bundleId,
                environments: Set(TideoverCore.Environment.allCases)
            )
        )
        let check = Self.check(authority: settings.authority)
        for status in reading.statuses where status.transaction.isVerified {
            add(try? reader.read(status.document, check: check), at: learnedAt)
        }
        for purchase in purchases + reading.purchases + reading.unfinished
        where purchase.isVerified {
            add(try? reader.read(Array(purchase.jws.utf8), check: check), at: learnedAt)
        }
    }

    private mutating func add(_ reading: AppStoreReading?, at learnedAt: Instant) {
        guard let reading else { return }
        // Facts with equal content are ordered by the name of their evidence, which is the same on
        // every device.
        let id = EvidenceID(hex: reading.dedupeKey)
        facts += reading.facts(learnedAt: learnedAt, source: .deviceTransaction, evidence: id)
        guard let transaction = reading.transaction, let transactionId = transaction.transactionId,
            let productId = transaction.productId
        else { return }
        evidence.append(
            DeviceDecision.Evidence(
                transactionId: transactionId,
                productId: productId,
                environment: reading.environment,
                signedAt: reading.latestSignedAt,
                purchasedAt: transaction.purchaseDate,
                accountToken: transaction.appAccountToken
            )
        )
    }

    /// StoreKit has verified the signature, so only the payload is read. Xcode's test store signs
    /// with a separate certificate and is valid only for its own environment.
    private static func check(authority: Authority) -> SignatureCheck {
        { jws in
            let payload = try JSONDocument(try CompactJWS(jws).payload)
            let isXcode = payload.root["environment"]?.string == "Xcode"
            return VerifiedPayload(
                payload: payload,
                authority: isXcode ? .pinned(.xcode) : authority
            )
        }
    }

    /// The environment of the newest signature; nil if there is none.
    package var environment: TideoverCore.Environment? {
        evidence.max { $0.signedAt < $1.signedAt }?.environment
    }

    /// The newest signed date.
    package var newestDate: Instant? { evidence.map(\.signedAt).max() }

    /// Returns the core's decision on these facts.
    package func decide(
        settings: KitSettings,
        environment: TideoverCore.Environment,
        readAt: Instant,
        at now: Instant
    ) -> DeviceDecision {
        let lineageRecords = LineageHistory.all(of: facts, catalogue: settings.catalogue).map {
            history in
            OwnedHistory(
                history: history,
                owners: [
                    OwnershipEntry(
                        lineage: history.lineage,
                        customer: settings.customer,
                        from: .distantPast,
                        why: .claimed
                    )
                ]
            )
        }
        let history = CustomerHistory(
            customer: settings.customer,
            environment: environment,
            lineageRecords: lineageRecords,
            catalogue: Versioned(settings.catalogue),
            policy: Versioned(settings.policy),
            reconciledAt: readAt,
            stores: CustomerStores(selling: [.appStore])
        )
        let snapshot = history.snapshot(at: now, shown: Presentation(store: .appStore))
        return DeviceDecision(snapshot: snapshot, evidence: evidence)
    }
}

extension SignedStatus {
    /// The status as an App Store Server API response, which the reader accepts.
    fileprivate var document: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("status", state.rawValue)
            writer.field("signedTransactionInfo", transaction.jws)
            if let renewalInfo { writer.field("signedRenewalInfo", renewalInfo) }
        }
        return writer.bytes
    }
}
