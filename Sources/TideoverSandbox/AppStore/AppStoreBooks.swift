/// What the store finds in its books when somebody asks: as they stand now, or as they stood a while ago.
extension AppStoreMachine {
    /// An account as it was until an instant.
    struct Version: Codable, Sendable {
        let until: Int64
        let account: Account
    }

    /// One transaction, with the account that holds it.
    struct Finding {
        let account: Account
        let content: Content

        enum Content {
            case term(AppStoreSubscription.Term, of: AppStoreSubscription)
            case purchase(AppStoreOneTimePurchase)
        }
    }

    /// How far a read can lag behind, in milliseconds: what the books keep of what they said before.
    static let longestLag = CivilDate.millisecondsPerDay

    /// Keeps an account as it stands, before it changes at `now`.
    mutating func remember(_ account: Int) {
        let oldest = now - AppStoreMachine.longestLag
        past[account].removeAll { $0.until <= oldest }
        guard past[account].last?.until != now else { return }
        past[account].append(Version(until: now, account: accounts[account]))
    }

    /// The account that a transaction or an account's copy of the app belongs to, as it stood at an
    /// instant; nil if the store did not know the id then.
    func account(of id: String, asOf instant: Int64) -> Account? {
        guard let index = owners[id] else { return nil }
        let account = account(index, asOf: instant)
        let isKnown = account.appTransactionId == id || account.finding(id) != nil
        return isKnown ? account : nil
    }

    /// A transaction as it stood at an instant; nil if there was none.
    func finding(_ id: String, asOf instant: Int64) -> Finding? {
        owners[id].flatMap { account($0, asOf: instant).finding(id) }
    }

    /// Where the subscription stands that began with a transaction; nil if none did.
    func place(ofOriginal id: String) -> Place? {
        guard let account = owners[id] else { return nil }
        let index = accounts[account].subscriptions.firstIndex {
            $0.original.ids.transactionId == id
        }
        return index.map { Place(account: account, subscription: $0) }
    }

    /// Where a one-time purchase stands by its transaction; nil if it is none.
    func shelf(of id: String) -> Shelf? {
        guard let account = owners[id] else { return nil }
        let index = accounts[account].purchases.firstIndex { $0.ids.transactionId == id }
        return index.map { Shelf(account: account, purchase: $0) }
    }

    /// The name of the customer whose transaction this is.
    func customer(of id: String) -> String? { owners[id].map { accounts[$0].customer.name } }

    private func account(_ index: Int, asOf instant: Int64) -> Account {
        past[index].first { $0.until > instant }?.account ?? accounts[index]
    }
}

extension AppStoreMachine.Account {
    /// Every transaction, in the order of the subscriptions and then as bought; last what does not renew.
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

    /// Nil for what belongs to no group.
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

    /// When it was bought.
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
