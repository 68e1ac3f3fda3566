/// New purchases, and those that replace another.
extension GooglePlayMachine {
    mutating func subscribe(
        _ account: Int,
        to choices: [GooglePlayChoice],
        _ payment: GooglePlayAction.Payment,
        from shop: GooglePlayAction.Place
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let plans = try plans(choices, for: account)
        let held = accounts[account].subscriptions.lastIndex { subscription in
            plans.contains { plan in
                subscription.has(plan.product) { $0.isLive || subscription.signup == .awaited }
            }
        }
        if let held {
            let isCancelled = accounts[account].subscriptions[held].state == .cancelled
            guard isCancelled, shop == .app else {
                throw refusal(.alreadySubscribed, account, plans.first?.product)
            }
        }
        try checkPayment(of: account, payment, plans.first?.product)
        let place = begin(plans.map { item($0, for: account) }, for: account, from: shop)
        self[place].linkedToken = held.map { accounts[account].subscriptions[$0].token }
        guard payment == .prompt else { return notify([], of: place) }
        return complete(place)
    }

    /// Returns the chosen plans: at least one, each product once, all prepaid or none.
    private func plans(
        _ choices: [GooglePlayChoice],
        for account: Int
    ) throws(GooglePlayRefusal) -> [GooglePlayPlan] {
        var plans: [GooglePlayPlan] = []
        for choice in choices {
            guard let plan = app.plan(choice) else {
                throw refusal(.unknownProduct, account, choice.product)
            }
            guard !plans.contains(where: { $0.product == plan.product }) else {
                throw refusal(.samePlan, account, choice.product)
            }
            plans.append(plan)
        }
        guard !plans.isEmpty else { throw refusal(.unknownProduct, account) }
        guard Set(plans.map { $0.basePlan.kind == .prepaid }).count == 1 else {
            throw refusal(.wrongKindOfPlan, account, choices.first?.product)
        }
        return plans
    }

    private func checkPayment(
        of account: Int,
        _ payment: GooglePlayAction.Payment,
        _ product: String?
    ) throws(GooglePlayRefusal) {
        guard payment == .delayed || !accounts[account].paymentsFail else {
            throw refusal(.paymentDeclined, account, product)
        }
    }

    private func item(_ plan: GooglePlayPlan, for account: Int) -> GooglePlayItem {
        let (customer, tempo) = (accounts[account].customer, accounts[account].tempo)
        return GooglePlayItem(plan, region: customer.region, tempo, at: now)
    }

    private func buyer(_ account: Int, from shop: GooglePlayAction.Place = .app) -> GooglePlayBuyer
    {
        let customer = accounts[account].customer
        guard shop == .app else { return GooglePlayBuyer(region: customer.region) }
        return GooglePlayBuyer(
            region: customer.region,
            obfuscatedAccountId: customer.obfuscatedAccountId,
            obfuscatedProfileId: customer.obfuscatedProfileId
        )
    }

    /// Creates a new purchase token, with nothing granted yet.
    private mutating func begin(
        _ items: [GooglePlayItem],
        for account: Int,
        from shop: GooglePlayAction.Place = .app
    ) -> Place {
        let place = Place(account: account, index: accounts[account].subscriptions.count)
        var subscription = GooglePlaySubscription(
            token: identifiers.token(),
            sequence: accounts[account].begun,
            buyer: buyer(account, from: shop),
            items: items,
            order: identifiers.order(),
            accounts[account].tempo
        )
        if shop == .playStore {
            subscription.predecessor = predecessor(of: items, for: account)
        }
        accounts[account].begun += 1
        tokens[subscription.token] = .subscription(place)
        accounts[account].subscriptions.append(subscription)
        note(account)
        return place
    }

    /// Returns the newest expired purchase of one of the products.
    private func predecessor(
        of items: [GooglePlayItem],
        for account: Int
    ) -> GooglePlaySubscription.Predecessor? {
        let last = accounts[account].subscriptions.last { old in
            old.state == .expired && items.contains { old.has($0.plan.product) { _ in true } }
        }
        return last.map { .init(token: $0.token, buyer: $0.buyer) }
    }

    /// Completes the first payment of a purchase. Ends the purchase that it replaces, and carries
    /// the remaining value over to the new one.
    private mutating func complete(_ place: Place) -> [GooglePlayNotification] {
        let order = self[place].nextOrder()
        let old = self[place].linkedToken.flatMap { linkedPlace($0) }
        if let old, self[old].isAlive {
            for index in self[place].items.indices {
                carryOver(index, of: place, from: self[old].items, order)
            }
        }
        self[place].beginAll(at: now, order: order)
        book(order, of: place)
        return granted(place, instead: old)
    }

    private func linkedPlace(_ token: String) -> Place? {
        guard case .subscription(let place) = tokens[token] else { return nil }
        return place
    }

    /// Carries over the paid remainder of the same product in a cancelled purchase.
    private mutating func carryOver(
        _ index: Int,
        of place: Place,
        from items: [GooglePlayItem],
        _ order: String
    ) {
        let product = self[place].items[index].plan.product
        guard let old = items.first(where: { $0.isLive && $0.plan.product == product }) else {
            return
        }
        self[place].items[index].takeOver(
            old.kind,
            from: now,
            until: old.end,
            worth: old.credit(at: now),
            charged: 0,
            order: order
        )
    }

