import TideoverCalendar

/// Look-ups in the store's records, in their current or an earlier state.
extension AppStoreMachine {
    /// The state of an account until an instant.
    struct Version: Codable, Sendable {
        let until: Int64
        let account: Account
    }

    /// One transaction, with its account.
    struct Finding {
        let account: Account
        let content: Content

        enum Content {
            case term(AppStoreSubscription.Term, of: AppStoreSubscription)
            case purchase(AppStoreOneTimePurchase)
        }
    }

    /// The longest lag of a read, in milliseconds: how long earlier states are kept.
    static let longestLag = CivilDate.millisecondsPerDay

    /// Stores the current state of an account before it changes at `now`.
    mutating func remember(_ account: Int) {
        let oldest = now - AppStoreMachine.longestLag
        past[account].removeAll { $0.until <= oldest }
        guard past[account].last?.until != now else { return }
        past[account].append(Version(until: now, account: accounts[account]))
    }

    /// Returns the account of a transaction or of an `appTransactionId`, in its state at an
    /// instant; nil if the id did not exist then.
    func account(of id: String, asOf instant: Int64) -> Account? {
        guard let index = owners[id] else { return nil }
        let account = account(index, asOf: instant)
        let isKnown = account.appTransactionId == id || account.finding(id) != nil
        return isKnown ? account : nil
    }

    /// Returns a transaction in its state at an instant; nil if there was none.
    func finding(_ id: String, asOf instant: Int64) -> Finding? {
        owners[id].flatMap { account($0, asOf: instant).finding(id) }
    }

    /// Returns the location of the subscription that began with a transaction; nil if there is
    /// none.
    func place(ofOriginal id: String) -> Place? {
        guard let account = owners[id] else { return nil }
        let index = accounts[account].subscriptions.firstIndex {
            $0.original.ids.transactionId == id
        }
        return index.map { Place(account: account, subscription: $0) }
    }

    /// Returns the location of a one-time purchase by its transaction; nil if there is none.
    func shelf(of id: String) -> Shelf? {
        guard let account = owners[id] else { return nil }
        let index = accounts[account].purchases.firstIndex { $0.ids.transactionId == id }
        return index.map { Shelf(account: account, purchase: $0) }
    }

    /// Returns the name of the customer who owns the transaction.
    func customer(of id: String) -> String? { owners[id].map { accounts[$0].customer.name } }

    private func account(_ index: Int, asOf instant: Int64) -> Account {
        past[index].first { $0.until > instant }?.account ?? accounts[index]
    }
}

extension AppStoreMachine.Account {
    /// Every transaction, ordered by subscription and then as bought; purchases that do not renew
    /// are last.
    var findings: [AppStoreMachine.Finding] {
        let terms = subscriptions.flatMap { subscription in
            subscription.terms.map { finding(.term($0, of: subscription)) }
        }
        return terms + purchases.map { finding(.purchase($0)) }
    }

    func finding(_ id: String) -> AppStoreMachine.Finding? {
        for subscription in subscriptions {
            if let term = subscription.terms.first(where: { $0.ids.transactionId == id }) {
                return finding(.term(term, of: subscription))
            }
        }
        return purchases.first { $0.ids.transactionId == id }.map { finding(.purchase($0)) }
    }

    private func finding(_ content: AppStoreMachine.Finding.Content) -> AppStoreMachine.Finding {
        AppStoreMachine.Finding(account: self, content: content)
    }
}

extension AppStoreMachine.Finding {
    var ids: AppStoreSubscription.TermIds {
        switch content {
        case .term(let term, _): term.ids
        case .purchase(let purchase): purchase.ids
        }
    }

    var productId: String {
        switch content {
        case .term(let term, _): term.product.id
        case .purchase(let purchase): purchase.product.id
        }
    }

    /// Nil for a product outside of any group.
    var groupNumber: String? {
        switch content {
        case .term(let term, _): term.product.groupNumber
        case .purchase: nil
        }
    }

    /// Apple's `productType` in the query of a transaction history.
    var productType: String {
        switch content {
        case .term: "AUTO_RENEWABLE"
        case .purchase(let purchase): purchase.product.kind.filter
        }
    }

    var ownershipType: String {
        switch content {
        case .term(_, let subscription): subscription.ownershipType
        case .purchase(let purchase): purchase.ownershipType
        }
    }

    /// The instant of the purchase.
    var start: Int64 {
        switch content {
        case .term(let term, _): term.start
        case .purchase(let purchase): purchase.at
        }
    }

    var modifiedAt: Int64 {
        switch content {
        case .term(let term, _): term.modifiedAt
        case .purchase(let purchase): purchase.modifiedAt
        }
    }

    var revocation: AppStoreSubscription.Revocation? {
        switch content {
        case .term(let term, _): term.revocation
        case .purchase(let purchase): purchase.revocation
        }
    }
}
