import TideoverCore
import TideoverJSON
import TideoverStorage

/// The record of a fact that the server itself states. There are no signed bytes of it, so it is
/// stored in our own format.
struct OwnFactRecord: Equatable {
    /// The fact, with the id of these bytes as its evidence.
    let fact: Fact
    /// The encoded fact, without the id of the evidence, since these bytes are the evidence.
    let bytes: [UInt8]

    init(_ stated: Fact) {
        var fact = stated
        fact.evidence = EvidenceID(hex: "")
        bytes = JSONWriter.text { fact.write(to: &$0) }
        fact.evidence = EvidenceID(of: bytes)
        self.fact = fact
    }

    /// Decodes a record; nil for other bytes.
    init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(bytes, limits: .local),
            let fact = try? Fact(json: document.root)
        else { return nil }
        self.init(fact)
    }

    func evidence(dedupeKey: String) -> Evidence {
        Evidence(
            id: fact.evidence,
            dedupeKey: dedupeKey,
            source: .server,
            signedAt: nil,
            receivedAt: fact.learnedAt,
            bytes: bytes
        )
    }
}
