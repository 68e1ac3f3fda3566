import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// A verified piece of evidence with its content, or the reason for its rejection.
struct JudgedItem: Sendable {
    let item: DeviceItem
    let outcome: Result<(signed: [UInt8], reading: AppStoreReading), any Error>

    /// Verifies an item. With `onlyKnownChains` an item is rejected, without verification, if its
    /// certificate chain was not verified before.
    init(
        _ item: DeviceItem,
        _ trust: AppStoreTrust?,
        at now: Instant,
        onlyKnownChains: Bool
    ) {
        self.item = item
        outcome = Result {
            guard let trust else { throw DeviceRefusal.otherStore }
            let signed = try item.signed.get()
            let reading = try trust.read(signed, at: now, onlyKnownChains: onlyKnownChains)
            guard item.kind.mayBe(reading.kind) else {
                throw DeviceRefusal.wrongKind(reading.kind)
            }
            return (signed.bytes, reading)
        }
    }

    /// Whether a signature in it is invalid.
    var isForged: Bool {
        if case .failure(let error) = outcome { error is SignatureRefusal } else { false }
    }
}

/// A piece of evidence that is accepted and stored.
struct AcceptedItem: Sendable {
    let environment: Environment
    /// When the store stated it, by the store's clock.
    let statedAt: Instant
    /// The lineages it describes, in order. A receipt can have many, and evidence that this version
    /// does not understand has none.
    let lineages: [Lineage]
    /// Whether it had arrived before.
    let isKnown: Bool
    let transactionId: String?
    /// The receipt of StoreKit 1 that it is.
    let receipt: AppStoreReceipt?
    let grounds: Grounds

    /// The reason to accept it.
    enum Grounds: Hashable, Sendable {
        /// The store's own statement.
        case stated
        /// The types of notifications, since the store cannot be queried.
        case presumed
        /// None yet: it takes effect once a notification reports the purchase.
        case awaited(isFirst: Bool)
    }

    var isReceipt: Bool { receipt != nil }

    var isAwaited: Bool {
        if case .awaited = grounds { true } else { false }
    }

    /// Creates an item from data that the App Store signed.
    init(_ reading: AppStoreReading, _ lineages: [Lineage], isKnown: Bool) {
        environment = reading.environment
        statedAt = reading.signedAt
        self.lineages = lineages
        self.isKnown = isKnown
        transactionId = reading.transaction?.transactionId
        receipt = reading.receipt
        grounds = .stated
    }

    /// Creates an item from Google Play's response about a purchase.
    init(_ lineage: Lineage, statedAt: Instant, isKnown: Bool = true) {
        environment = lineage.environment
        self.statedAt = statedAt
        lineages = [lineage]
        self.isKnown = isKnown
        transactionId = nil
        receipt = nil
        grounds = .stated
    }

    /// Creates an item for a purchase on Google Play when the store cannot be queried. `reportedAt`
    /// is nil until a notification reports it. `isFirst` is true if nothing was known of it.
    init(_ lineage: Lineage, reportedAt: Instant?, isFirst: Bool) {
        environment = lineage.environment
        statedAt = reportedAt ?? .distantPast
        lineages = [lineage]
        isKnown = true
        transactionId = nil
        receipt = nil
        grounds = reportedAt == nil ? .awaited(isFirst: isFirst) : .presumed
    }
}

/// A piece of evidence that is accepted and not yet stored.
struct BelievedItem: Sendable {
    let item: DeviceItem
    let reading: AppStoreReading
    let lineages: [Lineage]
    let evidence: Evidence

    func kept(as outcome: CommitOutcome) -> KeptItem {
        let accepted = AcceptedItem(reading, lineages, isKnown: outcome == .duplicate)
        return KeptItem(item: item, outcome: .success(accepted))
    }
}

/// A piece of evidence, and its outcome.
struct KeptItem: Sendable {
    let item: DeviceItem
    let outcome: Result<AcceptedItem, any Error>

    /// The name of the outcome for metrics.
    var word: String {
        switch outcome {
        case .success(let accepted):
            accepted.isAwaited ? "unasked" : accepted.isKnown ? "known" : "committed"
        case .failure(let error):
            storageError != nil ? "failed" : error is UnaskedPurchase ? "unasked" : "refused"
        }
    }

    /// Whether the store does not know the purchase, or has not reported it and cannot be queried.
    var isUnknownPurchase: Bool {
        switch outcome {
        case .failure(let error): error as? DeviceRefusal == .unknownPurchase
        case .success(let accepted): accepted.grounds == .awaited(isFirst: true)
        }
    }

    /// The storage error of an accepted piece that could not be stored.
    var storageError: StorageError? {
        if case .failure(let error) = outcome { error as? StorageError } else { nil }
    }

    func write(to writer: inout JSONWriter, _ rulings: [Lineage: ClaimRuling]) {
        writer.object { writer in
            writer.field("kind", item.kind.rawValue)
            writer.field("index", item.index)
            switch outcome {
            case .success(let accepted): accepted.writeFields(to: &writer, rulings)
            case .failure where storageError != nil:
                writer.field("verdict", "failed")
                writer.field("reason", Problem.storageUnavailable.slug)
                writer.field("detail", "It could not be stored. Present it again.")
            case .failure(let error as UnaskedPurchase):
                writer.field("verdict", "unasked")
                writer.field("reason", error.code)
                writer.field("detail", error.sentence)
            case .failure(let error):
                let refusal = error as? any Refusal
                writer.field("verdict", "refused")
                writer.field("reason", refusal?.code ?? "unreadable")
                writer.field("detail", refusal?.sentence)
            }
        }
    }
}

