public import TideoverStoreKitFile

extension AppStoreProduct {
    /// The subscriptions of Xcode's StoreKit configuration file, in its order. Prices of a storefront
    /// that is not named, or not known, are in US dollars; where the file has billing grace it lasts
    /// sixteen days, since it does not say how long.
    public static func subscriptions(of file: StoreKitFile) -> [AppStoreProduct] {
        file.groups.flatMap { group in
            group.subscriptions.compactMap { subscription in
                guard let period = StorePeriod(iso: subscription.period.text) else { return nil }
                let offer = subscription.introductory
                let trial = offer.flatMap { offer in
                    offer.mode == .free ? StorePeriod(iso: offer.length.text) : nil
                }
                return AppStoreProduct(
                    id: subscription.product.id,
                    group: group.name,
                    level: subscription.level,
                    period: period,
                    trial: trial,
                    price: StorePrice(
                        milliunits: subscription.product.milliunits,
                        currency: file.currency ?? "USD"
                    ),
                    grace: file.hasBillingGrace == true ? .sixteenDays : .off,
                    isFamilyShareable: subscription.product.isFamilyShareable
                )
            }
        }
    }
}
