public import TideoverStoreKitFile

// The products of Xcode's StoreKit configuration file. Prices of an unnamed or unknown storefront
// are in US dollars.

extension AppStoreProduct {
    /// Returns the file's subscriptions, in its order, with all their offers. If the file enables
    /// billing grace, it lasts sixteen days, since the file has no length.
    public static func subscriptions(of file: StoreKitFile) -> [AppStoreProduct] {
        file.groups.flatMap { group in
            group.subscriptions.map { AppStoreProduct($0, of: group.name, file) }
        }
    }

    private init(
        _ subscription: StoreKitFile.Subscription,
        of group: String,
        _ file: StoreKitFile
    ) {
        let terms: [(AppStoreOffer.Kind, [StoreKitFile.Offer])] = [
            (.promotional, subscription.promotional), (.offerCode, subscription.codes),
            (.winBack, subscription.winBack),
        ]
        let introductory = subscription.introductory.map { AppStoreOffer(.introductory, $0, file) }
        self.init(
            id: subscription.product.id,
            group: group,
            level: subscription.level,
            period: StorePeriod(subscription.period),
            trial: introductory?.mode == .freeTrial ? introductory?.period : nil,
            introductory: introductory?.mode == .freeTrial ? nil : introductory,
            offers: terms.flatMap { kind, offers in offers.map { AppStoreOffer(kind, $0, file) } },
            price: file.price(subscription.product.milliunits),
            grace: file.hasBillingGrace == true ? .sixteenDays : .off,
            isFamilyShareable: subscription.product.isFamilyShareable
        )
    }
}

extension AppStoreOffer {
    fileprivate init(_ kind: Kind, _ offer: StoreKitFile.Offer, _ file: StoreKitFile) {
        switch offer.mode {
        case .payAsYouGo:
            self.init(
                kind,
                .payAsYouGo,
                identifier: offer.id,
                period: StorePeriod(offer.period),
                payments: offer.count,
                price: file.price(offer.milliunits)
            )
        case .free, .payUpFront:
            self.init(
                kind,
                offer.mode == .free ? .freeTrial : .payUpFront,
                identifier: offer.id,
                period: StorePeriod(offer.length),
                price: file.price(offer.milliunits, times: offer.count)
            )
        }
    }
}

extension AppStoreOneTimeProduct {
    /// Returns the file's products that do not renew by themselves, in its order. The file has no
    /// length of access for a non-renewing subscription: `length` is nil.
    public static func products(of file: StoreKitFile) -> [AppStoreOneTimeProduct] {
        file.purchases.compactMap { product in
            guard let kind = Kind(product.kind) else { return nil }
            return AppStoreOneTimeProduct(
                id: product.id,
                kind: kind,
                price: file.price(product.milliunits),
                isFamilyShareable: product.isFamilyShareable
            )
        }
    }
}

extension AppStoreOneTimeProduct.Kind {
    /// Returns nil for a renewing product, which has no such kind.
    fileprivate init?(_ kind: StoreKitFile.Kind) {
        switch kind {
        case .consumable: self = .consumable
        case .nonConsumable: self = .nonConsumable
        case .nonRenewing: self = .nonRenewing
        case .recurring: return nil
        }
    }
}

extension StoreKitFile {
    /// A product without a price in the file is free.
    fileprivate func price(_ milliunits: Int64?, times count: Int = 1) -> StorePrice {
        StorePrice(milliunits: (milliunits ?? 0) * Int64(count), currency: currency ?? "USD")
    }
}

extension StorePeriod {
    fileprivate init(_ period: ISOPeriod) {
        guard let read = StorePeriod(iso: period.text) else {
            preconditionFailure("\(period.text) is a period of ISO 8601")
        }
        self = read
    }
}
