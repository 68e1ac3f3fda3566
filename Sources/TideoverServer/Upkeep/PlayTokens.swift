import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Purchase tokens as the store takes them. They are secrets: no table holds them, no fact and no line of
/// the log; they stand in the evidence alone, and are looked for there when the store is to be asked.
struct PlayTokens {
    let app: App
    let storage: any Storage
    let trust: PlayTrust

    /// Those of the tokens of a lineage that some evidence of it names; it blocks its thread.
    ///
    /// - Throws: `StorageError`.
    func find(_ wanted: Set<PlayToken>, in facts: [Fact]) throws -> [PlayToken: String] {
        var found: [PlayToken: String] = [:]
        var read: Set<EvidenceID> = []
        for fact in facts.reversed() where !fact.playTokens.isDisjoint(with: wanted) {
            guard found.count < wanted.count else { break }
            guard fact.playTokens.contains(where: { wanted.contains($0) && found[$0] == nil }),
                read.insert(fact.evidence).inserted,
                let piece = try storage.evidence(fact.evidence, app: app.id)
            else { continue }
            for token in Self.tokens(in: piece) {
                let name = trust.token(token)
                if wanted.contains(name) { found[name] = token }
            }
        }
        return found
    }

    /// What cannot be read holds none.
    private static func tokens(in piece: Evidence) -> [String] {
        switch piece.source {
        case .playNotification: (try? PlayDelivery(piece.bytes).purchaseTokens) ?? []
        case .playAPI: (try? PlayAnswers(piece.bytes).purchaseTokens) ?? []
        default: []
        }
    }
}

extension Fact {
    /// The purchase tokens of Google Play that it names.
    fileprivate var playTokens: Set<PlayToken> {
        switch assertion {
        case .playSubscription(let read): Set([read.token, read.replaces].compactMap(\.self))
        case .playPurchase(let read): [read.token]
        case .playReplacement(let replacement): [replacement.token, replacement.by]
        case .playNotice(let notice): [notice.token]
        case .playVoidedOrder(let order): [order.token]
        default: []
        }
    }
}
