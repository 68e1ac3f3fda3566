package import TideoverCore

/// The intervals in which RevenueCat's responses deny access that the store confirms, as known now.
package struct ShadowLockout: Hashable, Sendable {
    /// The intervals, oldest first, without adjacent ones.
    package let stretches: [Stretch]
    /// The time in which the store confirms access and a RevenueCat response exists: the
    /// denominator.
    package let entitled: Milliseconds

    package struct Stretch: Hashable, Sendable {
        package var from: Instant
        /// The first instant after the interval.
        package var until: Instant

        package init(from: Instant, until: Instant) {
            self.from = from
            self.until = until
        }
    }

    /// The total time of denied access.
    package var total: Milliseconds {
        stretches.reduce(.zero) { $0 + ($1.until - $1.from) }
    }

    /// Measures a span of time. A response of RevenueCat applies from its date until the next one;
    /// before the first, nothing counts.
    ///
    /// - Parameters:
    ///   - entitlement: its name, the same in both systems.
    ///   - answers: RevenueCat's responses about the customer, in any order.
    ///   - ours: the full history of the same customer.
    ///   - start: the first instant of the span.
    ///   - end: the first instant after it.
    package init(
        of entitlement: String,
        answers: [RevenueCatSubscriber],
        ours: CustomerHistory,
        from start: Instant,
        until end: Instant
    ) {
        let answers = answers.sorted { $0.requestDate < $1.requestDate }
        let ends = answers.compactMap { $0.conclusion(on: entitlement, at: start)?.accessUntil }
        let theirChanges = Set(answers.map(\.requestDate) + ends).sorted()
        var stretches: [Stretch] = []
        var entitled = Milliseconds.zero
        var instant = start
        while instant < end {
            let current = ours.snapshot(at: instant)[entitlement]
            let next =
                [
                    current?.nextChange, theirChanges.first { $0 > instant }, end,
                ].compactMap(\.self).filter { $0 > instant }.min() ?? end
            if let standing = current?.standing, standing.isVouchedFor,
                let answer = answers.last(where: { $0.requestDate <= instant })
            {
                entitled = entitled + (min(next, end) - instant)
                if !answer.grants(entitlement, in: ours.environment, at: instant) {
                    Self.add(Stretch(from: instant, until: min(next, end)), to: &stretches)
                }
            }
            instant = next
        }
        self.stretches = stretches
        self.entitled = entitled
    }

    private static func add(_ stretch: Stretch, to stretches: inout [Stretch]) {
        if let last = stretches.last, last.until == stretch.from {
            stretches[stretches.count - 1].until = stretch.until
        } else {
            stretches.append(stretch)
        }
    }
}

extension Standing {
    /// Whether the store itself confirms access.
    fileprivate var isVouchedFor: Bool {
        access && confidence == .confirmed && reason != .keptByPolicy
    }
}

extension RevenueCatSubscriber {
    fileprivate func grants(
        _ entitlement: String,
        in environment: Environment,
        at instant: Instant
    ) -> Bool {
        guard let conclusion = conclusion(on: entitlement, at: instant) else { return false }
        return conclusion.isActive && (conclusion.environment ?? environment) == environment
    }
}
