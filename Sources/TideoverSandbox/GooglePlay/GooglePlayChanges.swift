/// Changes of a running subscription by the customer, the store or the developer.
extension GooglePlayMachine {
    mutating func change(
        _ action: GooglePlayAction,
        _ account: Int
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        switch action {
        case .cancel(let product, let survey):
            let place = try running(account, product)
            return try cancel(place, .user(at: now, survey), waits: true)
        case .cancelBySystem(let product):
            return try cancel(running(account, product), .system, waits: false)
        case .restart(let product): return try restart(running(account, product))
        case .pause(let product, let length): return try pause(running(account, product), length)
        case .resume(let product): return try resume(running(account, product))
        case .changePrice(let product, let price, let mode):
            return try changePrice(running(account, product), product, to: price, mode)
        case .acceptPrice(let product): return try acceptPrice(running(account, product))
        case .askStepUpConsent(let product, let deadline):
            return try askStepUpConsent(running(account, product), product, by: deadline)
        case .acceptStepUp(let product): return try acceptStepUp(running(account, product))
        case .subscribe, .replace, .changeItems, .topUp, .buy, .completePayment, .dropPayment,
            .failPayments, .fixPayments, .requestRefund, .refund:
            preconditionFailure("these are carried out elsewhere")
        }
    }

    /// Turns renewal off. Some cancellations of an instalment plan wait for its last payment.
    mutating func cancel(
        _ place: Place,
        _ cancellation: GooglePlaySubscription.Cancellation,
        waits: Bool
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        guard !self[place].isPrepaid else { throw refusal(.wrongKindOfPlan, place.account) }
        guard self[place].cancellation == nil, self[place].pendingCancellation == nil else {
            throw refusal(.renewalAlreadyOff, place.account)
        }
        let isCommitted = self[place].items.contains { $0.isLive && $0.paymentsLeft > 0 }
        guard waits, isCommitted else { return notify(self[place].cancel(cancellation), of: place) }
        self[place].pendingCancellation = cancellation
        return notify([.cancellationScheduled], of: place)
    }

    private mutating func restart(
        _ place: Place
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        switch self[place].cancellation ?? self[place].pendingCancellation {
        case nil: throw refusal(.renewalAlreadyOn, place.account)
        case .user:
            let restarted = self[place].restart()
            guard !accounts[place.account].paymentsFail else { return notify(restarted, of: place) }
            return notify(restarted + charge(self[place].outstanding, of: place), of: place)
        case .system, .developer, .replacement: throw refusal(.notRestorable, place.account)
        }
    }

    private mutating func pause(
        _ place: Place,
        _ length: StorePeriod
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let hasAddOns = self[place].items.count(where: \.isLive) > 1
        guard !self[place].isPrepaid, !self[place].isInstalment, !hasAddOns else {
            throw refusal(.wrongKindOfPlan, place.account)
        }
        try checkRenewing(place)
        self[place].pauseLength = length
        return notify([.pauseScheduleChanged], of: place)
    }

    private mutating func resume(
        _ place: Place
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        if self[place].pauseLength != nil {
            self[place].pauseLength = nil
            return notify([.pauseScheduleChanged], of: place)
        }
        let paused = self[place].items.indices.filter { index in
            if case .paused = self[place].items[index].phase { true } else { false }
        }
        guard !paused.isEmpty else { throw refusal(.notPaused, place.account) }
        return notify(charge(paused, of: place), of: place)
    }

    private func checkRenewing(_ place: Place) throws(GooglePlayRefusal) {
        guard self[place].cancellation == nil else {
            throw refusal(.renewalAlreadyOff, place.account)
        }
        guard self[place].items.allSatisfy({ !$0.isLive || $0.phase == .running }) else {
            throw refusal(.notRunning, place.account)
        }
    }
}

// MARK: - Prices

extension GooglePlayMachine {
    private mutating func changePrice(
        _ place: Place,
        _ product: String?,
        to price: StorePrice,
        _ mode: GooglePlayAction.PriceChangeMode
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        try checkRenewing(place)
        guard !self[place].isPrepaid else {
            throw refusal(.wrongKindOfPlan, place.account, product)
        }
        let index = try item(product, of: place)
        self[place].items[index].priceChange = GooglePlayItem.PriceChange(
            price: price,
            mode: mode,
            state: mode == .decrease ? .confirmed : .outstanding
        )
        return notify([.priceChangeUpdated], of: place)
    }

    private mutating func acceptPrice(
        _ place: Place
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let index = self[place].items.firstIndex {
            $0.isLive && $0.priceChange?.state == .outstanding
        }
        guard let index else { throw refusal(.noPriceToAccept, place.account) }
        self[place].items[index].priceChange?.state = .confirmed
        return notify([.priceChangeUpdated], of: place)
    }

    private mutating func askStepUpConsent(
        _ place: Place,
        _ product: String?,
        by deadline: Int64
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        try checkRenewing(place)
        let index = try item(product, of: place)
        guard deadline > now, deadline <= self[place].items[index].end else {
            throw refusal(.badDuration, place.account, product)
        }
        self[place].items[index].stepUp = .init(deadline: deadline, state: .pending)
        return notify([.priceStepUpConsentUpdated], of: place)
    }

    private mutating func acceptStepUp(
        _ place: Place
    ) throws(GooglePlayRefusal) -> [GooglePlayNotification] {
        let index = self[place].items.firstIndex { $0.isLive && $0.stepUp?.state == .pending }
        guard let index else { throw refusal(.noPriceToAccept, place.account) }
        self[place].items[index].stepUp?.state = .confirmed
        return notify([.priceStepUpConsentUpdated], of: place)
    }

    private func item(_ product: String?, of place: Place) throws(GooglePlayRefusal) -> Int {
        let index = self[place].items.firstIndex {
            $0.isLive && (product == nil || $0.plan.product == product)
        }
        guard let index else { throw refusal(.notSubscribed, place.account, product) }
        return index
    }
}
