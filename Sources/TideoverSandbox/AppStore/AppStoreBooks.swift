/// What the store finds in its books when somebody asks: as they stand now, or as they stood a while ago.
extension AppStoreMachine {
    /// An account as it was until an instant.
    struct Version: Sendable {
        let until: Int64
        let account: Account
    }

    /// One transaction, with the subscription it belongs to and the account that holds it.
    struct Finding {
        let account: Account
        let subscription: AppStoreSubscription
        let term: AppStoreSubscription.Term
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

    /// The name of the customer whose transaction this is.
    func customer(of id: String) -> String? { owners[id].map { accounts[$0].customer.name } }

    private func account(_ index: Int, asOf instant: Int64) -> Account {
        past[index].first { $0.until > instant }?.account ?? accounts[index]
    }
}

extension AppStoreMachine.Account {
    /// Every transaction, in the order of the subscriptions and then as bought.
    var findings: [AppStoreMachine.Finding] {
        subscriptions.flatMap { subscription in
            subscription.terms.map {
                AppStoreMachine.Finding(account: self, subscription: subscription, term: $0)
            }
        }
    }

    func finding(_ id: String) -> AppStoreMachine.Finding? {
        for subscription in subscriptions {
            if let term = subscription.terms.first(where: { $0.ids.transactionId == id }) {
                return AppStoreMachine.Finding(
                    account: self,
                    subscription: subscription,
                    term: term
                )
            }
        }
        return nil
    }
}