    /// Grants a purchase, and ends the one that it replaces.
    private mutating func granted(
        _ place: Place,
        instead old: Place?,
        _ kind: GooglePlaySubscription.Kind = .purchased
    ) -> [GooglePlayNotification] {
        self[place].grant(at: now)
        let notifications = notify([kind], of: place)
        guard let old, self[old].isAlive else { return notifications }
        return notifications + notify(self[old].replace(at: now), of: old)
    }
}

// MARK: - Replacing

extension GooglePlayMachine {
    mutating func replace(
        _ old: Place,
        _ product: String?,
        with choice: GooglePlayChoice,
        _ mode: GooglePlayAction.ReplacementMode
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let account = old.account
        guard let plan = app.plan(choice) else {
            throw refusal(.unknownProduct, account, choice.product)
        }
        let index = self[old].items.firstIndex {
            $0.isLive && (product == nil || $0.plan.product == product)
        }
        guard let index, self[old].items[index].phase == .running else {
            throw refusal(.notRunning, account, product)
        }
        let replaced = self[old].items[index]
        try check(plan, replacing: replaced, of: old, mode)
        var new = item(plan, for: account)
        new.replaced = .init(plan: replaced.plan, mode: mode.rawValue, at: now)
        var items = self[old].items.filter(\.isLive).map { $0.kept(at: now) }
        let position = items.firstIndex { $0.plan == replaced.plan } ?? 0
        if mode == .deferred {
            items[position].successor = plan
            items[position].replaced = nil
            items[position].renews = true
            new.phase = .following
            items.append(new)
        } else {
            items[position] = new
        }
        let place = begin(items, for: account)
        self[place].linkedToken = self[old].token
        if mode != .deferred { settle(position, of: place, replaced, mode) }
        return granted(place, instead: old)
    }

    private func check(
        _ plan: GooglePlayPlan,
        replacing old: GooglePlayItem,
        of place: Place,
        _ mode: GooglePlayAction.ReplacementMode
    ) throws(GooglePlayRefusal) {
        let account = place.account
        guard old.plan != plan else { throw refusal(.samePlan, account, plan.product) }
        let becomesPrepaid = plan.basePlan.kind == .prepaid
        let others = self[place].items.count { $0.isLive } - 1
        guard mode != .deferred || !(old.isPrepaid || becomesPrepaid),
            others == 0 || becomesPrepaid == old.isPrepaid
        else { throw refusal(.wrongKindOfPlan, account, plan.product) }
        try checkPayment(of: account, .prompt, plan.product)
    }

    /// Settles the unused part of the old plan's payment against the new plan's price.
    private mutating func settle(
        _ index: Int,
        of place: Place,
        _ old: GooglePlayItem,
        _ mode: GooglePlayAction.ReplacementMode
    ) {
        let order = self[place].nextOrder()
        let item = self[place].items[index]
        let length = item.tempo.period(item.plan.basePlan.period).end(of: 1, from: now) - now
        let price = item.price.milliunits
        let credit = old.credit(at: now)
        // The time that the credit pays at the new price; for a free trial, its own remainder.
        let time = credit == 0 || price == 0 ? old.end - now : share(of: length, credit, of: price)
        let (end, worth, charged): (Int64, Int64, Int64)
        switch mode {
        case .withTimeProration: (end, worth, charged) = (now + max(time, 60_000), credit, 0)
        case .chargeFullPrice:
            (end, worth, charged) = (now + length + time, credit + price, price)
        case .chargeProratedPrice:
            let rest = share(of: price, old.end - now, of: length)
            (end, worth, charged) = (old.end, max(credit, rest), max(0, rest - credit))
        case .withoutProration, .deferred: (end, worth, charged) = (old.end, credit, 0)
        }
        let isProrated = mode == .withTimeProration || mode == .chargeFullPrice
        self[place].items[index].takeOver(
            isProrated ? .proration(of: old.kind.original) : .base,
            from: now,
            until: end,
            worth: worth,
            charged: charged,
            order: order
        )
        book(order, of: place)
    }

    mutating func changeItems(
        _ old: Place,
        adding choices: [GooglePlayChoice],
        removing products: [String]
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let account = old.account
        guard self[old].state == .active else { throw refusal(.notRunning, account) }
        let added = choices.isEmpty ? [] : try plans(choices, for: account)
        var items = self[old].items.filter(\.isLive).map { $0.kept(at: now) }
        for plan in added {
            guard !self[old].has(plan.product, where: \.isLive) else {
                throw refusal(.samePlan, account, plan.product)
            }
            guard self[old].isPrepaid == (plan.basePlan.kind == .prepaid) else {
                throw refusal(.wrongKindOfPlan, account, plan.product)
            }
        }
        for product in products {
            guard let index = items.firstIndex(where: { $0.plan.product == product }) else {
                throw refusal(.notSubscribed, account, product)
            }
            items[index].isRemoved = true
        }
        guard items.contains(where: { !$0.isRemoved }) || !added.isEmpty else {
            throw refusal(.lastItem, account, products.first)
        }
        if !added.isEmpty { try checkPayment(of: account, .prompt, added.first?.product) }
        let place = begin(items + added.map { item($0, for: account) }, for: account)
        self[place].linkedToken = self[old].token
        if !added.isEmpty {
            let order = self[place].nextOrder()
            self[place].beginAll(at: now, order: order)
            book(order, of: place)
        }
        return granted(place, instead: old, .itemsChanged)
    }

