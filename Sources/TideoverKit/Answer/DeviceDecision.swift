import TideoverAppStore
package import TideoverCore
import TideoverJSON

/// What the device concludes from StoreKit alone: verified transactions and renewal infos become
/// facts, and the core decides on them as the server does.
package struct DeviceDecision: Hashable, Sendable {
    package var snapshot: Snapshot
    /// The readings that it rests on, each with the products and dates of its signatures.
    package var evidence: [Evidence]

    package struct Evidence: Hashable, Sendable {
        package var transactionId: String
        package var productId: String
        package var environment: TideoverCore.Environment
        package var signedAt: Instant
    }
}

/// The facts that a device can establish by itself.
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
        // Equal statements are ordered by the name of their evidence, which is the same on every device.
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
                signedAt: reading.latestSignedAt
            )
        )
    }

    /// StoreKit has verified the signature: only the payload is read. Xcode's test store signs with
    /// a certificate of its own and answers for its own environment only.
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

    /// The environment of the newest signature; nil where there is none.
    package var environment: TideoverCore.Environment? {
        evidence.max { $0.signedAt < $1.signedAt }?.environment
    }

    /// The newest date that a signature vouches for.
    package var newestDate: Instant? { evidence.map(\.signedAt).max() }

    /// What the core decides on these facts.
    package func decide(
        settings: KitSettings,
        environment: TideoverCore.Environment,
        readAt: Instant,
        at now: Instant
    ) -> DeviceDecision {
        let holdings = LineageHistory.all(of: facts, catalogue: settings.catalogue).map { history in
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
            holdings: holdings,
            catalogue: Versioned(settings.catalogue),
            policy: Versioned(settings.policy),
            reconciledAt: readAt
        )
        return DeviceDecision(snapshot: history.snapshot(at: now), evidence: evidence)
    }
}

extension SignedStatus {
    /// The status as the App Store Server API writes one, which the reader takes as a whole.
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
