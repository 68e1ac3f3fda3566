import TideoverHTTP
import TideoverJSON

extension UnionChecker {
    /// What a device does with a purchase after the answer to its receipt.
    package enum ReceiptOutcome: Hashable, Sendable {
        /// The purchase is finished or acknowledged, and is not posted again.
        case finished
        /// The purchase is posted again later.
        case kept
    }

    /// What a request states about its purchase.
    struct Receipt: Hashable {
        /// The products, the base product first; empty if the request names none.
        let products: [String]
        /// The purchase's transaction on iOS.
        let transactionId: String?
        /// Whether the customer asked for earlier purchases. Its products are then those of the
        /// store account, also if another customer owns them.
        let isRestore: Bool

        init(_ exchange: Exchange) {
            let root = try? JSONDocument(exchange.request.body, limits: .storeAnswer).root
            let one = root?["product_id"]?.string
            let list = root?["product_ids"]?.elements.compactMap(\.string)
            products = list ?? [one].compactMap(\.self)
            transactionId = exchange.platform == .ios ? root?["transaction_id"]?.string : nil
            isRestore =
                root?["initiation_source"]?.string.map { $0 == "restore" }
                ?? (root?["is_restore"]?.bool == true)
        }
    }

    /// What keeps a device from unlocking or handling the purchase: it is not in the answer, or
    /// Android does not know whether to consume it.
    func traps(of receipt: Receipt) -> [Refusal] {
        receipt.products.flatMap { product in
            let consumption = Refusal("purchased_products.\(product).should_consume", "absent")
            let purchase = Refusal("non_subscriptions.\(product)", "lacks the purchase")
            return (consumed[product] == nil ? [consumption] : [])
                + (receipt.isRestore || lists(product, of: receipt) ? [] : [purchase])
        }
    }

    /// Whether the answer has the purchase of a product. iOS finds a one-time purchase by its
    /// transaction.
    private func lists(_ product: String, of receipt: Receipt) -> Bool {
        if subscriptions[product] != nil { return true }
        let listed = purchases[product] ?? []
        guard let id = receipt.transactionId else { return !listed.isEmpty }
        return listed.contains { $0.transactionId == id }
    }

    /// iOS keeps a one-time purchase that the answer does not list.
    func outcome(of receipt: Receipt) -> ReceiptOutcome {
        guard receipt.transactionId != nil else { return .finished }
        return receipt.products.allSatisfy { lists($0, of: receipt) } ? .finished : .kept
    }
}
