/// A customer's state in a store, as the store itself reports it.
public struct CustomerStanding: Hashable, Sendable {
    /// The customer.
    public let customer: StoreCustomer
    /// The store that the customer buys in.
    public let store: Store
    /// The store's state as one name, that of its truth.
    public let state: String
    /// When the state ends without further events, in milliseconds since 1970; nil if that is not
    /// fixed.
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
