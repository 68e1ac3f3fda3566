import TideoverJSON

extension Scenario {
    /// A story that follows from a number alone: a customer of the App Store acts at random, notifications and
    /// answers go wrong at random, and every few weeks it is quiet. Nothing goes wrong then, the system under test
    /// has caught up, and its answer must be the store's own truth.
    ///
    /// - Parameters:
    ///   - seed: What the whole story follows from.
    ///   - planting: Whether to plant a fault that must be found: at one quiet point nobody catches up, after
    ///     everything was lost.
    /// - Returns: the same story for the same seed.
    public static func generated(seed: UInt64, planting: Bool = false) -> Scenario {
        var storyteller = Storyteller(seed: seed)
        return storyteller.story(planting: planting)
    }
}

/// Tells a story by a seed.
private struct Storyteller {
    private static let start: Int64 = 1_777_629_600_000
    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour

    private let seed: UInt64
    private var random: SeededRandom
    private var steps: [ScenarioStep] = []
    private var now = Storyteller.start
    private let monthly: AppStoreProduct
    private let yearly: AppStoreProduct

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed ^ 0x7374_6F72_79)
        let graces = BillingGrace.allCases
        let grace = graces[Int(random.number(in: 0...Int64(graces.count - 1)))]
        let trial = random.number(in: 0...1) == 0 ? "P1W" : nil
        monthly = Self.product("cards.monthly", "P1M", level: 2, 9_990, grace, trial)
        yearly = Self.product("cards.yearly", "P1Y", level: 1, 99_990, grace, nil)
    }

    private static func product(
        _ id: String,
        _ period: String,
        level: Int,
        _ milliunits: Int64,
        _ grace: BillingGrace,
        _ trial: String?
    ) -> AppStoreProduct {
        guard let period = StorePeriod(iso: period) else {
            preconditionFailure("periods of the story are written so")
        }
        let price = StorePrice(milliunits: milliunits, currency: "USD")
        let half = StorePrice(milliunits: milliunits / 2, currency: "USD")
        func offer(
            _ kind: AppStoreOffer.Kind,
            _ mode: AppStoreOffer.Mode,
            _ name: String
        ) -> AppStoreOffer {
            AppStoreOffer(kind, mode, identifier: name, period: period, price: half)
        }
        return AppStoreProduct(
            id: id,
            group: "pro",
            level: level,
            period: period,
            trial: trial.flatMap { StorePeriod(iso: $0) },
            offers: [
                offer(.promotional, .payAsYouGo, "stay"), offer(.winBack, .payUpFront, "return"),
            ],
            price: price,
            grace: grace
        )
    }

    mutating func story(planting: Bool) -> Scenario {
        act(.subscribe(product: monthly.id, trial: .ifEligible))
        if planting {
            plant()
        } else {
            for _ in 1...4 {
                disturb()
                for _ in 1...random.number(in: 2...5) {
                    now += random.number(in: Self.hour...25 * Self.day)
                    act(action())
                }
                settle()
            }
        }
        let entitlements = [monthly.id: ["premium"], yearly.id: ["premium"]]
        let store = AppStoreApp(bundleId: "com.example.cards", products: [monthly, yearly])
        let token = SeededRandom.token(of: seed)
        return Scenario(
            name: "Generated from \(seed)",
            source: "Tideover, a story by a seed",
            app: ScenarioApp(id: "cards", store: store, entitlements: entitlements),
            googlePlay: nil,
            start: Self.start,
            seed: seed,
            lag: 1000,
            customers: [StoreCustomer(name: "anna", appAccountToken: token)],
            steps: steps
        )
    }

    /// Everything is lost, the refund too, and it is called quiet without anybody having asked.
    private mutating func plant() {
        now += Self.day
        add(.disturbNotifications(AppStoreWireFaultRule(.lose, times: nil)))
        now += Self.day
        act(.refund(product: nil, reason: .other))
        now += Self.hour
        add(.endDisturbances)
        quiet()
    }

    private mutating func disturb() {
        let faults: [AppStoreWireFault] = [
            .lose, .noAnswer, .duplicate, .delay(6 * Self.hour), .reorder, .truncate, .corrupt,
            .wrongEnvironment, .rotateKey, .expiredCertificate,
        ]
        for fault in faults where random.number(in: 0...2) > 0 {
            let percent = Int(random.number(in: 5...30))
            add(.disturbNotifications(AppStoreWireFaultRule(fault, times: nil, percent: percent)))
        }
        let troubles: [AppStoreFault] = [
            .rateLimited(for: 0), .unavailable(status: 503), .noAnswer(after: 1000),
            .truncated,
        ]
        for fault in troubles where random.number(in: 0...2) > 0 {
            add(.disturbServerAPI(AppStoreFaultRule(fault, times: nil, percent: 20)))
        }
    }

    /// Two days without trouble: what was to be sent again has been, and what was lost is asked for.
    private mutating func settle() {
        add(.endDisturbances)
        now += 2 * Self.day
        add(.catchUp)
        now += Self.hour
        quiet()
    }

    private mutating func action() -> AppStoreAction {
        let actions: [AppStoreAction] = [
            .failPayments, .failPayments, .fixPayments, .fixPayments, .fixPayments,
            .cancel(product: nil), .reenable(product: nil), .reenable(product: nil),
            .subscribe(product: monthly.id, trial: .ifEligible),
            .subscribe(product: monthly.id, trial: .ifEligible),
            .changePlan(to: yearly.id), .changePlan(to: monthly.id),
            .redeem(product: monthly.id, offer: "stay"),
            .redeem(product: monthly.id, offer: "return"),
            .refund(product: nil, reason: .other), .reverseRefund(product: nil),
            .requestRefund(product: nil, reason: .unsatisfied), .declineRefund(product: nil),
            .extendRenewal(product: nil, days: 7),
        ]
        return actions[Int(random.number(in: 0...Int64(actions.count - 1)))]
    }

    private mutating func act(_ action: AppStoreAction) { add(.store(action)) }

    private mutating func quiet() {
        let place = ["entitlements", "premium", "access"]
        add(
            nil,
            [ScenarioExpectation(label: "premium.access", path: place, requirement: .present(true))]
        )
    }

    private mutating func add(
        _ action: ScenarioAction?,
        _ expectations: [ScenarioExpectation] = []
    ) {
        steps.append(
            ScenarioStep(
                line: steps.count + 1,
                at: now,
                customer: "anna",
                action: action,
                refusal: nil,
                expectations: expectations,
                events: nil,
                note: nil
            )
        )
    }
}