extension AcceptedItem {
    /// What is missing to confirm the purchase.
    private var missing: String? {
        switch grounds {
        case .stated: nil
        case .presumed: PlayTrust.missingAccount
        case .awaited:
            "No notification has reported it yet. It counts for the customer as soon as one does. "
                + PlayTrust.missingAccount
        }
    }

    fileprivate func writeFields(to writer: inout JSONWriter, _ rulings: [Lineage: ClaimRuling]) {
        writer.field("verdict", isAwaited ? "unasked" : "accepted")
        if isAwaited { writer.field("reason", "awaiting-notification") }
        writer.field("isKnown", isKnown)
        writer.field("environment", environment.rawValue)
        guard isReceipt else {
            writer.field("transactionId", transactionId)
            writer.field("lineage", lineages.first?.key)
            lineages.first.flatMap { rulings[$0] }?.writeFields(to: &writer)
            if let missing { writer.field("missing", missing) }
            return
        }
        writer.field("lineages", objects: lineages) { lineage, writer in
            writer.field("lineage", lineage.key)
            rulings[lineage]?.writeFields(to: &writer)
        }
    }
}

extension ClaimRuling {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        writer.field("ownership", code)
        if case .refused(let objection) = self { writer.field("detail", objection.sentence) }
    }
}

/// All evidence of one request.
struct KeptEvidence: Sendable {
    let items: [KeptItem]
    /// Whether the device reported that it has nothing to present.
    let saysNothing: Bool
    /// Whether the device may have further purchases that it did not present.
    var isPart = false

    private var accepted: [AcceptedItem] {
        items.compactMap { try? $0.outcome.get() }
    }

    /// The environment of the newest accepted piece.
    var environment: Environment? {
        accepted.max { $0.statedAt < $1.statedAt }?.environment
    }

    /// Returns the lineages by environment, in order. The environment of the answer is always
    /// included, even without lineages.
    func lineages(answering environment: Environment) -> [(Environment, [Lineage])] {
        let all = Set(accepted.flatMap(\.lineages))
        var groups = Dictionary(grouping: all, by: \.environment)
        groups[environment, default: []] += []
        return groups.map { ($0.key, $0.value.sorted()) }
            .sorted { $0.0.rawValue < $1.0.rawValue }
    }

    /// The lineages that a transaction, a receipt or a purchase describes, and not only a renewal
    /// info.
    var purchased: Set<Lineage> {
        let purchases = items.filter { $0.item.kind != .renewalInfo }
        return Set(purchases.compactMap { try? $0.outcome.get() }.flatMap(\.lineages))
    }

    /// Returns whether the device's purchases in an environment are completely known. The device
    /// presented some of them, or reported that it has none, and nothing was rejected. An empty
    /// request does not count, since anyone can send it.
    func isWhole(in environment: Environment) -> Bool {
        let accepted = accepted
        guard !isPart, accepted.count == items.count, !accepted.contains(where: \.isAwaited) else {
            return false
        }
        return saysNothing || accepted.contains { $0.environment == environment }
    }

    /// Whether an accepted piece had not arrived before.
    var isNew: Bool { accepted.contains { !$0.isKnown } }

    /// The first storage error of an accepted piece.
    var storageError: StorageError? { items.lazy.compactMap(\.storageError).first }

    /// The outcomes of all pieces, as a member of a problem.
    var itemsMember: JSONValue {
        var writer = JSONWriter()
        writer.array { writer in for item in items { item.write(to: &writer, [:]) } }
        return (try? JSONDocument(writer.bytes, limits: .local)).map { JSONValue($0.root) } ?? []
    }
}

extension Problem {
    /// 503: items listed as `accepted` are stored, and presenting them again does no harm.
    static func notAllKept(_ kept: KeptEvidence) -> Problem {
        var problem = Problem.storageUnavailable
        problem.detail =
            "Items with the verdict `accepted` are stored, but not yet claimed for the customer. "
            + "Present all items again: none counts twice."
        problem.members = ["items": kept.itemsMember]
        return problem
    }
}

extension AppStoreTrust {
    /// Reads data that a device presents.
    ///
    /// - Throws: a `Refusal`.
    fileprivate func read(
        _ piece: SignedPiece,
        at now: Instant,
        onlyKnownChains: Bool
    ) throws -> AppStoreReading {
        let reader = AppStoreReader(app: identity)
        let receipts = { try configuredReceiptCheck(at: now, onlyKnownChains: onlyKnownChains) }
        switch piece {
        case .document(let bytes):
            return try reader.read(
                bytes,
                check: check(at: now, onlyKnownChains: onlyKnownChains)
            )
        case .receipt(let bytes): return try reader.readReceipt(bytes, check: receipts())
        case .answer(let bytes, _):
            return try reader.readReceiptAnswer(bytes, check: receipts())
        }
    }

    /// Rejects receipts if no root is configured. Without this check each receipt would look
    /// forged, and count against its sender.
    private func configuredReceiptCheck(
        at now: Instant,
        onlyKnownChains: Bool
    ) throws -> ReceiptCheck {
        guard readsReceipts else { throw DeviceRefusal.receiptsNotConfigured }
        return receiptCheck(at: now, onlyKnownChains: onlyKnownChains)
    }
}
