/// A purchase ID that people read: in a store's console, on an invoice, in an email to the buyer.
public enum PurchaseName: Hashable, Sendable {
    /// The store's ID of one transaction.
    case transaction(String)
    /// The store's ID of an order, without the `..N` that Google Play appends for each renewal.
    case order(String)
    /// The expired Google Play token that the purchase continues.
    case expired(String)

    /// Creates a name from an order ID as a buyer quotes it.
    public init(order: some StringProtocol) {
        let text = String(order)
        self = .order(Self.withoutRenewal(text))
    }

    /// The kind of the name.
    public var kind: String {
        switch self {
        case .transaction: "transaction"
        case .order: "order"
        case .expired: "expired"
        }
    }

    public var text: String {
        switch self {
        case .transaction(let text), .order(let text), .expired(let text): text
        }
    }

    private static func withoutRenewal(_ order: String) -> String {
        let bytes = order.utf8
        let end = bytes.index(
            bytes.endIndex,
            offsetBy: -bytes.reversed().prefix(while: isDigit).count
        )
        let stem = bytes[..<end]
        guard end < bytes.endIndex, stem.suffix(2).elementsEqual("..".utf8) else { return order }
        return String(stem.dropLast(2)) ?? order
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}

extension Fact {
    /// The names that find the purchase, in addition to its lineage's ID.
    public var names: [PurchaseName] {
        switch assertion {
        case .term(let term): names(ofTransaction: term.transactionId)
        case .revocation(let revocation): names(of: revocation.term)
        case .reversal(let reversal): names(of: reversal.term)
        case .playSubscription(let read):
            names(of: read.token) + read.items.compactMap(\.orderId).map { PurchaseName(order: $0) }
                + [read.follows].compactMap(\.self).map { .expired($0.id) }
        case .playPurchase(let read): read.orderId.map { [PurchaseName(order: $0)] } ?? []
        case .playVoidedOrder(let order): order.orderId.map { [PurchaseName(order: $0)] } ?? []
        case .outlook, .condition, .grant, .move, .inferredOwner, .inquiry, .pending,
            .playReplacement, .playNotice, .unrecognised:
            []
        }
    }

    private func names(ofTransaction id: String) -> [PurchaseName] {
        id == lineage.id ? [] : [.transaction(id)]
    }

    /// Returns the names of a term. A refund may be the first fact that a relay states about it.
    private func names(of term: TermKey) -> [PurchaseName] {
        term.transactionId.map { names(ofTransaction: $0) } ?? []
    }

    /// Returns the names of a token. Facts of a later token in a chain must lead to the chain.
    private func names(of token: PlayToken) -> [PurchaseName] {
        token.id == lineage.id ? [] : [.transaction(token.id)]
    }
}
