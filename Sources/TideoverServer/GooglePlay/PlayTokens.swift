import TideoverCore
import TideoverGooglePlay
import TideoverStorage

/// Finds purchase tokens in evidence. Tokens are secrets: no table, fact or log line contains them,
/// only the evidence. They are read from it when the store is queried.
struct PlayTokens {
    let context: AppContext
    let trust: PlayTrust

    /// Returns those tokens of a lineage that its evidence contains; it blocks its thread.
    ///
    /// - Throws: `StorageError`.
    func find(_ wanted: Set<PlayToken>, in facts: [Fact]) throws -> [PlayToken: String] {
        var found: [PlayToken: String] = [:]
        var read: Set<EvidenceID> = []
        for fact in facts.reversed() where !fact.playTokens.isDisjoint(with: wanted) {
            guard found.count < wanted.count else { break }
            guard fact.playTokens.contains(where: { wanted.contains($0) && found[$0] == nil }),
                read.insert(fact.evidence).inserted,
                let piece = try context.storage.evidence(fact.evidence, app: context.app.id)
            else { continue }
            for token in Self.tokens(in: piece) {
                let name = trust.token(token)
                if wanted.contains(name) { found[name] = token }
            }
        }
        return found
    }

    /// Returns the tokens in evidence; none if it is unreadable.
    private static func tokens(in piece: Evidence) -> [String] {
        switch piece.source {
        case .playNotification: (try? PlayDelivery(piece.bytes).purchaseTokens) ?? []
        case .playAPI: (try? PlayAnswers(piece.bytes).purchaseTokens) ?? []
        default: []
        }
    }
}

extension Fact {
    /// The purchase tokens of Google Play that the fact names.
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
