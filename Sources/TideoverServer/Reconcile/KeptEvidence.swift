import TideoverAppStore
import TideoverCore
import TideoverJSON
import TideoverSignatures

/// A piece of evidence: the document signed and what it says, or why it is refused.
struct JudgedItem: Sendable {
    let item: DeviceItem
    let outcome: Result<(signed: [UInt8], reading: AppStoreReading), any Error>

    init(_ item: DeviceItem, _ trust: AppStoreTrust, at now: Instant) {
        self.item = item
        outcome = Result {
            let signed = try item.signed.get()
            let reader = AppStoreReader(app: trust.identity)
            let reading = try reader.read(signed, check: trust.check(at: now))
            guard reading.kind == item.kind.reading else {
                throw DeviceRefusal.wrongKind(reading.kind)
            }
            return (signed, reading)
        }
    }

    /// Whether a signature in it does not hold.
    var isForged: Bool {
        if case .failure(let error) = outcome { error is SignatureRefusal } else { false }
    }
}

/// A piece of evidence that is believed, and durable by now.
struct AcceptedItem: Sendable {
    let reading: AppStoreReading
    /// Nil for what states nothing that this version understands.
    let lineage: Lineage?
    /// Whether it had arrived before.
    let isKnown: Bool
}

/// A piece of evidence, and what became of it.
struct KeptItem: Sendable {
    let item: DeviceItem
    let outcome: Result<AcceptedItem, any Error>

    /// What became of it, in a word.
    var word: String {
        switch outcome {
        case .success(let accepted): accepted.isKnown ? "known" : "committed"
        case .failure: "refused"
        }
    }

    func write(to writer: inout JSONWriter, _ rulings: [Lineage: ClaimRuling]) {
        writer.object { writer in
            writer.field("kind", item.kind.rawValue)
            writer.field("index", item.index)
            switch outcome {
            case .success(let accepted): accepted.writeFields(to: &writer, rulings)
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
    fileprivate func writeFields(to writer: inout JSONWriter, _ rulings: [Lineage: ClaimRuling]) {
        writer.field("verdict", "accepted")
        writer.field("isKnown", isKnown)
        writer.field("environment", reading.environment.rawValue)
        writer.field("transactionId", reading.transaction?.transactionId)
        writer.field("lineage", lineage?.key)
        guard let ruling = lineage.flatMap({ rulings[$0] }) else { return }
        writer.field("ownership", ruling.code)
        if case .refused(let objection) = ruling { writer.field("detail", objection.sentence) }
    }
}

/// Everything that one request presented.
struct KeptEvidence: Sendable {
    let items: [KeptItem]

    private var accepted: [AcceptedItem] {
        items.compactMap { try? $0.outcome.get() }
    }

    /// The environment of the newest piece that is believed.
    var environment: Environment? {
        accepted.max { $0.reading.signedAt < $1.reading.signedAt }?.reading.environment
    }

    /// The lineages that it speaks of, by environment, in order.
    var lineages: [(Environment, [Lineage])] {
        let all = Set(accepted.compactMap(\.lineage))
        return Dictionary(grouping: all, by: \.environment)
            .map { ($0.key, $0.value.sorted()) }
            .sorted { $0.0.rawValue < $1.0.rawValue }
    }
}
