/// Compares a device's report with the server's answers, and finds the cause of each difference.
///
/// It is pure and total. Every report gets a result, and no answer depends on it.
public struct DriftJudge: Sendable {
    public let customer: CustomerID
    public let environment: Environment
    public let now: Instant
    /// Nil if no device sent a report and only open drifts are checked.
    public let report: DeviceReport?
    /// The server's states before the facts learned at `now`, by entitlement.
    public let before: [String: ServerWord]
    /// The server's states as of `now`, by entitlement.
    public let after: [String: ServerWord]
    /// The server's states at the time on the device's clock; empty if the device did not report
    /// it.
    public let byDeviceClock: [String: ServerWord]
    /// The facts learned at `now`.
    public let news: [News]
    /// When the store last answered a query about each lineage.
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

    /// The facts learned about one lineage at `now`.
    public struct News: Hashable, Sendable {
        public var lineage: Lineage
        /// The source of the facts, if there are any.
        public var source: Source?
        /// When the reported state began.
        public var since: Instant
        /// Whether the lineage was known before.
        public var wasKnown: Bool
        /// How the customer became the owner, if that happened at `now`.
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

    /// The largest difference between two equal ends. Dates differ by clocks and rounding.
    public static let tolerance = Milliseconds.minutes(1)
    /// The largest error of a correct clock.
    public static let clockTolerance = Milliseconds.minutes(5)
    /// How long a change may take to arrive. A younger change is not drift.
    public static let arrivalTime = Milliseconds.minutes(5)

    /// Returns the drifts to store: resolved ones first, then new ones, including those resolved at
    /// once. Open drifts that continue are returned only if their cause changed.
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

/// A device's report, with the known purchases that it names.
public struct DeviceReport: Hashable, Sendable {
    public var conclusion: DeviceConclusion
    /// The named purchases by the store's ID, without unknown ones.
    public var purchases: [String: Purchase]
    /// The purchase that the device presented and was refused. It applies to a state that names no
    /// purchase.
    public var refused: Lineage?
    /// Entitlements with a drift that was just resolved by the presented purchases. The same drift
    /// is not detected again.
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

    /// The owner of a known purchase.
    public enum Holder: Hashable, Sendable {
        case nobody, customer, another
    }
}

// MARK: - Open drifts

extension DriftJudge {
    /// Returns the update of an open drift; nil if nothing changed.
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

    /// Returns the drift with cause `staleDeviceCache` once the store confirmed the server's state.
    /// The device must then refresh. Nil if the cause is unchanged.
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

// MARK: - New drifts

extension DriftJudge {
    /// Returns the difference that a report shows. Nil if both agree, or if the server could not
    /// have had the data yet.
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

    /// Returns the presented purchase that made the server agree with the device.
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

    // MARK: Direction

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

    // MARK: Cause

    /// Returns the cause of a difference that is already resolved.
    private func cause(mendedBy news: News, _ word: DeviceWord) -> Drift.Cause {
        switch news.ownership {
        case .claimed where news.wasKnown: .unclaimedPurchase
        case .transferred, .moved: .otherCustomer
        default: word.unfinished.isEmpty ? .missedNotification : .unfinishedTransaction
        }
    }

    /// Returns the cause of an open difference; the first match wins. The order is: reasons that
    /// the two states are not comparable, then ownership, then which side has newer data.
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

    /// Whether the device's clock alone causes the difference. By its clock the server gives the
    /// same answer, or both know the same end on different sides of now.
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

    /// Whether the device has newer data. Decided by when the device last read its store, if
    /// reported; otherwise by the server's confidence; otherwise by the later end.
    private func deviceKnowsMore(_ word: DeviceWord, _ server: ServerWord) -> Bool {
        guard let saidAt = server.saidAt else { return true }
        if let askedAt = report?.conclusion.askedAt { return askedAt > saidAt }
        guard server.confidence == .confirmed else { return true }
        guard word.access, let end = word.end.instant else { return false }
        return end > (server.end ?? .distantPast) + Self.tolerance
    }
}
