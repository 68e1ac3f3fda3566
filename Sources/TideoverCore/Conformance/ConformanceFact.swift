import TideoverJSON

extension Fact {
    /// Reads a fact in its JSON form. A table may omit members that follow from the rest.
    init(
        conformance node: JSONNode,
        in setting: ConformanceSetting,
        evidence: EvidenceID
    ) throws(ConformanceFault) {
        guard case .object(let said) = JSONValue(node).withWholeTimes else {
            throw ConformanceFault(.notA("fact", member: "facts"), at: node)
        }
        let whole = FilledFact(said, lineage: setting.base, evidence: evidence)
        let fact = try whole.read(for: node)
        if let name = whole.unknownMember(of: said, in: fact) {
            throw ConformanceFault(.unknownMember(name, closest: nil), at: node)
        }
        self = fact
    }
}

/// A fact's JSON form with all omitted members filled in.
private struct FilledFact {
    let object: JSONObject

    private static let envelope = [
        "lineage", "effectiveAt", "assertedAt", "envelopeSignedAt", "learnedAt", "rank", "source",
        "evidence",
    ]

    /// The usual source of facts of each store.
    private static let sources = [
        "appStore": "appStoreNotification", "googlePlay": "playAPI",
        "revenueCat": "revenueCatWebhook", "tideover": "operator",
    ]

    init(_ said: JSONObject, lineage base: JSONObject, evidence: EvidenceID) {
        let lineage = (said["lineage"]?.object ?? JSONObject()).merged(over: base)
        let word = said.first { !Self.envelope.contains($0.key) }?.key ?? ""
        var assertion = said[word]?.object ?? JSONObject()
        let began = ["start", "date", "from", "askedAt"].lazy.compactMap { assertion[$0] }.first
        let asserted = said["assertedAt"] ?? began
        switch word {
        case "term": assertion["plan"] = assertion["plan"] ?? "autoRenewable"
        case "playSubscription", "playPurchase":
            assertion["askedAt"] = assertion["askedAt"] ?? asserted
        default: break
        }
        let source = lineage["store"]?.string.flatMap { Self.sources[$0] } ?? ""
        let filled: [(String, JSONValue?)] = [
            ("lineage", .object(lineage)), (word, .object(assertion)), ("assertedAt", asserted),
            ("effectiveAt", said["effectiveAt"] ?? began ?? asserted),
            ("learnedAt", said["learnedAt"] ?? said["envelopeSignedAt"] ?? asserted),
            ("rank", said["rank"] ?? .integer(Int64(Rank.store.rawValue))),
            ("source", said["source"] ?? .string(source)),
            ("evidence", said["evidence"] ?? .string(evidence.hex)),
        ]
        object = filled.reduce(into: said) { $0[$1.0] = $1.1 }
    }

    func read(for node: JSONNode) throws(ConformanceFault) -> Fact {
        do throws(FormError) {
            // The other instants follow from this one, so it is what is missing of all of them.
            guard object["assertedAt"] != nil else { throw .missing(field: "assertedAt") }
            return try Fact(json: .whole(.object(object)))
        } catch {
            throw ConformanceFault(error, at: node)
        }
    }

    /// Returns a member that the form does not contain.
    func unknownMember(of said: JSONObject, in fact: Fact) -> String? {
        JSONValue.object(said).unknownMember(
            beside: JSONValue { fact.write(to: &$0) },
            isRead: isRead
        )
    }

    /// Whether the form reads the value at a path although it does not write it. The form then
    /// rejects a list there.
    private func isRead(_ path: [String]) -> Bool {
        let probe = JSONValue.object(object).setting(path[...], to: [])
        return (try? Fact(json: .whole(probe))) == nil
    }
}
