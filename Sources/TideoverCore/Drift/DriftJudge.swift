/// Compares what a device concluded with what we answer, and names the cause of each difference. It is
/// pure and total: whatever a device says, it gets a judgement, and no answer depends on it.
public struct DriftJudge: Sendable {
    public let customer: CustomerID
    public let environment: Environment
    public let now: Instant
    /// Nil where no device spoke and only what is open is looked at again.
    public let report: DeviceReport?
    /// Before what was learned at `now`, by entitlement.
    public let before: [String: ServerWord]
    /// As of `now`, by entitlement.
    public let after: [String: ServerWord]
    /// The same for the instant that the device's clock shows; empty where it did not say.
    public let byDeviceClock: [String: ServerWord]
    /// What was learned at `now`.
    public let news: [News]
    /// When the store last answered a question of ours about a lineage.
    public let asked: [Lineage: Instant]

    public init(
        customer: CustomerID,
        environment: Environment,
        now: Instant,
        report: DeviceReport?,
        before: [String: ServerWord],
        after: [String: ServerWord],
        byDeviceClock: [String: ServerWord] = [:],
        news: [News] = [],
        asked: [Lineage: Instant] = [:]
    ) {
        self.customer = customer
        self.environment = environment
        self.now = now
        self.report = report
        self.before = before
        self.after = after
        self.byDeviceClock = byDeviceClock
        self.news = news
        self.asked = asked
    }

    /// What was learned of one lineage at `now`.
    public struct News: Hashable, Sendable {
        public var lineage: Lineage
        /// Whence, if facts were.
        public var source: Source?
        /// Since when what they say has been so.
        public var since: Instant
        /// Whether anything was known of it before.
        public var wasKnown: Bool
        /// How it came to the customer, if it did.
        public var ownership: OwnershipEntry.Why?

        public init(
            lineage: Lineage,
            source: Source?,
            since: Instant,
            wasKnown: Bool,
            ownership: OwnershipEntry.Why? = nil
        ) {
            self.lineage = lineage
            self.source = source
            self.since = since
            self.wasKnown = wasKnown
            self.ownership = ownership
        }
    }

    /// Ends that differ by no more are the same; dates pass through clocks and roundings.
    public static let tolerance = Milliseconds.minutes(1)
    /// A clock that differs by no more is right.
    public static let clockTolerance = Milliseconds.minutes(5)
    /// What has been so for no longer could not have reached us yet: it is no drift.
    public static let arrivalTime = Milliseconds.minutes(5)

    /// What to store: differences that ended first, then those that begin, or began and ended at once.
    /// Of what is open and goes on nothing, unless its cause is known better now.
    public func drifts(open: [Drift]) -> [Drift] {
        let changed = open.compactMap(settled)
        let going = open.filter { drift in
            !changed.contains { $0.id == drift.id && !$0.isOpen }
        }
        let reported = (report?.conclusion.words ?? [:]).sorted { $0.key < $1.key }
        return changed
            + reported.compactMap { name, word in
                going.contains { $0.entitlement == name } ? nil : begun(name, word)
            }
    }
}

/// What a device reports, with what we know of the purchases it names.
public struct DeviceReport: Hashable, Sendable {
    public var conclusion: DeviceConclusion
    /// The purchases it names, by the store's id; without those that we do not know.
    public var purchases: [String: Purchase]
    /// What it presented and could not have: what a word is taken for that names no purchase.
    public var refused: Lineage?
    /// Entitlements of which drift has just ended by what it presented: the same is not found again.
    public var mended: Set<String>

    public init(
        _ conclusion: DeviceConclusion,
        purchases: [String: Purchase] = [:],
        refused: Lineage? = nil,
        mended: Set<String> = []
    ) {
        self.conclusion = conclusion
        self.purchases = purchases
        self.refused = refused
        self.mended = mended
    }

    public struct Purchase: Hashable, Sendable {
        public var lineage: Lineage
        public var holder: Holder

        public init(lineage: Lineage, holder: Holder) {
            self.lineage = lineage
            self.holder = holder
        }
    }

    /// Whose a purchase is that we know.
    public enum Holder: Hashable, Sendable {
        case nobody, customer, another
    }
}

// MARK: - What is open

extension DriftJudge {
    /// What has become of an open difference; nil if nothing has.
    private func settled(_ drift: Drift) -> Drift? {
        guard let server = after[drift.entitlement] else {
            return ended(drift, by: .time, access: false)
        }
        if let word = report?.conclusion.words[drift.entitlement] {
            guard direction(word, server) != drift.direction else { return refined(drift, server) }
            return ended(drift, by: .device, access: word.access && server.access)
        }
        let goesOn =
            direction(
                drift.device,
                server,
                deviceAllows: drift.device.allows(at: now, saidAt: drift.openedAt)
            ) == drift.direction
        return goesOn
            ? refined(drift, server)
            : ended(drift, by: healer(of: drift), access: server.access)
    }

    private func ended(_ drift: Drift, by healer: Drift.Healer, access: Bool) -> Drift {
        var drift = drift
        drift.healing = Drift.Healing(
            at: max(now, drift.openedAt),
            by: healer,
            access: access
        )
        return drift
    }

    /// The store was asked, and said what we had said: then it is the device that has to hear of it.
    private func refined(_ drift: Drift, _ server: ServerWord) -> Drift? {
        guard drift.cause == .missedNotification, server.confidence == .confirmed,
            let askedAt = drift.lineage.flatMap({ asked[$0] }), askedAt >= drift.openedAt
        else { return nil }
        var drift = drift
        drift.cause = .staleDeviceCache
        return drift
    }

