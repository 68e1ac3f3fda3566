package import TideoverCore
package import TideoverSandbox

extension Catalogue {
    /// Creates the catalogue of a scenario's stores, as an operator would configure it.
    package init(_ scenario: Scenario) {
        let app = scenario.app
        self.init()
        for product in app.store.products {
            products[product.id] = Product(
                entitlements: app.entitlements[product.id] ?? [],
                group: product.group,
                period: Period(iso8601: product.period.text),
                trial: product.trial.flatMap { Period(iso8601: $0.text) },
                price: Money(product.price),
                store: .appStore
            )
        }
        for product in app.store.oneTimeProducts {
            products[product.id] = Product(
                entitlements: app.entitlements[product.id] ?? [],
                kind: Product.Kind(product.kind),
                period: product.length.flatMap { Period(iso8601: $0.text) },
                price: Money(product.price)
            )
        }
        if let play = scenario.googlePlay { addProducts(of: play) }
    }

    private mutating func addProducts(of play: ScenarioGooglePlay) {
        for subscription in play.app.subscriptions {
            for plan in subscription.basePlans {
                products["\(subscription.id):\(plan.id)"] = Product(
                    entitlements: play.entitlements[subscription.id] ?? [],
                    group: subscription.id,
                    period: Period(iso8601: plan.period.text),
                    price: Money(plan.price.standard),
                    grace: Period(iso8601: "P\(plan.graceDays)D"),
                    store: .googlePlay
                )
            }
        }
        for product in play.app.products {
            products[product.id] = Product(
                entitlements: play.entitlements[product.id] ?? [],
                kind: product.isConsumable ? .consumable : .nonConsumable,
                price: Money(product.price.standard)
            )
        }
    }
}

extension Product.Kind {
    /// Converts a store's kind of product to the catalogue's.
    fileprivate init(_ kind: AppStoreOneTimeProduct.Kind) {
        self =
            switch kind {
            case .consumable: .consumable
            case .nonConsumable: .nonConsumable
            case .nonRenewing: .nonRenewing
            }
    }
}

extension Money {
    fileprivate init(_ price: StorePrice) {
        self.init(milliunits: price.milliunits, currency: price.currency)
    }
}