    mutating func topUp(
        _ old: Place,
        _ product: String?
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let account = old.account
        guard self[old].isPrepaid, let item = self[old].items.first(where: \.isLive) else {
            throw refusal(.wrongKindOfPlan, account, product)
        }
        try checkPayment(of: account, .prompt, product)
        let place = begin([self.item(item.plan, for: account)], for: account)
        self[place].linkedToken = self[old].token
        let order = self[place].nextOrder()
        let period = item.tempo.period(item.plan.basePlan.period)
        let price = self[place].items[0].price.milliunits
        self[place].items[0].takeOver(
            .base,
            from: now,
            until: period.end(of: 1, from: item.end),
            worth: price + item.credit(at: now),
            charged: price,
            order: order
        )
        book(order, of: place)
        return granted(place, instead: old)
    }
}

// MARK: - Buying one-time products

extension GooglePlayMachine {
    mutating func buy(
        _ account: Int,
        _ id: String,
        _ quantity: Int64,
        _ payment: GooglePlayAction.Payment
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        guard let product = app.product(id), quantity > 0 else {
            throw refusal(.unknownProduct, account, id)
        }
        guard !accounts[account].purchases.contains(where: { $0.isHeld && $0.product.id == id })
        else { throw refusal(.alreadyOwned, account, id) }
        guard quantity == 1 || product.isConsumable else { throw refusal(.tooMany, account, id) }
        try checkPayment(of: account, payment, id)
        let place = Place(account: account, index: accounts[account].purchases.count)
        let purchase = GooglePlayPurchase(
            product,
            token: identifiers.token(),
            sequence: accounts[account].begun,
            quantity: quantity,
            buyer: buyer(account),
            accounts[account].tempo,
            at: now
        )
        accounts[account].begun += 1
        tokens[purchase.token] = .purchase(place)
        accounts[account].purchases.append(purchase)
        note(account)
        return payment == .prompt ? completePurchase(place) : []
    }

    private mutating func completePurchase(_ place: Place) -> [GooglePlayNotification] {
        let order = identifiers.order()
        self[purchase: place].complete(at: now, order: order)
        let purchase = self[purchase: place]
        let price = purchase.product.price.price(in: purchase.buyer.region)
        let line = GooglePlayOrder.Line(
            product: purchase.product.id,
            listing: price,
            paid: price.milliunits * purchase.quantity,
            quantity: purchase.quantity
        )
        orders[order] = GooglePlayOrder(
            id: order,
            token: purchase.token,
            type: .oneTime,
            at: now,
            region: purchase.buyer.region,
            lines: [line]
        )
        return tell(.purchased, of: place)
    }

    private func tell(
        _ type: GooglePlayEvent.OneTimeType,
        of place: Place
    ) -> [GooglePlayNotification] {
        let purchase = self[purchase: place]
        let event = GooglePlayEvent.oneTimeProduct(
            type,
            token: purchase.token,
            product: purchase.product.id
        )
        return [notification(event, place.account)]
    }

    /// Returns a customer's newest purchase with a pending payment.
    private func awaited(
        _ account: Int,
        _ product: String?
    ) throws(GooglePlayRefusal) -> Holding {
        let holder = accounts[account]
        let subscription = holder.subscriptions.lastIndex {
            $0.signup == .awaited && $0.has(product) { _ in true }
        }
        let purchase = holder.purchases.lastIndex {
            $0.state == .pending && (product == nil || $0.product.id == product)
        }
        switch (subscription, purchase) {
        case (nil, nil): throw refusal(.notPending, account, product)
        case (let index?, nil): return .subscription(Place(account: account, index: index))
        case (nil, let index?): return .purchase(Place(account: account, index: index))
        case (let first?, let second?):
            let isNewer = holder.subscriptions[first].sequence > holder.purchases[second].sequence
            return isNewer
                ? .subscription(Place(account: account, index: first))
                : .purchase(Place(account: account, index: second))
        }
    }

    mutating func completePayment(
        _ account: Int,
        _ product: String?
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        switch try awaited(account, product) {
        case .subscription(let place): complete(place)
        case .purchase(let place): completePurchase(place)
        }
    }

    mutating func dropPayment(
        _ account: Int,
        _ product: String?
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        switch try awaited(account, product) {
        case .subscription(let place):
            self[place].signup = .dropped
            return notify([.pendingPurchaseCancelled], of: place)
        case .purchase(let place):
            self[purchase: place].drop(at: now)
            return tell(.cancelled, of: place)
        }
    }
}
