/// How a customer stands with a store, as the store itself has it.
public struct CustomerStanding: Hashable, Sendable {
    /// Who.
    public let customer: StoreCustomer
    /// Where the customer buys.
    public let store: Store
    /// The store's state in one word, as its truth names it.
    public let state: String
    /// When the state ends if nothing else happens before, in milliseconds since 1970; nil where that is
    /// not fixed.
    public let until: Int64?

    /// A store that customers buy in.
    public enum Store: String, CaseIterable, Hashable, Sendable {
        case appStore, googlePlay
    }
}

extension ScenarioPlay {
    func standing(of customer: StoreCustomer) async -> CustomerStanding {
        if let googlePlay, scenario.googlePlay?.takes(customer.name) ?? false {
            let truth = await googlePlay.store.truth(of: customer.name, at: now)
            return CustomerStanding(
                customer: customer,
                store: .googlePlay,
                state: truth.name,
                until: truth.until
            )
        }
        let truth = await store.truth(of: customer.name, at: now)
        return CustomerStanding(
            customer: customer,
            store: .appStore,
            state: truth.name,
            until: truth.until
        )
    }
}
