import TideoverAppStore
import TideoverCore
import TideoverHTTP
import TideoverJSON
import TideoverSignatures
import TideoverStorage

/// A piece of evidence: what is signed and what it says, or why it is refused.
struct JudgedItem: Sendable {
    let item: DeviceItem
    let outcome: Result<(signed: [UInt8], reading: AppStoreReading), any Error>

    /// With `onlyKnownChains` a chain that was not verified before is refused unlooked at.
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

    /// Whether a signature in it does not hold.
    var isForged: Bool {
        if case .failure(let error) = outcome { error is SignatureRefusal } else { false }
    }
}

/// A piece of evidence that is believed, and durable by now.
struct AcceptedItem: Sendable {
    let environment: Environment
    /// When the store said it, by its own clock.
    let statedAt: Instant
    /// What it speaks of, in order: a receipt of many purchases, of none what states nothing that this
    /// version understands.
    let lineages: [Lineage]
    /// Whether it had arrived before.
    let isKnown: Bool
    let transactionId: String?
    let isReceipt: Bool
    let grounds: Grounds

    /// What it is believed by.
    enum Grounds: Hashable, Sendable {
        /// The store's own word.
        case stated
        /// The types of notifications, since the store cannot be asked.
        case presumed
        /// Nothing yet: it counts once a notification reports it.
        case awaited(isFirst: Bool)
    }

    var isAwaited: Bool {
        if case .awaited = grounds { true } else { false }
    }

    /// What the App Store signed.
    init(_ reading: AppStoreReading, _ lineages: [Lineage], isKnown: Bool) {
        environment = reading.environment
        statedAt = reading.signedAt
        self.lineages = lineages
        self.isKnown = isKnown
        transactionId = reading.transaction?.transactionId
        isReceipt = reading.kind == .receipt
        grounds = .stated
    }

    /// What Google Play answered about a purchase.
    init(_ lineage: Lineage, statedAt: Instant, isKnown: Bool = true) {
        environment = lineage.environment
        self.statedAt = statedAt
        lineages = [lineage]
        self.isKnown = isKnown
        transactionId = nil
        isReceipt = false
        grounds = .stated
    }

    /// A purchase on Google Play that the store cannot be asked about; `reportedAt` is nil until a
    /// notification reports it, and `isFirst` says that nothing was known of it.
    init(_ lineage: Lineage, reportedAt: Instant?, isFirst: Bool) {
        environment = lineage.environment
        statedAt = reportedAt ?? .distantPast
        lineages = [lineage]
        isKnown = true
        transactionId = nil
        isReceipt = false
        grounds = reportedAt == nil ? .awaited(isFirst: isFirst) : .presumed
    }
}

/// A piece of evidence that is believed, and not kept yet.
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

/// A piece of evidence, and what became of it.
struct KeptItem: Sendable {
    let item: DeviceItem
    let outcome: Result<AcceptedItem, any Error>

    /// What became of it, in a word.
    var word: String {
        switch outcome {
        case .success(let accepted):
            accepted.isAwaited ? "unasked" : accepted.isKnown ? "known" : "committed"
        case .failure(let error):
            storageError != nil ? "failed" : error is UnaskedPurchase ? "unasked" : "refused"
        }
    }

    /// Whether the store knows of no such purchase, or has not reported it where it cannot be asked.
    var isUnknownPurchase: Bool {
        switch outcome {
        case .failure(let error): error as? DeviceRefusal == .unknownPurchase
        case .success(let accepted): accepted.grounds == .awaited(isFirst: true)
        }
    }

    /// Why it is believed, but not kept.
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
                writer.field("detail", "It could not be stored: present it again.")
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
    /// What it takes to be certain of it.
    private var missing: String? {
        switch grounds {
        case .stated: nil
        case .presumed: PlayTrust.missingAccount
        case .awaited:
            "No notification has reported it yet; once one does, it counts for the customer. "
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
        writer.field(
            "lineages",
            array: { writer in
                for lineage in lineages {
                    writer.object { writer in
                        writer.field("lineage", lineage.key)
                        rulings[lineage]?.writeFields(to: &writer)
                    }
                }
            }
        )
    }
}

extension ClaimRuling {
    fileprivate func writeFields(to writer: inout JSONWriter) {
        writer.field("ownership", code)
        if case .refused(let objection) = self { writer.field("detail", objection.sentence) }
    }
}

/// Everything that one request presented.
struct KeptEvidence: Sendable {
    let items: [KeptItem]
    /// Whether the device said that it has nothing to present.
    let saysNothing: Bool

    private var accepted: [AcceptedItem] {
        items.compactMap { try? $0.outcome.get() }
    }

    /// The environment of the newest piece that is believed.
    var environment: Environment? {
        accepted.max { $0.statedAt < $1.statedAt }?.environment
    }

    /// The lineages that it speaks of, by environment, in order; of the environment answered for also
    /// where it speaks of none.
    func lineages(answering environment: Environment) -> [(Environment, [Lineage])] {
        let all = Set(accepted.flatMap(\.lineages))
        var groups = Dictionary(grouping: all, by: \.environment)
        groups[environment, default: []] += []
        return groups.map { ($0.key, $0.value.sorted()) }
            .sorted { $0.0.rawValue < $1.0.rawValue }
    }

    /// Whether it is known what the device has in hand in an environment: something of it was
    /// presented, or the device said that there is nothing, and nothing at all was refused. A request
    /// that merely carries nothing could be anybody's, and shows nothing.
    func isWhole(in environment: Environment) -> Bool {
        let accepted = accepted
        guard accepted.count == items.count, !accepted.contains(where: \.isAwaited) else {
            return false
        }
        return saysNothing || accepted.contains { $0.environment == environment }
    }

    /// Whether something was believed that had not arrived before.
    var isNew: Bool { accepted.contains { !$0.isKnown } }

    /// Why something that is believed is not kept.
    var storageError: StorageError? { items.lazy.compactMap(\.storageError).first }

    /// What became of each piece, as a member of a problem.
    var itemsMember: JSONValue {
        var writer = JSONWriter()
        writer.array { writer in for item in items { item.write(to: &writer, [:]) } }
        return (try? JSONDocument(writer.bytes, limits: .local)).map { JSONValue($0.root) } ?? []
    }
}

extension Problem {
    /// 503: what is `accepted` among the items is durable, and to present it again does no harm.
    static func notAllKept(_ kept: KeptEvidence) -> Problem {
        var problem = Problem.storageUnavailable
        problem.detail =
            "What `items` calls accepted is stored, though not yet claimed for the customer. Present "
            + "all of it again: nothing counts twice."
        problem.members = ["items": kept.itemsMember]
        return problem
    }
}

extension AppStoreTrust {
    /// Reads what a device presents.
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

    /// Without a root each receipt would look forged, and whoever presents it be blamed for it.
    private func configuredReceiptCheck(
        at now: Instant,
        onlyKnownChains: Bool
    ) throws -> ReceiptCheck {
        guard readsReceipts else { throw DeviceRefusal.receiptsNotConfigured }
        return receiptCheck(at: now, onlyKnownChains: onlyKnownChains)
    }
}