    private func healer(of drift: Drift) -> Drift.Healer {
        let own = news.filter { drift.lineage == nil || $0.lineage == drift.lineage }
        guard let newest = own.first ?? news.first else { return .time }
        if newest.ownership != nil, newest.source == nil || newest.wasKnown { return .ownership }
        return newest.source.map(Drift.Healer.init) ?? .time
    }
}

// MARK: - What a device reports

extension DriftJudge {
    /// The difference that a report shows; nil if there is none, or we could not have known better.
    private func begun(_ name: String, _ word: DeviceWord) -> Drift? {
        guard let server = after[name] else { return nil }
        if let direction = direction(word, server) {
            return drift(name, word, server, direction, cause(of: direction, name, word, server))
        }
        guard report?.mended.contains(name) != true, let former = before[name],
            let direction = direction(word, former)
        else { return nil }
        guard let news = mending(name, server), news.since + Self.arrivalTime < now else {
            return nil
        }
        var drift = drift(name, word, former, direction, cause(mendedBy: news, word))
        drift.lineage = news.lineage
        let isClaim = news.ownership != nil && news.wasKnown
        drift.healing = Drift.Healing(
            at: now,
            by: isClaim ? .ownership : .device,
            access: server.access
        )
        return drift
    }

    /// What a device presented that made us agree with it.
    private func mending(_ name: String, _ server: ServerWord) -> News? {
        news.first { $0.lineage == server.lineage }
    }

    private func drift(
        _ name: String,
        _ word: DeviceWord,
        _ server: ServerWord,
        _ direction: Drift.Direction,
        _ cause: Drift.Cause
    ) -> Drift {
        Drift(
            customer: customer,
            environment: environment,
            entitlement: name,
            lineage: purchase(of: word)?.lineage ?? server.lineage,
            direction: direction,
            cause: cause,
            openedAt: now,
            device: word,
            server: server
        )
    }

    private func purchase(of word: DeviceWord) -> DeviceReport.Purchase? {
        if let id = word.originalTransactionId { return report?.purchases[id] }
        guard word.access, let refused = report?.refused else { return nil }
        return DeviceReport.Purchase(lineage: refused, holder: .another)
    }

    // MARK: Which way

    private func direction(_ word: DeviceWord, _ server: ServerWord) -> Drift.Direction? {
        direction(word, server, deviceAllows: word.access)
    }

    private func direction(
        _ word: DeviceWord,
        _ server: ServerWord,
        deviceAllows: Bool
    ) -> Drift.Direction? {
        switch (deviceAllows, server.access) {
        case (false, true): return .deviceDeniesServerAllows
        case (true, false): return .deviceAllowsServerDenies
        case (false, false): return nil
        case (true, true):
            guard let one = word.end.instant, let other = server.end,
                !one.isWithin(Self.tolerance, of: other)
            else { return nil }
            return .untilDiffers
        }
    }

    // MARK: Why

    /// Of a difference that we agree about by now.
    private func cause(mendedBy news: News, _ word: DeviceWord) -> Drift.Cause {
        switch news.ownership {
        case .claimed where news.wasKnown: .unclaimedPurchase
        case .transferred: .otherCustomer
        default: word.unfinished.isEmpty ? .missedNotification : .unfinishedTransaction
        }
    }

    /// Of a difference that goes on. The first that fits: what makes the two incomparable, then whose
    /// the purchase is, then who has the newer word.
    private func cause(
        of direction: Drift.Direction,
        _ name: String,
        _ word: DeviceWord,
        _ server: ServerWord
    ) -> Drift.Cause {
        if isElsewhere { return .environment }
        if !word.isVerified { return .unverifiedOnDevice }
        if isMisled(by: direction, name, word, server) { return .clock }
        switch purchase(of: word)?.holder {
        case .another: return .otherCustomer
        case .nobody: return .unclaimedPurchase
        case .customer, nil: break
        }
        if !word.unfinished.isEmpty { return .unfinishedTransaction }
        return deviceKnowsMore(word, server) ? .missedNotification : .staleDeviceCache
    }

    private var isElsewhere: Bool {
        guard let named = report?.conclusion.environment else { return false }
        return named.lowercased() != environment.rawValue
    }

    /// Whether the device's clock alone makes the difference: by it we would say the same, or both know
    /// the same end and see it on different sides of now.
    private func isMisled(
        by direction: Drift.Direction,
        _ name: String,
        _ word: DeviceWord,
        _ server: ServerWord
    ) -> Bool {
        guard let clock = report?.conclusion.at,
            !clock.isWithin(Self.clockTolerance, of: now), direction != .untilDiffers
        else { return false }
        if let then = byDeviceClock[name], self.direction(word, then) == nil { return true }
        guard let one = word.end.instant, let other = server.end else { return false }
        return one.isWithin(Self.tolerance, of: other)
    }

    /// By when the device last looked, if it says so; else by how sure we are; else by who knows of the
    /// later end.
    private func deviceKnowsMore(_ word: DeviceWord, _ server: ServerWord) -> Bool {
        guard let saidAt = server.saidAt else { return true }
        if let askedAt = report?.conclusion.askedAt { return askedAt > saidAt }
        guard server.confidence == .confirmed else { return true }
        guard word.access, let end = word.end.instant else { return false }
        return end > (server.end ?? .distantPast) + Self.tolerance
    }
}