extension SeededRandom {
    fileprivate static func token(of seed: UInt64) -> String {
        var random = SeededRandom(seed: seed ^ 0x746F_6B65_6E)
        return random.uuid()
    }
}

// MARK: - Judging

/// A moment of a generated story at which the system under test was wrong.
public struct StoryFault: Hashable, Sendable, CustomStringConvertible {
    /// When, in milliseconds since 1970.
    public let at: Int64
    /// What was wrong, in one sentence.
    public let description: String
}

extension ScenarioReport {
    /// Where a generated story came out wrong: at quiet points the answer must be the store's truth, outside of
    /// the faults' windows nobody may be locked out, and of what arrives only what is right may be believed.
    public var storyFaults: [StoryFault] {
        var faults: [StoryFault] = []
        var isDisturbed = false
        for (index, moment) in moments.enumerated() {
            switch moment.happening {
            case .action(let deed):
                let action = scenario.steps.first { $0.line == deed.line }?.action
                if case .disturbNotifications = action { isDisturbed = true }
                if case .disturbServerAPI = action { isDisturbed = true }
            case .notification(let delivery):
                if !delivery.isTakenRightly {
                    faults.append(fault(moment, "taken wrongly: \(delivery.outcome)"))
                }
                guard !isDisturbed, !isFollowed(index) else { continue }
                if delivery.reading?.mistake(about: "premium") == .lockedOut {
                    faults.append(fault(moment, "locked out though nothing went wrong"))
                }
            case .push(let push):
                if !push.isTakenRightly { faults.append(fault(moment, "a push taken wrongly")) }
            case .webhook: continue
            case .readBack(let readBack):
                isDisturbed = false
                if let difference = readBack.reading.difference {
                    faults.append(fault(moment, difference))
                }
            }
        }
        return faults
    }

    /// Whether another message that the store sent at once is still to arrive.
    private func isFollowed(_ index: Int) -> Bool {
        moments.dropFirst(index + 1).first.map {
            guard case .notification = $0.happening else { return false }
            return $0.at - moments[index].at < 2_000
        } ?? false
    }

    private func fault(_ moment: Moment, _ words: String) -> StoryFault {
        StoryFault(at: moment.at, description: "\(InstantText.write(moment.at)): \(words)")
    }
}

extension Reading {
    /// How the answer differs from the store's truth, in words; nil if it does not.
    fileprivate var difference: String? {
        let answer = entitlement("premium")
        let state = answer?["state"]?.string ?? "nothing"
        let until = answer?["accessUntil"]?.string.flatMap(InstantText.read)
        guard state == truth.answeredState else { return "\(state), but the store says \(truth)" }
        guard truth.isEntitled, until != truth.until else { return nil }
        return "until \(until.map(InstantText.write) ?? "for ever"), but the store says \(truth)"
    }
}

extension AppStoreTruth {
    /// The word that an answer has for it.
    fileprivate var answeredState: String {
        switch self {
        case .never: "never"
        case .active, .owned: "active"
        case .grace: "grace"
        case .retry: "hold"
        case .expired, .revoked: "expired"
        }
    }
}
