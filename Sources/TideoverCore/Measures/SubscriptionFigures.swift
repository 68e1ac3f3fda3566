/// What a portfolio report needs of one subscription: its states over all time, with their prices.
package struct SubscriptionFigures: Hashable, Sendable {
    /// In order; each lasts until the next one begins. Neighbours differ.
    var spans: [Span] = []

    struct Span: Hashable, Sendable {
        var from: Instant
        var content: Content
    }

    struct Content: Hashable, Sendable {
        /// Nil while it is no subscription.
        var state: SubscriptionState?
        var price: Price
    }

    enum Price: Hashable, Sendable {
        /// The state has none.
        case none
        /// The store and the catalogue state none.
        case unknown
        case known(MonthlyPrice)
    }

    package init() {}

    /// Returns the figures of a timeline, which do not depend on the instant it extends to. A
    /// family member's purchase has none.
    package init(_ timeline: LineageTimeline) {
        guard timeline.lineage.ownership == .purchased else { return }
        for step in timeline.steps.all {
            let content = Content(step, in: timeline.steps.catalogue.value(at: step.from))
            guard content != spans.last?.content else { continue }
            spans.append(Span(from: step.from, content: content))
        }
        if let first = spans.first, first.content.state == nil { spans.removeFirst() }
    }
}

extension SubscriptionFigures.Content {
    fileprivate init(_ step: Step, in catalogue: Catalogue) {
        state = step.subscription
        // A trial with a failed first payment never had a price.
        guard state?.hasPrice == true, let term = step.term, !term.isTrial else {
            price = .none
            return
        }
        // An add-on may be paid while the payment of another product fails.
        let others = step.addOns.filter { $0.standing.state == step.standing.state }
            .map(\.term).filter { !$0.isTrial }
        let isFailing = state == .grace || state == .hold
        let prices = ([term] + others).map { term in
            isFailing
                ? MonthlyPrice(ofRenewalOf: term, at: step.from, in: catalogue)
                : MonthlyPrice(of: term, in: catalogue)
        }
        let sum = prices.dropFirst().reduce(prices[0]) { sum, price in
            price.flatMap { sum?.adding($0) }
        }
        price = sum.map { .known($0) } ?? .unknown
    }
}

/// What a portfolio report needs of one purchase or of one customer, and what an alarm for lockouts
/// compares.
package struct ReportFigures: Hashable, Sendable {
    /// Without spans for a customer.
    package var subscription = SubscriptionFigures()
    /// How long the server itself denied access to a purchase, as far as an alarm counts it.
    package var lockouts: [Lockouts.Cause: Milliseconds] = [:]
    /// Those of a customer, or of a purchase while it had none.
    package var failures: [FailureFigures] = []

    package init() {}
}
